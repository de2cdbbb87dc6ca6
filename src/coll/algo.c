/* algo.c: building a schedule by an algorithm. */
#include "coll/algo.h"

sk_status sk_algo_build(const sk_algo *a, const sk_call *c, sk_sched **out)
{
    if (c->rename && a->prefers == SK_PREFERS_ANY)
        return SK_BADARG;
    sk_sched_buffer buffer;
    sk_sched *s = sk_sched_new_in(c->types, c->ntypes, &buffer);
    if (!s)
        return SK_NOMEM;
    a->build(s, c);
    if (c->rename)
        sk_sched_name_peers(s, c->rename->rank_of, c->nranks);
    sk_status st = sk_sched_freeze(s);
    if (st == SK_OK)
        *out = s;
    else
        sk_sched_free(s);
    return st;
}
