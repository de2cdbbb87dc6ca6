/* peers.c: a schedule that was built for other names of the ranks. */
#include "sched/sched_inner.h"

/* Whose `peer` is a rank; of the others it is nobody, or a key. */
static bool names_a_rank(const sk_step *st)
{
    switch (st->kind) {
    case SK_STEP_RECV:
    case SK_STEP_SEND:
    case SK_STEP_PRECV:
    case SK_STEP_PSEND:
    case SK_STEP_TAKE:
    case SK_STEP_READ:
        return st->peer >= 0;
    default:
        return false;
    }
}

void sk_sched_name_peers(sk_sched *s, const int *rank_of, int nranks)
{
    for (uint32_t i = 0; i < s->v.nsteps && !s->status; i++) {
        sk_step *st = &s->steps[i];
        if (!names_a_rank(st))
            continue;
        if (st->peer < nranks)
            st->peer = rank_of[st->peer];
        else
            sk_sched_fail(s, SK_BADARG);
    }
}
