#include "neighbor/common_circle.h"

#include <string.h>

sk_rules sk_rules_of(const sk_pattern_opts *o)
{
    sk_rules r = {.theta = o->theta < 1 ? 1 : o->theta,
                  .most = o->friends < 2 ? 2 : o->friends,
                  .levels = o->cumulative ? SK_MOST_LEVELS : 1};
    r.most = r.most > SK_MOST_FRIENDS ? SK_MOST_FRIENDS : r.most;
    while (1 << r.rounds < r.most)
        r.rounds++;
    return r;
}

bool sk_rules_rest(const sk_rules *r, int rank, int iteration)
{
    uint32_t spare = (1u << r->rounds) - (uint32_t)r->most;
    return spare && sk_pair_mix(rank, iteration) % (uint32_t)r->most < spare;
}

sk_status sk_circle_room(sk_circle *c, sk_arena *a, const sk_rules *r, int rank)
{
    *c = (sk_circle){.member = sk_arena_get(a, (size_t)r->most * sizeof *c->member)};
    if (!c->member)
        return SK_NOMEM;
    c->member[0] = rank;
    sk_circle_begin(c);
    return SK_OK;
}

void sk_circle_begin(sk_circle *c)
{
    c->leader = c->member[0];
    c->depth = 0;
    c->size[0] = 1;
}

void sk_circle_join(sk_circle *c, const int *member, int n)
{
    int have = sk_circle_size(c);
    memcpy(c->member + have, member, (size_t)n * sizeof *member);
    c->size[++c->depth] = have + n;
    for (int i = 0; i < n; i++)
        c->leader = member[i] < c->leader ? member[i] : c->leader;
}

/* ---- whom to choose from ---- */

void sk_circle_offer_first(const sk_rules *r, sk_matrix *m, int iteration)
{
    if (1 << r->rounds == r->most)
        return;
    bool rest = sk_rules_rest(r, m->rank, iteration);
    for (int i = sk_bits_next(m->offered, m->words, 0); i >= 0;
         i = sk_bits_next(m->offered, m->words, i + 1))
        if (rest || sk_rules_rest(r, sk_matrix_who(m, i), iteration))
            sk_bits_cut(m->offered, i);
}

int sk_circle_close(const sk_circle *c, sk_matrix *m)
{
    int common = sk_matrix_common(m, c->member, sk_circle_size(c));
    sk_matrix_count_picked(m, common);
    return common;
}

/* theta common targets for each two members that are new to each other: they must pay for the two
 * messages in which these exchange their blocks. No group has more in common with this one than
 * each of its members: that is counted already. */
void sk_circle_open(const sk_rules *r, const sk_circle *c, sk_matrix *m, int common, int column,
                    const int *member, int n)
{
    int mine = sk_circle_size(c), at[SK_MOST_FRIENDS];
    int64_t need = (int64_t)r->theta * mine * n, count = 0;
    if (mine + n > r->most)
        return;
    for (int k = 0; k < n; k++)
        if ((at[k] = sk_matrix_column(m, member[k])) < 0 || sk_planes_get(&m->counts, at[k]) < need)
            return;
    for (int i = 0; i < common; i++) {
        bool all = true;
        for (int k = 0; k < n && all; k++)
            all = sk_bits_has(m->picked[i], at[k]);
        count += all;
    }
    if (count >= need) {
        sk_bits_add(m->offered, column);
        sk_planes_put(&m->counts, column, (unsigned)count);
    }
}

/* ---- division ---- */

/* Algorithm 1, lines 8 to 17, for any number of members: the lower the rank, the lower the targets
 * it takes on. */
static void divide(const sk_circle *c, int depth, sk_matrix *m)
{
    int n = c->size[depth], sorted[SK_MOST_FRIENDS];
    memcpy(sorted, c->member, (size_t)n * sizeof *sorted);
    sk_ranks_sort(sorted, n);
    int many = sk_matrix_common(m, sorted, n), left = 0;
    for (int i = 0; i < many; i++)
        if (m->fate[m->pick[i]] == SK_STAYS)
            m->pick[left++] = m->pick[i];
    for (int k = 0; k < n; k++)
        for (int64_t i = (int64_t)left * k / n; i < (int64_t)left * (k + 1) / n; i++) {
            m->fate[m->pick[i]] = sorted[k];
            m->depth[m->pick[i]] = depth;
        }
}

void sk_circle_divide(const sk_circle *c, sk_matrix *m)
{
    for (int i = 0; i < m->nrows; i++)
        m->fate[i] = SK_STAYS;
    for (int k = 1; k < sk_circle_size(c); k++) {
        int row = sk_matrix_row(m, c->member[k]);
        if (row >= 0)
            m->fate[row] = SK_RIDES;
    }
    for (int depth = c->depth; depth > 0; depth--)
        divide(c, depth, m);
}

/* ---- the pattern ---- */

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

void sk_circle_exchange(const sk_circle *c, const sk_matrix *m, int stage, sk_pattern *p)
{
    for (int i = 0; i < m->nrows; i++) {
        int dst = m->target[i], by = m->fate[i];
        if (by == SK_STAYS)
            continue;
        if (by != m->rank)
            sk_holder_send(sk_holds_find(m->holds[i], m->rank), stage, by == SK_RIDES ? dst : by,
                           dst, p);
        for (int k = 1; by == m->rank && k < c->size[m->depth[i]]; k++)
            sk_holder_recv(sk_holds_find(m->holds[i], c->member[k]), stage, c->member[k], dst, p);
    }
}

void sk_matrix_deliver(const sk_matrix *m, int stage, sk_pattern *p)
{
    for (int i = 0; i < m->nrows; i++)
        sk_holder_send(sk_holds_find(m->holds[i], m->rank), stage, m->target[i], m->target[i], p);
}
