/* classes.h: which ranks are walked to price a call. All of them, if that is little work. Otherwise ranks
 * that behave alike are one class, and one rank of each class is walked.
 *
 * Ranks behave alike if a permutation of the ranks that keeps nodes together turns the schedule of one
 * into that of the other. Two kinds are tried: rank + k g, round the end, as in rings; and k (unit ^ g) +
 * rank % k, as in doubling, where k is the number of ranks after which the machine looks the same. Ranks with
 * the same remainder by k are a class then. Whether schedules have the symmetry is found by samples.
 * Lengths may differ by what is left when a vector is cut into equal parts.
 *
 * Where neither holds and there are too many ranks, the first kind is assumed and the price is not exact.
 *
 * Of many rounds that are alike at all ranks only some are walked: a stretch. */
#ifndef SK_CLASSES_H
#define SK_CLASSES_H

#include "price/profile.h"
#include "topo/rename.h"

typedef struct sk_price_case {
    const sk_prices *prices;
    const sk_machine *machine; /* NULL: every rank is a node of its own */
    int nranks, root;
    const sk_rename *rename;                                       /* of the call; NULL: none */
    sk_status (*build)(const void *ctx, int rank, sk_sched **out); /* the schedule of a rank */
    const void *ctx;
    bool all;  /* walk all ranks and rounds, however long that takes */
    int calls; /* equal calls, one after the other, each rank at its own pace; 0 is 1 */
} sk_price_case;

/* Rounds first <= r < end that repeat each other. Those up to `first` + `keep` are walked; the time of the
 * others follows from the second half of these. */
typedef struct sk_stretch {
    uint32_t first, keep, end;
} sk_stretch;

enum { SK_STRETCHES = 8 };

typedef struct sk_classes {
    int n, unit, nunits; /* classes; ranks after which the machine repeats, and how often it does */
    int base;            /* the unit whose ranks are walked: those with names from base * unit on */
    bool by_xor;         /* the second kind of symmetry */
    bool exact;
    const sk_rename *rename; /* of the call; NULL: none */
    int64_t steps;           /* of the schedules of these */
    int times;               /* ranks of a class on the node of the one that is walked */
    sk_profile *profile;     /* of each class */
    sk_stretch stretch[SK_STRETCHES];
    int nstretches;
} sk_classes;

/* SK_TOOBIG: there are too many ranks that are not alike, or some messages have no known size. */
sk_status sk_classes_new(const sk_price_case *c, sk_classes *out);
void sk_classes_free(sk_classes *x);

/* Symmetries are those of the names that ranks have during the call. */
static inline int sk_class_name(const sk_classes *x, int rank)
{
    return x->rename ? x->rename->name_of[rank] : rank;
}

static inline int sk_class_rank(const sk_classes *x, int name)
{
    return x->rename ? x->rename->rank_of[name] : name;
}

static inline int sk_class_of(const sk_classes *x, int rank)
{
    return sk_class_name(x, rank) % x->unit;
}

/* By which symmetry the rank `from` comes to the unit of the rank `to`. */
static inline int sk_class_shift(const sk_classes *x, int from, int to)
{
    int a = sk_class_name(x, from) / x->unit, b = sk_class_name(x, to) / x->unit;
    return x->by_xor ? a ^ b : (b - a + x->nunits) % x->nunits;
}

#endif
