/* front.h: libskein.so, the library that users preload. It has no MPI in it and needs only the C
 * library, so it does no harm in any process. It exports the names that Skein interposes, each of them a
 * jump through a slot. The first call looks which MPI is in the process, loads the implementation for it
 * (libskein-openmpi.so, ...) and fills the slots with its functions, or with those of the MPI itself if
 * Skein does not serve that. */
#ifndef SK_FRONT_H
#define SK_FRONT_H

#include <stdatomic.h>
#include <stdbool.h>

/* ---- for implementations ---- */

typedef struct sk_front {
    bool loads; /* implementations, in this process. False: one is preloaded itself */
    void *host; /* handle of the MPI's library */
    void *(*next)(const char *name); /* the definition behind libskein.so in the search order */
} sk_front;

/* libskein.so exports it as skein_front. */
#define SK_FRONT_SYMBOL "skein_front"
typedef sk_front sk_front_fn(void);

/* An implementation exports it as skein_way: where a name "MPI_..." or "PMPI_..." leads. NULL: it does
 * not have the name. */
#define SK_FRONT_WAY "skein_way"
typedef void *sk_front_way_fn(const char *name);

/* ---- inside ---- */

typedef struct sk_front_slot {
    _Atomic(void *) target;
    const char *name;
} sk_front_slot;

extern sk_front_slot __start_sk_front_slots[] __attribute__((visibility("hidden")));
extern sk_front_slot __stop_sk_front_slots[] __attribute__((visibility("hidden")));

/* Where the call of a name leads whose slot is not filled yet. */
__attribute__((visibility("hidden"))) void *sk_front_target(sk_front_slot *slot);

#endif
