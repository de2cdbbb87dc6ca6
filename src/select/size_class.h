/* size_class.h: how long the blocks are in calls whose sizes not all ranks know: scatterv, gatherv, alltoallv, alltoallw.
 *
 * Each rank knows those of its own blocks, and only together do they know whether a call is one of short or of long blocks.
 * So they agree on it now and then, at calls that follow from their count alone: at the first one, 4 calls later, and then
 * after pauses that grow as long as they find what they found before, so that meeting takes a hundredth of the time of the
 * calls, and of what Skein saves in them. What they agree on is a class, sizes within a factor of about four, for all calls until the next time; or that
 * the sizes are mixed, if at some rank they were twice not of one class in the calls between. Where they change again and
 * again, the first pause grows, too. */
#ifndef SK_SIZE_CLASS_H
#define SK_SIZE_CLASS_H

#include <stdbool.h>
#include <stdint.h>

enum { SK_SIZE_CLASS_MIXED = -1 };

/* The same on all ranks but for low and high. */
typedef struct sk_size_class {
    bool begun;
    int agreed;    /* class, or SK_SIZE_CLASS_MIXED */
    bool doubted;  /* the last time the sizes were not of one class */
    int64_t left;  /* calls before the ranks agree again */
    int64_t soon;  /* the same after the next change */
    int64_t pause; /* calls between */
    int low, high; /* classes of the calls here since the ranks agreed */
} sk_size_class;

/* Bits of the number: sizes within a factor of two. */
int sk_size_class_of(int64_t bytes);

/* True: the call is counted. False: the ranks must agree before it, and it is not counted. */
static inline bool sk_size_class_count(sk_size_class *s, int64_t bytes)
{
    if (s->left <= 0)
        return false;
    int class = sk_size_class_of(bytes);
    s->low = class < s->low ? class : s->low;
    s->high = class > s->high ? class : s->high;
    s->left--;
    return true;
}

/* The ranks agree before a call with these sizes here, which is counted: they need the largest of each value over all
 * ranks. Then true: nothing has changed. */
enum { SK_SIZE_CLASS_HIGH, SK_SIZE_CLASS_SPREAD, SK_SIZE_CLASS_VALUES };
void sk_size_class_ask(sk_size_class *s, int64_t bytes, int64_t values[SK_SIZE_CLASS_VALUES]);
bool sk_size_class_agree(sk_size_class *s, int64_t bytes,
                         const int64_t values[SK_SIZE_CLASS_VALUES]);

/* Right after that. Meeting takes `meeting` ns, a call `ns`, 0: not known, and `saved` less than the host's; the same on all
 * ranks. */
void sk_size_class_limit(sk_size_class *s, int64_t meeting, int64_t ns, int64_t saved);

/* Classes of calls that are so far apart are not one. */
int64_t sk_size_class_spread(const sk_size_class *s);
bool sk_size_class_alike(int64_t spread);

#endif
