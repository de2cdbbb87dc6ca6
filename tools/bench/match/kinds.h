/* kinds.h: the kinds of items that belong to collectives, numbered as the preload library does it:
 * 1 + the collective's number. */
#ifndef SK_KINDS_H
#define SK_KINDS_H

enum {
    SK_KIND_P2P,
#define COLL(ID, name, what) SK_KIND_##ID,
#include "coll/colls.def"
#undef COLL
    SK_NKINDS
};

#endif
