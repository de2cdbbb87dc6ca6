/* phase_export.c: single copy: what a rank shows to its local ranks as it lies in its own memory. */
#include "coll/phase/share.h"

bool sk_single_copy_fits(const sk_call *c)
{
    return sk_share_fits(c) && c->direct && c->room >= SK_EXPORT_BYTES;
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

sk_span sk_share_place(int epoch)
{
    return sk_slot(epoch, 0, SK_EXPORT_BYTES);
}

void sk_share_export(sk_sched *s, int epoch, sk_span what)
{
    sk_fence(s);
    sk_export(s, what, sk_share_place(epoch));
    sk_fence(s);
    sk_post(s, epoch);
}

void sk_share_quiesce(sk_sched *s, int epoch)
{
    sk_fence(s);
    sk_quiesce(s, epoch);
}
