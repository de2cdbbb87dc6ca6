/* board.h: turns of node mates over shared memory: the wire under sk_turn (see sched.h), without
 * its schedules, types and operations.
 *
 * Turns are counted over all collectives of a communicator, the same at all mates. A turn has a
 * bay per mate and a common one, taken from rings of bays of a few sizes; the smallest are a cache
 * line together with the bell that announces them. A bay is used again when all mates have passed
 * the turn it served: so a rank may run ahead of the others by as many turns as there are bays. A
 * turn that a rank has no part in costs it no more than to be counted.
 *
 *   ring        bytes of a bay x bays
 *   in the line      48 x 640
 *   others          256 x 640, 2K x 80, 16K x 72, 128K x 12, 512K x 4: the largest if memory allows
 *
 * Everything here waits until it can be done. */
#ifndef SK_BOARD_H
#define SK_BOARD_H

#include <stddef.h>

#include "base/hot.h"
#include "board/pause.h"
#include "board/segment.h"

typedef struct sk_board sk_board; /* of one process */

/* Memory for n mates under a cap, and the largest bay it then has; 0: the cap is too small. */
size_t sk_board_bytes(int n, int64_t cap, int64_t *room);

/* Over memory of this size that is zero at first, as mate `me` of n. Takes the mapping over; NULL:
 * out of memory. All mates must wait in the same way. */
sk_board *sk_board_new(void *mem, size_t bytes, int n, int me);
void sk_board_wait_as(sk_board *b, sk_pause pause); /* before the first turn */
void sk_board_free(sk_board *b);                    /* unmaps */

int64_t sk_board_room(const sk_board *b);
SK_HOT int sk_board_mates(const sk_board *b);
SK_HOT int sk_board_me(const sk_board *b);

/* A collective begins; its turns count from 0. `sign` is the same at all mates, unless they have
 * called different collectives or disagree on sizes. */
SK_HOT void sk_board_begin(sk_board *b, uint32_t sign);

/* The next turn of the collective, with the bytes of its bays; in order, before any use. `all`:
 * every mate publishes it. A mate that publishes runs ahead of the others by at most SK_BOARD_AHEAD
 * turns. */
enum { SK_BOARD_AHEAD = 512 };
SK_HOT void sk_board_turn(sk_board *b, int64_t room, bool all);

/* Bays may be written from here on. */
SK_HOT void sk_board_open(sk_board *b, uint32_t turn);
SK_HOT void *sk_board_bay(sk_board *b, uint32_t turn, int mate); /* mate n: the common one */

SK_HOT void sk_board_publish(sk_board *b, uint32_t turn);

/* False: a mate has published, but with another sign. It is not looked for in every way to wait. */
SK_HOT bool sk_board_await(sk_board *b, uint32_t turn, int mate);
SK_HOT bool sk_board_await_range(sk_board *b, uint32_t turn, int lo, int hi);

/* Where ranks share cores, what all mates would compute alike is computed by the one that publishes
 * last, into the common bay, and announced; the others await that. */
SK_HOT bool sk_board_crowded(const sk_board *b);
SK_HOT bool sk_board_was_last(const sk_board *b, uint32_t turn);
SK_HOT void sk_board_announce(sk_board *b, uint32_t turn);
SK_HOT void sk_board_await_result(sk_board *b, uint32_t turn);

/* Turns below this one are over here, also those that were not used and so need not be given;
 * all mates are done with this one. */
SK_HOT void sk_board_pass(sk_board *b, uint32_t turns);
void sk_board_settle(sk_board *b, uint32_t turn);

/* Messages from mate to mate, beside all turns (see chutes.h): start one, of at most one to and one
 * from each mate at a time, and wait for the end of all. False: one had another length. */
void sk_board_send(sk_board *b, int mate, const void *from, int64_t len);
void sk_board_recv(sk_board *b, int mate, void *to, int64_t len);
bool sk_board_finish(sk_board *b);

#endif
