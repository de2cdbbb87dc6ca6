/* profile.h: how the first call of a collective with new parameters uses the profiling queue. */
#ifndef SK_PROFILE_H
#define SK_PROFILE_H

#include "match/bin.h"

/* More than this many parameters are not told apart: later ones use the queues of their kind. */
enum { SK_MAX_PROFILES = 4096 };

typedef struct sk_profile {
    sk_scratch_bytes room;    /* first: item->more of its items that wait in the profiling queue */
    uint32_t nranks; /* with kind and size: the parameters */
    uint32_t call;   /* the call that is measured, as receives tell it; 0: not known */
    uint16_t kind;
    uint8_t size;
    bool over;
    uint64_t searches, looked; /* searches that met items in the profiling queue, and how many */
} sk_profile;

typedef struct sk_profiles {
    sk_profile **slots; /* hashed, a power of two of them */
    uint32_t nslots, count;
} sk_profiles;

/* The profile for the parameters of an item; NULL: there is none. */
sk_profile *sk_profiles_get(const sk_profiles *t, const sk_item *item);
/* The same, made when there is none; NULL: too many, or no memory. */
sk_profile *sk_profiles_make(sk_profiles *t, const sk_item *item);
size_t sk_profiles_bytes(const sk_profiles *t);
void sk_profiles_clear(sk_profiles *t);

/* An item with the parameters of the profile turns up: has the measured call ended?
 * A receive with another number tells: its numbers are this process's own. A message may carry a
 * number of its sender, so it tells only when the profiling queue holds no more items of the
 * profile, and so does an item without a number. As long as nothing was measured nothing has ended.
 */
bool sk_profile_ends(sk_profile *p, const sk_item *item, bool receive);
/* The number of queues that would do: the average number of items looked at. */
uint64_t sk_profile_wants(const sk_profile *p);

#endif
