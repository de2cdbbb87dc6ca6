/* phase_expose.c: single copy: what a rank shows to its mates as it lies in its own memory. */
#include "coll/phase/share.h"

bool sk_expose_fits(const sk_call *c)
{
    return sk_share_fits(c) && c->direct && c->room >= SK_PLACE;
}

sk_span sk_share_plain(sk_sched *s, const sk_call *c, sk_span user)
{
    sk_span place = sk_bytes_place(s, c, user);
    sk_copy(s, user, place);
    return place;
}

sk_span sk_share_plain_row(sk_sched *s, const sk_call *c)
{
    sk_row row = {.c = c, .side = SK_SEND};
    sk_span all = sk_send_block(c, 0);
    all.len *= c->nranks;
    if (!c->in_place && c->types[all.type].contig)
        return all;
    all = sk_scratch(s, all.len);
    sk_row_in(s, &row, 0, c->nranks, all);
    return all;
}

sk_span sk_share_place(int turn)
{
    return sk_bay(turn, 0, SK_PLACE);
}

void sk_share_expose(sk_sched *s, int turn, sk_span what)
{
    sk_fence(s);
    sk_expose(s, what, sk_share_place(turn));
    sk_fence(s);
    sk_publish(s, turn);
}

void sk_share_settle(sk_sched *s, int turn)
{
    sk_fence(s);
    sk_settle(s, turn);
}
