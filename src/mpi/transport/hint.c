/* hint.c: see hint.h. The provider asks for skein_hint and skein_match_counts by name, once. */
#include "mpi/transport/hint.h"

#include <stddef.h>

#include "mpi/state/flavour.h"

_Static_assert(SK_NCOLLS + 1 < SK_HINT_KINDS, "Skein's kinds end where the provider's begin");

SK_HINT_OF_THREAD sk_hint sk_hint_mine;

static sk_hint *now(void)
{
    return &sk_hint_mine;
}

static const char *kind_name(unsigned kind)
{
    return kind == 0               ? "point-to-point"
           : kind <= SK_NCOLLS     ? sk_coll_name((sk_coll)(kind - 1))
           : kind == SK_KIND_SETUP ? "set-up"
                                   : NULL;
}

SK_EXPORT sk_hint_fn skein_hint;
SK_EXPORT sk_match_offer_fn skein_match_counts;

void skein_match_counts(sk_match_fill_fn *fill, void *of, const char *engine)
{
    _Static_assert((int)SK_MATCH_COUNTS == (int)SK_NMATCH_COUNTS, "the report has as many");
    sk_proc.match_counts = fill;
    sk_proc.match_of = of;
    sk_proc.match_engine = engine;
}

const sk_hint_table *skein_hint(void)
{
    static const sk_hint_table table = {SK_HINT_VERSION, now, kind_name};
    atomic_store(&sk_proc.hinting, true);
    return &table;
}
