/* board_wire.h: the steps of a turn over a board, for mpi_wire.c's table. */
#ifndef SK_BOARD_WIRE_H
#define SK_BOARD_WIRE_H

#include "base/hot.h"
#include "exec/run.h"
#include "mpi/mpi_wire.h"

SK_HOT sk_status sk_board_wire_open(sk_wire *w, uint32_t turn, bool block);
SK_HOT void *sk_board_wire_bay(sk_wire *w, uint32_t buf, int owner);
SK_HOT void sk_board_wire_publish(sk_wire *w, uint32_t turn);
void sk_board_wire_expose(sk_wire *w, sk_part what, void *place);
SK_HOT sk_status sk_board_wire_await(sk_wire *w, uint32_t turn, int lo, int hi, bool block);
SK_HOT sk_status sk_board_wire_await_rank(sk_wire *w, uint32_t turn, int rank, bool block);
SK_HOT sk_status sk_board_wire_fold(sk_wire *w, uint32_t turn, int lo, int hi, sk_part bay,
                                    sk_part to);
SK_HOT sk_status sk_board_wire_join(sk_wire *w, uint32_t turn, sk_part bay, sk_part to, bool block);
sk_status sk_board_wire_read(sk_wire *w, int rank, const void *place, int64_t at, sk_part to);
sk_status sk_board_wire_settle(sk_wire *w, uint32_t turn, bool block);
SK_HOT void sk_board_wire_pass(sk_wire *w, uint32_t turns);

/* A run of a straight schedule from its beginning to its end. */
SK_HOT sk_status sk_board_wire_straight(sk_run *r);

#endif
