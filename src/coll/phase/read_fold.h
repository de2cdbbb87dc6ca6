/* read_fold.h: reductions by single copy: operands are read where they lie, chunk by chunk into
 * scratch that stays in a cache, and reduced there. Operands keep the order of ranks, from left to
 * right, as in the algorithms `shm`: so both give the same bits. */
#ifndef SK_PHASE_READ_FOLD_H
#define SK_PHASE_READ_FOLD_H

#include "coll/phase/intra_reduce.h"

/* As sk_single_copy_fits, for an operation of the standard on a type without gaps. */
bool sk_read_fold_fits(const sk_call *c);

int64_t sk_read_fold_scratch(const sk_call *c);          /* of sk_read_fold, in bytes */
int64_t sk_read_fold_reads(const sk_call *c, int64_t n); /* of each other rank, for n elements */

/* Export my vector but for `mine`, which this rank reduces itself and may then write: the handle of
 * what is before, and of what is after. Post the epoch, which has slots of SK_READ_FOLD_SLOT. */
enum { SK_READ_FOLD_SLOT = 2 * SK_EXPORT_BYTES };
void sk_read_fold_export(sk_sched *s, const sk_call *c, int epoch, sk_elem_range mine);

/* Reduce the elements of the vectors of all ranks that are mine to `to`. `of`: what a rank reduces. */
typedef sk_elem_range sk_elems_of(const sk_call *c, int rank);
void sk_read_fold(sk_sched *s, const sk_call *c, int epoch, sk_elems_of *of, sk_span to);

/* The part of a vector that each rank reduces, where all reduce a part. */
sk_elem_range sk_elems_part(const sk_call *c, int rank);

/* ns for a rank to read and reduce n bytes of the vectors of all, of which its own is one. */
double sk_read_fold_time(const sk_copy_costs *x, const sk_call *c, double n);

#endif
