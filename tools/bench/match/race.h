/* race.h: the results of --mpi: points (rows) by transports (columns), over several rounds. */
#ifndef SK_RACE_H
#define SK_RACE_H

#include <stdio.h>

#include "bench/match/options.h"
#include "bench/stats.h"

enum { SK_RACE_ROUNDS = 1000 };

/* What came of one point on one transport. */
typedef struct sk_cell {
    double *us; /* one for each round that gave one */
    int n;
    double late; /* seconds it would have taken; 0: it was not left out */
    bool wrong;
} sk_cell;

typedef struct sk_race_point {
    char what[16], source[8];
    int depth;
} sk_race_point;

typedef struct sk_racer {
    const char *name;    /* of the transport, with the engine where one was asked for */
    const char *trouble; /* why a run failed, or NULL */
    sk_cell *cells;      /* by point */
} sk_racer;

typedef struct sk_race {
    sk_arena *arena;
    int rounds, npoints, nracers;
    sk_race_point *points;
    sk_racer *racers;
} sk_race;

/* The points that the measuring program has for these depths. */
sk_race sk_race_new(sk_arena *a, const sk_numbers *depths, int rounds, int nracers);

/* A line of the measuring program; false: it is none. */
bool sk_race_take(sk_race *r, int racer, const char *line);

void sk_race_print(FILE *f, const sk_race *r);
void sk_race_csv(FILE *f, const sk_race *r);

bool sk_race_wrong(const sk_race *r);
bool sk_race_empty(const sk_race *r); /* no point was measured */

#endif
