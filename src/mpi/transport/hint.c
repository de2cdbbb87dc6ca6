/* hint.c: see hint.h. The provider asks for skein_hint by name, once. */
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

const sk_hint_table *skein_hint(void)
{
    static const sk_hint_table table = {SK_HINT_VERSION, now, kind_name};
    atomic_store(&sk_proc.hinting, true);
    return &table;
}
