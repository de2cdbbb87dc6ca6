/* traffic.h: random point-to-point traffic whose outcome is determined, although it is full of
 * wildcards: every receive fits letters of one sender only, so that the oldest letter that fits
 * meets the oldest receive that fits, whatever the timing. All ranks can draw the plan of any
 * receiver. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "scene.h"

enum { COMMS = 4, MOST_LETTERS = 200, MOST_TAKES = MOST_LETTERS * 2, NOBODY = -1 };

/* The communicators and how each of them numbers the world's ranks (-1: not in it). */
typedef struct town {
    scene on[COMMS];
    int world; /* ranks in the world */
    int *number[COMMS];
} town;

void town_make(town *w, const scene *s);
void town_free(town *w);

typedef struct parcel {
    int comm, from; /* rank in that communicator */
    letter l;
} parcel;

/* A receive, in the order in which receives are posted. */
typedef struct take {
    int comm, source, tag;
    int gets; /* index of its parcel; NOBODY: none, and it is cancelled at the end */
} take;

typedef struct traffic {
    int parcels, takes;
    parcel parcel[MOST_LETTERS];
    take take[MOST_TAKES];
} traffic;

/* The plan of the receiver with this rank in the world. */
void traffic_plan(traffic *t, const town *w, uint64_t seed, int round, int receiver, int parcels);

#endif
