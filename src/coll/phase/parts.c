/* parts.c: who takes part, and which part of the data is whose. */
#include "coll/phase/phases.h"

sk_team sk_team_all(const sk_call *c, int first)
{
    int p = c->nranks;
    return (sk_team){.n = p, .me = (c->rank + p - first) % p, .first = first};
}

int sk_team_rank(const sk_team *t, int member)
{
    int number = (int)(((int64_t)member + t->first) % t->n);
    return t->ranks ? t->ranks[number] : number;
}

sk_parts sk_parts_even(const sk_call *c, sk_span all, int n, int64_t unit)
{
    int64_t units = unit ? all.len / unit : 0;
    return (sk_parts){
        .types = c->types, .all = all, .least = units / n, .more = units % n, .unit = unit};
}

sk_parts sk_parts_equal(const sk_call *c, sk_span all, int first, int64_t bytes)
{
    return (sk_parts){.types = c->types, .all = all, .first = first, .least = 1, .unit = bytes};
}

sk_parts sk_parts_row(const sk_row *r, sk_span all)
{
    return (sk_parts){.types = r->c->types, .all = all, .row = r};
}

sk_parts sk_parts_loose(const sk_row *r)
{
    return (sk_parts){.types = r->c->types, .row = r, .loose = true};
}

/* Bytes of parts [0, i). */
static int64_t start(const sk_parts *x, int i)
{
    return (x->least * i + (i < x->more ? i : x->more)) * x->unit;
}

sk_span sk_parts_range(const sk_parts *x, int lo, int hi)
{
    if (x->loose)
        return sk_row_block(x->row, lo);
    if (x->row)
        return sk_span_cut(x->types, x->all, sk_row_bytes(x->row, 0, lo),
                           sk_row_bytes(x->row, lo, hi));
    return sk_span_cut(x->types, x->all, start(x, lo) - start(x, x->first),
                       start(x, hi) - start(x, lo));
}
