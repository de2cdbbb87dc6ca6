/* trail.h: which bytes of which messages matter? A record of one run, read backwards: a byte that
 * was written matters if it is read before it is written again, and so on to the users' buffers. */
#ifndef VERIFY_TRAIL_H
#define VERIFY_TRAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "shade.h"

typedef struct trail trail;

trail *trail_new(void);
void trail_free(trail *t);

/* While running. Indices are those of the world's memory; `now` is its shades before the move. */
void trail_message(trail *t, int from, int to, int64_t len);
void trail_move(trail *t, const shade *now, int64_t to, int64_t from, int64_t n);
void trail_reduce(trail *t, int64_t to, int64_t from, int64_t n);

/* Afterwards: bytes below `users` are what it was all for. False when out of memory. */
bool trail_close(trail *t, int64_t users, int64_t total);

enum {
    TRAIL_READ = 1, /* someone reads it later */
    TRAIL_NEWS = 3, /* and the receiver did not have it already */
};

/* Is there one among these bytes of the world's memory, moved there at any time from those, or, for
 * -1, from anywhere? */
bool trail_matters_at(const trail *t, int64_t to, int64_t from, int64_t n, unsigned how);

/* Is there such a byte among the last `n` of the nth message from one rank to another? */
bool trail_matters(const trail *t, int from, int to, int nth, int64_t n, unsigned how);

#endif
