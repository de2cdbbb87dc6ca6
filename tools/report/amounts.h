/* amounts.h: times, bytes and numbers for people. */
#ifndef SK_AMOUNTS_H
#define SK_AMOUNTS_H

#include <stdint.h>

#include "base/arena.h"

const char *sk_show_seconds(sk_arena *a, double seconds); /* "12.3 ms" */
const char *sk_show_bytes(sk_arena *a, double bytes);     /* "1.5 MB" */
const char *sk_show_count(sk_arena *a, double n);         /* "1234", "1.5e+18" */
const char *sk_show_part(sk_arena *a, double part);       /* "12 %", "0.3 %" */

/* "rank 3", or "ranks 32-63": the i-th of buckets of so many. */
const char *sk_show_ranks(sk_arena *a, int i, double each, double ranks);

/* The name of a communicator, also of one that has none. */
const char *sk_show_name(const char *name);

#endif
