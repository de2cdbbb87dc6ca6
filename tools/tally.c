#include "tally.h"

/* A rank of most algorithms has O(p) steps, so all ranks have O(p^2): bounded here. */
enum { MOST_STEPS = 1 << 22 };

static void add(sk_range *r, int64_t value, int seen)
{
    if (seen == 0 || value < r->least)
        r->least = value;
    if (seen == 0 || value > r->most)
        r->most = value;
    r->mean += ((double)value - r->mean) / (seen + 1);
}

sk_status sk_tally_take(const sk_algo *a, const sk_shape_room *room, int nranks, const sk_rename *r,
                        sk_tally *out)
{
    int64_t sample = MOST_STEPS / nranks;
    int n = sample < 1 ? 1 : sample < nranks ? (int)sample : nranks;
    sk_tally t = {0};
    for (int i = 0; i < n; i++) {
        sk_sched *sched = NULL;
        sk_call c = sk_shape_call(room, (int)((int64_t)i * nranks / n));
        if (r)
            c = sk_call_renamed(&c, r);
        sk_status st = sk_algo_build(a, &c, &sched);
        if (st != SK_OK)
            return st;
        sk_sched_stats s = sk_sched_count(sched);
        t.unknown_size |= sk_sched_view(sched)->npackets > 0;
        sk_sched_free(sched);
        add(&t.rounds, s.rounds, i);
        add(&t.sends, s.sends, i);
        add(&t.send_bytes, s.send_bytes, i);
        add(&t.reduce_bytes, s.reduce_bytes, i);
        add(&t.scratch, s.scratch, i);
    }
    t.ranks = n;
    *out = t;
    return SK_OK;
}
