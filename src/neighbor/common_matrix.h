/* common_matrix.h: the matrix of common neighbours of one rank, M in the paper: a row for each of
 * its active targets, with the ranks that are active for this target too, as bits. Ranks that can
 * never be friends, since they began with too few targets in common, are left out. Only for the
 * files common*.c. */
#ifndef SK_COMMON_MATRIX_H
#define SK_COMMON_MATRIX_H

#include "neighbor/common_holds.h"
#include "neighbor/common_planes.h"

enum { SK_STAYS = -1, SK_RIDES = -2 }; /* what becomes of a row, if nobody carries it */

typedef struct sk_matrix {
    int rank;
    int nrows;
    int *target;            /* of each row, ascending */
    const sk_holds **holds; /* who holds what for it */
    uint64_t **bits;        /* NULL until local or shared is called */
    int *fate, *depth;      /* carrier, and which of the nested groups it is in */
    int *pick;              /* room for a list of rows */
    uint64_t **picked;      /* and for their bits */

    int nwho, words;
    const int *who;    /* the ranks of the columns, ascending; NULL: all ranks */
    sk_planes counts;  /* common targets with each */
    uint64_t *friends; /* who has enough */
    uint64_t *offered; /* whom Algorithm 2 may choose */
} sk_matrix;

void sk_ranks_sort(int *list, int n);

/* `target` ascending and kept; holds[d] that of target d, or NULL: they come later. */
sk_matrix *sk_matrix_new(sk_arena *a, int rank, int *target, int n, const sk_holds *holds);

/* The bits, of its own: `count` has room for all ranks, zeros before and after. */
sk_status sk_matrix_local(sk_matrix *m, sk_arena *a, int theta, int *count);
/* The bits that all matrices share: columns[d * words] for target d. */
sk_status sk_matrix_shared(sk_matrix *m, sk_arena *a, int nranks, uint64_t *columns);

static inline int sk_matrix_who(const sk_matrix *m, int column)
{
    return m->who ? m->who[column] : column;
}
int sk_matrix_column(const sk_matrix *m, int rank); /* -1: has none */
int sk_matrix_row(const sk_matrix *m, int target);  /* -1: not active */

/* Counts the common targets; true when there are friends, which then are what is offered. */
bool sk_matrix_count(sk_matrix *m, int theta);

/* Only these rows are counted, and nobody is offered yet. */
void sk_matrix_count_picked(sk_matrix *m, int n);

/* Rows that all these ranks (the matrix's own is fine) have in common, ascending, in m->pick. */
int sk_matrix_common(const sk_matrix *m, const int *rank, int n);

/* The best of a set of columns, -1 when it is empty: most common targets, then by sk_pair_mix. */
int sk_matrix_best(const sk_matrix *m, const uint64_t *set);
bool sk_matrix_better(const sk_matrix *m, int a, int b);

void sk_matrix_drop(sk_matrix *m, int target, int rank); /* is no longer active for it */
void sk_matrix_settle(sk_matrix *m);                     /* only rows that stay remain */

#endif
