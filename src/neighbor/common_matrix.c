#include "neighbor/common_matrix.h"

#include <stdlib.h>
#include <string.h>

#include "neighbor/method.h"

sk_matrix *sk_matrix_new(sk_arena *a, int rank, int *target, int n, const sk_holds *holds)
{
    size_t many = (size_t)n;
    sk_matrix *m = sk_arena_get(a, sizeof *m);
    if (!m)
        return NULL;
    *m = (sk_matrix){.rank = rank, .nrows = n, .target = target};
    m->holds = sk_arena_get(a, many * sizeof(sk_holds *));
    m->bits = sk_arena_get(a, many * sizeof(*m->bits));
    m->fate = sk_arena_get(a, many * sizeof *m->fate);
    m->depth = sk_arena_get(a, many * sizeof *m->depth);
    m->pick = sk_arena_get(a, many * sizeof *m->pick);
    m->picked = sk_arena_get(a, many * sizeof(*m->picked));
    if (!m->holds || !m->bits || !m->fate || !m->depth || !m->pick || !m->picked)
        return NULL;
    for (int i = 0; i < n && holds; i++)
        m->holds[i] = &holds[target[i]];
    return m;
}

static sk_status room(sk_matrix *m, sk_arena *a)
{
    m->words = sk_bits_words(m->nwho);
    m->counts = (sk_planes){.n = sk_planes_for(m->nrows), .words = m->words};
    size_t bytes = (size_t)m->words * sizeof(uint64_t);
    m->counts.at = sk_arena_get(a, bytes * (size_t)m->counts.n);
    m->friends = sk_arena_get(a, bytes);
    m->offered = sk_arena_get(a, bytes);
    return m->counts.at && m->friends && m->offered ? SK_OK : SK_NOMEM;
}

sk_status sk_matrix_shared(sk_matrix *m, sk_arena *a, int nranks, uint64_t *columns)
{
    m->nwho = nranks;
    sk_status st = room(m, a);
    for (int i = 0; i < m->nrows; i++)
        m->bits[i] = columns + (size_t)m->target[i] * (size_t)m->words;
    return st;
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

void sk_ranks_sort(int *list, int n)
{
    if (n)
        qsort(list, (size_t)n, sizeof *list, by_number);
}

/* Ranks with at least theta rows in common. */
static sk_status find_who(sk_matrix *m, sk_arena *a, int theta, int *count)
{
    int n = 0;
    for (int i = 0; i < m->nrows; i++)
        for (int k = 0; k < m->holds[i]->n; k++)
            n += ++count[m->holds[i]->holder[k].rank] == theta;
    int *who = sk_arena_get(a, (size_t)n * sizeof *who);
    for (int i = 0; i < m->nrows; i++)
        for (int k = 0; k < m->holds[i]->n; k++) {
            int rank = m->holds[i]->holder[k].rank;
            if (who && count[rank] >= theta && rank != m->rank)
                who[m->nwho++] = rank;
            count[rank] = 0;
        }
    if (!who)
        return SK_NOMEM;
    sk_ranks_sort(who, m->nwho);
    m->who = who;
    return SK_OK;
}

sk_status sk_matrix_local(sk_matrix *m, sk_arena *a, int theta, int *count)
{
    sk_status st = find_who(m, a, theta, count);
    if (st == SK_OK)
        st = room(m, a);
    size_t words = (size_t)m->words;
    uint64_t *bits = st == SK_OK ? sk_arena_get(a, words * (size_t)m->nrows * sizeof *bits) : NULL;
    if (!bits)
        return SK_NOMEM;
    for (int i = 0; i < m->nwho; i++)
        count[m->who[i]] = i + 1;
    for (int i = 0; i < m->nrows; i++) {
        m->bits[i] = bits + (size_t)i * words;
        for (int k = 0; k < m->holds[i]->n; k++) {
            int column = count[m->holds[i]->holder[k].rank] - 1;
            if (column >= 0)
                sk_bits_add(m->bits[i], column);
        }
    }
    for (int i = 0; i < m->nwho; i++)
        count[m->who[i]] = 0;
    return SK_OK;
}

static int find(const int *list, int n, int x)
{
    const int *at = n ? bsearch(&x, list, (size_t)n, sizeof x, by_number) : NULL;
    return at ? (int)(at - list) : -1;
}

int sk_matrix_column(const sk_matrix *m, int rank)
{
    return m->who ? find(m->who, m->nwho, rank) : rank;
}

int sk_matrix_row(const sk_matrix *m, int target)
{
    return find(m->target, m->nrows, target);
}

bool sk_matrix_count(sk_matrix *m, int theta)
{
    sk_planes_sum(&m->counts, m->bits, m->nrows);
    sk_planes_at_least(&m->counts, (unsigned)theta, m->friends);
    if (!m->who)
        sk_bits_cut(m->friends, m->rank);
    memcpy(m->offered, m->friends, (size_t)m->words * sizeof *m->offered);
    return sk_bits_any(m->friends, m->words);
}

void sk_matrix_count_picked(sk_matrix *m, int n)
{
    for (int i = 0; i < n; i++)
        m->picked[i] = m->bits[m->pick[i]];
    sk_planes_sum(&m->counts, m->picked, n);
    memset(m->offered, 0, (size_t)m->words * sizeof *m->offered);
}

int sk_matrix_common(const sk_matrix *m, const int *rank, int n)
{
    int many = m->nrows;
    for (int i = 0; i < many; i++)
        m->pick[i] = i;
    for (int k = 0; k < n; k++) {
        int column = sk_matrix_column(m, rank[k]), left = 0;
        if (rank[k] == m->rank)
            continue;
        for (int i = 0; i < many && column >= 0; i++)
            if (sk_bits_has(m->bits[m->pick[i]], column))
                m->pick[left++] = m->pick[i];
        many = left;
    }
    return many;
}

static bool before(const sk_matrix *m, int a, int b)
{
    int x = sk_matrix_who(m, a), y = sk_matrix_who(m, b);
    uint32_t p = sk_pair_mix(m->rank, x), q = sk_pair_mix(m->rank, y);
    return p != q ? p < q : x < y;
}

bool sk_matrix_better(const sk_matrix *m, int a, int b)
{
    unsigned x = sk_planes_get(&m->counts, a), y = sk_planes_get(&m->counts, b);
    return x != y ? x > y : before(m, a, b);
}

int sk_matrix_best(const sk_matrix *m, const uint64_t *set)
{
    int best = -1;
    unsigned most = 0;
    for (int w = 0; w < m->words; w++) {
        unsigned count;
        uint64_t top = set[w] ? sk_planes_top(&m->counts, w, set[w], &count) : 0;
        if (!top || (best >= 0 && count < most))
            continue;
        if (best >= 0 && count > most)
            best = -1;
        most = count;
        for (; top; top &= top - 1) {
            int i = w * 64 + __builtin_ctzll(top);
            if (best < 0 || before(m, i, best))
                best = i;
        }
    }
    return best;
}

void sk_matrix_drop(sk_matrix *m, int target, int rank)
{
    int row = sk_matrix_row(m, target), column = sk_matrix_column(m, rank);
    if (row >= 0 && column >= 0)
        sk_bits_cut(m->bits[row], column);
}

void sk_matrix_settle(sk_matrix *m)
{
    int n = 0;
    for (int i = 0; i < m->nrows; i++) {
        if (m->fate[i] != SK_STAYS)
            continue;
        m->target[n] = m->target[i];
        m->holds[n] = m->holds[i];
        m->bits[n++] = m->bits[i];
    }
    m->nrows = n;
}
