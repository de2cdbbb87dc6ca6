/* check.h: is an algorithm right for one case? */
#ifndef VERIFY_CHECK_H
#define VERIFY_CHECK_H

#include "lab/sched/inspect.h"
#include "world.h"

typedef enum verdict { RIGHT, WRONG, DOES_NOT_FIT } verdict;

/* All of it: what the table says of the algorithm, the schedules of all ranks, and their runs.
 * `why` is set when WRONG. */
verdict check_algo(world *w, const sk_algo *a, const kase *k, char *why, size_t size);

/* The schedules alone, one per rank: the part that does not care who built them. */
bool check_scheds(world *w, const scene *sc, sk_sched *const *scheds, char *why, size_t size);

/* The schedules of all ranks, or NULL and the reason. Free with scheds_free. */
sk_sched **scheds_build(const sk_algo *a, const scene *sc, char *why, size_t size);
void scheds_free(sk_sched **scheds, int p);

#endif
