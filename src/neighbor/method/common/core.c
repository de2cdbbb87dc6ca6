/* core.c: the state of one rank, for both forms of the method. */
#include "neighbor/method/common/common.h"

#include <stdlib.h>
#include <string.h>

/* ---- holders of blocks ---- */

sk_status sk_holder_list_reserve(sk_holder_list *h, sk_arena *a, int n)
{
    *h = (sk_holder_list){.holder = sk_arena_get(a, (size_t)n * sizeof *h->holder)};
    return h->holder ? SK_OK : SK_NOMEM;
}

sk_status sk_holder_list_init(sk_holder_list *h, sk_arena *a, const int *sources, int n)
{
    sk_status st = sk_holder_list_reserve(h, a, n);
    for (int i = 0; i < n && st == SK_OK; i++)
        h->holder[h->n++] = (sk_holder){sources[i], 1, &sources[i]};
    return st;
}

static int by_holder(const void *pa, const void *pb)
{
    const sk_holder *a = pa, *b = pb;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

void sk_holder_list_sort(sk_holder_list *h)
{
    if (h->n)
        qsort(h->holder, (size_t)h->n, sizeof *h->holder, by_holder);
}

const sk_holder *sk_holder_list_find(const sk_holder_list *h, int holder)
{
    sk_holder key = {.rank = holder};
    return h->n ? bsearch(&key, h->holder, (size_t)h->n, sizeof key, by_holder) : NULL;
}

sk_status sk_holder_list_combine(sk_holder_list *h, sk_arena *a, int holder,
                                 const sk_holder_list *from, const int *member, int n)
{
    const sk_holder *part[SK_MAX_FRIENDS];
    int many = 0;
    for (int i = 0; i < n; i++) {
        if (!(part[i] = sk_holder_list_find(from, member[i])))
            return SK_WIRE;
        many += part[i]->n;
    }
    int *src = sk_arena_get(a, (size_t)many * sizeof *src);
    if (!src)
        return SK_NOMEM;
    h->holder[h->n++] = (sk_holder){holder, many, src};
    for (int i = 0; i < n; i++) {
        memcpy(src, part[i]->src, (size_t)part[i]->n * sizeof *src);
        src += part[i]->n;
    }
    return SK_OK;
}

/* For each holder: its rank, the number of its blocks, their sources. A holder of just its own block, as
 * all are at first, takes one word: the complement of its rank. */
sk_status sk_holder_list_pack(const sk_holder_list *h, int32_t head, int32_t **words, size_t *n)
{
    size_t words_max = 1;
    for (int i = 0; i < h->n; i++)
        words_max += 2 + (size_t)h->holder[i].n;
    int32_t *w = malloc(words_max * sizeof *w), *at = w;
    if (!w)
        return SK_NOMEM;
    *at++ = head;
    for (int i = 0; i < h->n; i++) {
        const sk_holder *b = &h->holder[i];
        if (b->n == 1 && b->src[0] == b->rank) {
            *at++ = ~b->rank;
            continue;
        }
        *at++ = b->rank;
        *at++ = b->n;
        memcpy(at, b->src, (size_t)b->n * sizeof *at);
        at += b->n;
    }
    *words = w;
    *n = (size_t)(at - w);
    return SK_OK;
}

sk_status sk_holder_list_unpack(sk_holder_list *h, sk_arena *a, int nranks, const int32_t *words,
                                size_t n)
{
    int *copy = sk_arena_get(a, n * sizeof *copy);
    sk_status st = copy ? sk_holder_list_reserve(h, a, (int)n) : SK_NOMEM;
    for (size_t i = 0; i < n && st == SK_OK; i++)
        copy[i] = words[i] < 0 ? ~words[i] : words[i];
    for (size_t i = 0; i < n && st == SK_OK;) {
        bool own = words[i] < 0;
        size_t many = own ? 1 : i + 1 < n && words[i + 1] > 0 ? (size_t)words[i + 1] : n;
        size_t first = own ? i : i + 2;
        if (copy[i] >= nranks || many > n - first)
            return SK_WIRE;
        h->holder[h->n++] = (sk_holder){copy[i], (int)many, copy + first};
        i = first + many;
    }
    return st;
}

/* ---- the matrix of common neighbours ---- */

sk_common_matrix *sk_common_matrix_new(sk_arena *a, int rank, int *target, int n,
                                       const sk_holder_list *holders)
{
    size_t many = (size_t)n;
    sk_common_matrix *m = sk_arena_get(a, sizeof *m);
    if (!m)
        return NULL;
    *m = (sk_common_matrix){.rank = rank, .nrows = n, .target = target};
    m->holders = sk_arena_get(a, many * sizeof(sk_holder_list *));
    m->bits = sk_arena_get(a, many * sizeof(*m->bits));
    m->carrier = sk_arena_get(a, many * sizeof *m->carrier);
    m->depth = sk_arena_get(a, many * sizeof *m->depth);
    m->selected = sk_arena_get(a, many * sizeof *m->selected);
    m->selected_bits = sk_arena_get(a, many * sizeof(*m->selected_bits));
    if (!m->holders || !m->bits || !m->carrier || !m->depth || !m->selected || !m->selected_bits)
        return NULL;
    for (int i = 0; i < n && holders; i++)
        m->holders[i] = &holders[target[i]];
    return m;
}

static sk_status init_counts(sk_common_matrix *m, sk_arena *a)
{
    m->words = sk_bits_words(m->ncolumns);
    m->counts = (sk_bit_planes){.n = sk_bit_planes_for(m->nrows), .words = m->words};
    size_t bytes = (size_t)m->words * sizeof(uint64_t);
    m->counts.at = sk_arena_get(a, bytes * (size_t)m->counts.n);
    m->friends = sk_arena_get(a, bytes);
    m->eligible = sk_arena_get(a, bytes);
    return m->counts.at && m->friends && m->eligible ? SK_OK : SK_NOMEM;
}

sk_status sk_common_matrix_fill_shared(sk_common_matrix *m, sk_arena *a, int nranks,
                                       uint64_t *columns)
{
    m->ncolumns = nranks;
    sk_status st = init_counts(m, a);
    for (int i = 0; i < m->nrows; i++)
        m->bits[i] = columns + (size_t)m->target[i] * (size_t)m->words;
    return st;
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

void sk_sort_ranks(int *list, int n)
{
    if (n)
        qsort(list, (size_t)n, sizeof *list, by_number);
}

/* The columns: ranks with at least theta rows in common. */
static sk_status find_columns(sk_common_matrix *m, sk_arena *a, int theta, int *count)
{
    int n = 0;
    for (int i = 0; i < m->nrows; i++)
        for (int k = 0; k < m->holders[i]->n; k++)
            n += ++count[m->holders[i]->holder[k].rank] == theta;
    int *column_rank = sk_arena_get(a, (size_t)n * sizeof *column_rank);
    for (int i = 0; i < m->nrows; i++)
        for (int k = 0; k < m->holders[i]->n; k++) {
            int rank = m->holders[i]->holder[k].rank;
            if (column_rank && count[rank] >= theta && rank != m->rank)
                column_rank[m->ncolumns++] = rank;
            count[rank] = 0;
        }
    if (!column_rank)
        return SK_NOMEM;
    sk_sort_ranks(column_rank, m->ncolumns);
    m->column_rank = column_rank;
    return SK_OK;
}

sk_status sk_common_matrix_fill_own(sk_common_matrix *m, sk_arena *a, int theta, int *count)
{
    sk_status st = find_columns(m, a, theta, count);
    if (st == SK_OK)
        st = init_counts(m, a);
    size_t words = (size_t)m->words;
    uint64_t *bits = st == SK_OK ? sk_arena_get(a, words * (size_t)m->nrows * sizeof *bits) : NULL;
    if (!bits)
        return SK_NOMEM;
    for (int i = 0; i < m->ncolumns; i++)
        count[m->column_rank[i]] = i + 1;
    for (int i = 0; i < m->nrows; i++) {
        m->bits[i] = bits + (size_t)i * words;
        for (int k = 0; k < m->holders[i]->n; k++) {
            int column = count[m->holders[i]->holder[k].rank] - 1;
            if (column >= 0)
                sk_bits_add(m->bits[i], column);
        }
    }
    for (int i = 0; i < m->ncolumns; i++)
        count[m->column_rank[i]] = 0;
    return SK_OK;
}

static int find(const int *list, int n, int x)
{
    const int *at = n ? bsearch(&x, list, (size_t)n, sizeof x, by_number) : NULL;
    return at ? (int)(at - list) : -1;
}

int sk_common_matrix_column(const sk_common_matrix *m, int rank)
{
    return m->column_rank ? find(m->column_rank, m->ncolumns, rank) : rank;
}

int sk_common_matrix_row(const sk_common_matrix *m, int target)
{
    return find(m->target, m->nrows, target);
}

bool sk_common_matrix_count(sk_common_matrix *m, int theta)
{
    sk_bit_planes_sum(&m->counts, m->bits, m->nrows);
    sk_bit_planes_at_least(&m->counts, (unsigned)theta, m->friends);
    if (!m->column_rank)
        sk_bits_remove(m->friends, m->rank);
    memcpy(m->eligible, m->friends, (size_t)m->words * sizeof *m->eligible);
    return sk_bits_any(m->friends, m->words);
}

/* Counts only the first n rows of m->selected. Nobody is eligible afterwards. */
static void count_selected(sk_common_matrix *m, int n)
{
    for (int i = 0; i < n; i++)
        m->selected_bits[i] = m->bits[m->selected[i]];
    sk_bit_planes_sum(&m->counts, m->selected_bits, n);
    memset(m->eligible, 0, (size_t)m->words * sizeof *m->eligible);
}

/* Rows that all these ranks have in common with this one, ascending, into m->selected; their number. */
static int common_rows(const sk_common_matrix *m, const int *rank, int n)
{
    int many = m->nrows;
    for (int i = 0; i < many; i++)
        m->selected[i] = i;
    for (int k = 0; k < n; k++) {
        int column = sk_common_matrix_column(m, rank[k]), left = 0;
        if (rank[k] == m->rank)
            continue;
        for (int i = 0; i < many && column >= 0; i++)
            if (sk_bits_has(m->bits[m->selected[i]], column))
                m->selected[left++] = m->selected[i];
        many = left;
    }
    return many;
}

static bool before(const sk_common_matrix *m, int a, int b)
{
    int x = sk_common_matrix_rank(m, a), y = sk_common_matrix_rank(m, b);
    uint32_t p = sk_pair_mix(m->rank, x), q = sk_pair_mix(m->rank, y);
    return p != q ? p < q : x < y;
}

/* Which of two columns is the better friend: most common targets, then by sk_pair_mix. */
static bool better(const sk_common_matrix *m, int a, int b)
{
    unsigned x = sk_bit_planes_get(&m->counts, a), y = sk_bit_planes_get(&m->counts, b);
    return x != y ? x > y : before(m, a, b);
}

/* The best of a set of columns; -1: the set is empty. */
static int best_of(const sk_common_matrix *m, const uint64_t *set)
{
    int best = -1;
    unsigned most = 0;
    for (int w = 0; w < m->words; w++) {
        unsigned count;
        uint64_t top = set[w] ? sk_bit_planes_top(&m->counts, w, set[w], &count) : 0;
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

void sk_common_matrix_drop(sk_common_matrix *m, int target, int rank)
{
    int row = sk_common_matrix_row(m, target), column = sk_common_matrix_column(m, rank);
    if (row >= 0 && column >= 0)
        sk_bits_remove(m->bits[row], column);
}

void sk_common_matrix_compact(sk_common_matrix *m)
{
    int n = 0;
    for (int i = 0; i < m->nrows; i++) {
        if (m->carrier[i] != SK_NOT_COMBINED)
            continue;
        m->target[n] = m->target[i];
        m->holders[n] = m->holders[i];
        m->bits[n++] = m->bits[i];
    }
    m->nrows = n;
}

/* ---- groups of friends ---- */

sk_friend_rules sk_friend_rules_of(const sk_pattern_opts *o)
{
    sk_friend_rules r = {.theta = o->theta < 1 ? 1 : o->theta,
                         .group_max = o->friends < 2 ? 2 : o->friends,
                         .levels = o->cumulative ? SK_MAX_LEVELS : 1};
    r.group_max = r.group_max > SK_MAX_FRIENDS ? SK_MAX_FRIENDS : r.group_max;
    while (1 << r.rounds < r.group_max)
        r.rounds++;
    return r;
}

/* When K is not a power of two, some ranks sit out the first round, so that there are groups of
 * different sizes that add up to K. They are others in each iteration. */
static bool sits_out(const sk_friend_rules *r, int rank, int iteration)
{
    uint32_t spare = (1u << r->rounds) - (uint32_t)r->group_max;
    return spare && sk_pair_mix(rank, iteration) % (uint32_t)r->group_max < spare;
}

sk_status sk_friend_group_init(sk_friend_group *c, sk_arena *a, const sk_friend_rules *r, int rank)
{
    *c = (sk_friend_group){.member = sk_arena_get(a, (size_t)r->group_max * sizeof *c->member)};
    if (!c->member)
        return SK_NOMEM;
    c->member[0] = rank;
    sk_friend_group_reset(c);
    return SK_OK;
}

void sk_friend_group_reset(sk_friend_group *c)
{
    c->leader = c->member[0];
    c->depth = 0;
    c->size[0] = 1;
}

void sk_friend_group_join(sk_friend_group *c, const int *member, int n)
{
    int have = sk_friend_group_size(c);
    memcpy(c->member + have, member, (size_t)n * sizeof *member);
    c->size[++c->depth] = have + n;
    for (int i = 0; i < n; i++)
        c->leader = member[i] < c->leader ? member[i] : c->leader;
}

void sk_friend_group_offer_first(const sk_friend_rules *r, sk_common_matrix *m, int iteration)
{
    if (1 << r->rounds == r->group_max)
        return;
    bool rest = sits_out(r, m->rank, iteration);
    for (int i = sk_bits_next(m->eligible, m->words, 0); i >= 0;
         i = sk_bits_next(m->eligible, m->words, i + 1))
        if (rest || sits_out(r, sk_common_matrix_rank(m, i), iteration))
            sk_bits_remove(m->eligible, i);
}

int sk_friend_group_count_common(const sk_friend_group *c, sk_common_matrix *m)
{
    int common = common_rows(m, c->member, sk_friend_group_size(c));
    count_selected(m, common);
    return common;
}

/* The groups need theta common targets for each pair of members that are new to each other: these must
 * pay for the two messages in which such a pair exchanges its blocks. A group has no more in common with
 * this one than each of its members has; those counts are there already. */
void sk_friend_group_offer(const sk_friend_rules *r, const sk_friend_group *c, sk_common_matrix *m,
                           int common, int column, const int *member, int n)
{
    int mine = sk_friend_group_size(c), at[SK_MAX_FRIENDS];
    int64_t need = (int64_t)r->theta * mine * n, count = 0;
    if (mine + n > r->group_max)
        return;
    for (int k = 0; k < n; k++)
        if ((at[k] = sk_common_matrix_column(m, member[k])) < 0 ||
            sk_bit_planes_get(&m->counts, at[k]) < need)
            return;
    for (int i = 0; i < common; i++) {
        bool all = true;
        for (int k = 0; k < n && all; k++)
            all = sk_bits_has(m->selected_bits[i], at[k]);
        count += all;
    }
    if (count >= need) {
        sk_bits_add(m->eligible, column);
        sk_bit_planes_put(&m->counts, column, (unsigned)count);
    }
}

/* Algorithm 1, lines 8 to 17, for any number of members: lower ranks take lower targets. */
static void divide(const sk_friend_group *c, int depth, sk_common_matrix *m)
{
    int n = c->size[depth], sorted[SK_MAX_FRIENDS];
    memcpy(sorted, c->member, (size_t)n * sizeof *sorted);
    sk_sort_ranks(sorted, n);
    int many = common_rows(m, sorted, n), left = 0;
    for (int i = 0; i < many; i++)
        if (m->carrier[m->selected[i]] == SK_NOT_COMBINED)
            m->selected[left++] = m->selected[i];
    for (int k = 0; k < n; k++)
        for (int64_t i = (int64_t)left * k / n; i < (int64_t)left * (k + 1) / n; i++) {
            m->carrier[m->selected[i]] = sorted[k];
            m->depth[m->selected[i]] = depth;
        }
}

void sk_friend_group_divide(const sk_friend_group *c, sk_common_matrix *m)
{
    for (int i = 0; i < m->nrows; i++)
        m->carrier[i] = SK_NOT_COMBINED;
    for (int k = 1; k < sk_friend_group_size(c); k++) {
        int row = sk_common_matrix_row(m, c->member[k]);
        if (row >= 0)
            m->carrier[row] = SK_IN_EXCHANGE;
    }
    for (int depth = c->depth; depth > 0; depth--)
        divide(c, depth, m);
}

void sk_holder_send(const sk_holder *b, int stage, int peer, int dst, sk_pattern *p)
{
    for (int i = 0; i < b->n; i++)
        sk_pattern_send(p, stage, peer, b->src[i], dst);
}

void sk_holder_recv(const sk_holder *b, int stage, int peer, int dst, sk_pattern *p)
{
    for (int i = 0; i < b->n; i++)
        sk_pattern_recv(p, stage, peer, b->src[i], dst);
}

void sk_friend_group_exchange(const sk_friend_group *c, const sk_common_matrix *m, int stage,
                              sk_pattern *p)
{
    for (int i = 0; i < m->nrows; i++) {
        int dst = m->target[i], by = m->carrier[i];
        if (by == SK_NOT_COMBINED)
            continue;
        if (by != m->rank)
            sk_holder_send(sk_holder_list_find(m->holders[i], m->rank), stage,
                           by == SK_IN_EXCHANGE ? dst : by, dst, p);
        for (int k = 1; by == m->rank && k < c->size[m->depth[i]]; k++)
            sk_holder_recv(sk_holder_list_find(m->holders[i], c->member[k]), stage, c->member[k],
                           dst, p);
    }
}

void sk_common_matrix_deliver(const sk_common_matrix *m, int stage, sk_pattern *p)
{
    for (int i = 0; i < m->nrows; i++)
        sk_holder_send(sk_holder_list_find(m->holders[i], m->rank), stage, m->target[i],
                       m->target[i], p);
}

/* ---- the search for a friend: Algorithm 2 ---- */

sk_status sk_friend_search_init(sk_friend_search *s, sk_arena *a, const sk_common_matrix *m)
{
    size_t bytes = (size_t)m->words * sizeof(uint64_t);
    *s = (sk_friend_search){
        .m = m, .searching = sk_arena_get(a, bytes), .candidates = sk_arena_get(a, bytes)};
    return s->searching && s->candidates ? SK_OK : SK_NOMEM;
}

void sk_friend_search_begin(sk_friend_search *s)
{
    size_t bytes = (size_t)s->m->words * sizeof(uint64_t);
    memcpy(s->searching, s->m->eligible, bytes);
    memcpy(s->candidates, s->m->eligible, bytes);
    s->choice = s->proposer = -1;
    s->paired = s->terminal = false;
}

void sk_friend_search_choose(sk_friend_search *s)
{
    int proposer = s->proposer, old = s->choice;
    s->proposer = -1;
    if (old >= 0 && sk_bits_has(s->searching, old) && s->m->rank < sk_common_matrix_rank(s->m, old))
        return; /* it is still searching, and will hear that it was chosen */
    if (proposer >= 0) {
        s->choice = proposer; /* it will choose this rank again, by the rule above */
        return;
    }
    if (old >= 0)
        sk_bits_remove(s->candidates, old);
    s->choice = best_of(s->m, s->candidates);
    s->terminal = s->choice < 0;
}

void sk_friend_search_chosen_by(sk_friend_search *s, int column)
{
    if (s->terminal)
        return;
    if (column == s->choice)
        s->paired = true;
    else if (sk_common_matrix_rank(s->m, column) < s->m->rank &&
             sk_bits_has(s->candidates, column) &&
             (s->proposer < 0 || better(s->m, column, s->proposer)))
        s->proposer = column;
}

void sk_friend_search_remove(sk_friend_search *s, int column)
{
    sk_bits_remove(s->searching, column);
    sk_bits_remove(s->candidates, column);
}

void sk_friend_search_remove_all(sk_friend_search *s, const uint64_t *removed)
{
    int words = s->m->words;
    for (int w = 0; w < words && !s->m->column_rank; w++) {
        s->searching[w] &= ~removed[w];
        s->candidates[w] &= ~removed[w];
    }
    for (int i = s->m->column_rank ? sk_bits_next(s->searching, words, 0) : -1; i >= 0;
         i = sk_bits_next(s->searching, words, i + 1))
        if (sk_bits_has(removed, s->m->column_rank[i]))
            sk_friend_search_remove(s, i);
}
