/* tips.h: what a run suggests to change, with the numbers behind it. */
#ifndef SK_TIPS_H
#define SK_TIPS_H

#include "report/run_data.h"

typedef struct sk_tip {
    const char *title, *text; /* a sentence each, or several */
} sk_tip;

/* Lengths of the matching queues of a run, from a trace (skein trace). */
typedef struct sk_traced {
    double operations, posted_mean, posted_most, unexpected_mean, unexpected_most;
} sk_traced;

/* The most important first; at least one. `t` may be NULL. */
const sk_tip *sk_tips(sk_arena *a, const sk_run_data *d, const sk_traced *t, int *n);

#endif
