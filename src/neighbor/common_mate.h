/* common_mate.h: Algorithm 2, the search of one rank for a friend to pair with, free of how it
 * hears from the others. Columns of its matrix stand for ranks. Only for the files common*.c.
 *
 * A try: all choose; each hears who chose it; those who chose each other are paired; the paired
 * and the terminal ones are told to their friends, and leave. (Line 14 of the paper is read as "if
 * no friends are left", as its text has it.) The number of tries is bounded: who has found nobody
 * by then waits for the next iteration of Algorithm 1, in which there is less competition. */
#ifndef SK_COMMON_MATE_H
#define SK_COMMON_MATE_H

#include "neighbor/common_matrix.h"

enum { SK_TRIES = 32 };

typedef struct sk_mate {
    const sk_matrix *m;
    uint64_t *alive; /* friends that are neither paired nor terminal: they are told of choices */
    uint64_t *open;  /* F: those of them not given up */
    int choice;      /* p', a column */
    int suitor;      /* the best lower rank in F that chose this one in the last try; -1 */
    bool paired, terminal;
} sk_mate;

sk_status sk_mate_room(sk_mate *s, sk_arena *a, const sk_matrix *m);
void sk_mate_begin(sk_mate *s);                       /* among those that the matrix offers */
void sk_mate_choose(sk_mate *s);                      /* lines 3 to 22: sets choice, or terminal */
void sk_mate_chosen_by(sk_mate *s, int column);       /* after all chose: lines 24 and 11 */
void sk_mate_lose(sk_mate *s, int column);            /* line 28: this one is paired or terminal */
void sk_mate_sweep(sk_mate *s, const uint64_t *gone); /* the same for a set of ranks */

#endif
