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
 * Everything here waits until it can be done. What is done in turns is in board_turns.h. */
#ifndef SK_BOARD_H
#define SK_BOARD_H

#include <stddef.h>

#include "shm/waiting.h"
#include "shm/segment.h"

typedef struct sk_board sk_board; /* of one process */

enum { SK_BOARD_AHEAD = 512 }; /* turns, at most, that a mate that publishes runs ahead of others */

/* Memory for n mates under a cap, and the largest bay it then has; 0: the cap is too small. */
size_t sk_board_bytes(int n, int64_t cap, int64_t *room);

/* Over memory of this size that is zero at first, as mate `me` of n. Takes the mapping over; NULL:
 * out of memory. All mates must wait in the same way. */
sk_board *sk_board_new(void *mem, size_t bytes, int n, int me);
void sk_board_wait_as(sk_board *b, sk_pause pause); /* before the first turn */
void sk_board_read_directly(sk_board *b);           /* mates can read each other's memory */
void sk_board_free(sk_board *b);                    /* unmaps */

int64_t sk_board_room(const sk_board *b);

/* All mates are done with this turn of the collective under way. */
void sk_board_settle(sk_board *b, uint32_t turn);

/* Messages from mate to mate, beside all turns (see chutes.h): start one, of at most one to and one
 * from each mate at a time, and wait for the end of all. False: one had another length. */
void sk_board_send(sk_board *b, int mate, const void *from, int64_t len);
void sk_board_recv(sk_board *b, int mate, void *to, int64_t len);
bool sk_board_finish(sk_board *b);

#endif
