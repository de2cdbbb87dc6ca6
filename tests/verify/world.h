/* world.h: the memory of all ranks, a shade beside every byte, and the ranks each has heard from.
 */
#ifndef VERIFY_WORLD_H
#define VERIFY_WORLD_H

#include "lab/inproc/inproc.h"
#include "scene.h"
#include "shade.h"

struct trail;

typedef struct world {
    const scene *sc;
    sk_sched *const *scheds; /* what was laid out for */
    algebra alg;
    uint64_t salt;
    unsigned char *mem; /* users' buffers of all ranks, each between guards, then scratch, slots */
    shade *now;         /* one per byte */
    shade *want;        /* the same, of the users' bytes */
    shade *sums;        /* to work out reductions: one per byte of a vector */
    int64_t users, total;
    int64_t mem_cap, now_cap, want_cap, sums_cap; /* bytes */
    int64_t (*at)[SK_NBUFS];                      /* where the buffers of a rank start in mem */
    uint64_t *heard, *news; /* bit sets of ranks: at the start of the round, and since */
    uint64_t *said;         /* [epoch][rank]: whom it had heard from when it posted */
    size_t said_cap;
    int words;
    int64_t slots; /* where they start in mem, behind all scratch */
    sk_inproc *local;
    sk_run *runs;
    void *packets;
    int p, p_cap;
    size_t packet_cap;
    struct trail *trail; /* when set, records what happens */
} world;

world *world_new(void);
void world_free(world *w);

/* Lay out fresh memory for one run of these schedules; false when out of memory. `epoch` makes
 * addresses and contents differ from one run to the next. */
bool world_lay(world *w, const scene *sc, sk_sched *const *scheds, algebra alg, unsigned epoch);

sk_status world_run(world *w, sk_sched *const *scheds);

/* Where data byte k of a span of this rank stands in mem; how many bytes from there on, at most to
 * `end`, stand together. */
int64_t world_stretch(const world *w, int rank, sk_span s, int64_t k, int64_t end, int64_t *offset);

/* "rank 3 recv[17]" */
void world_describe(const world *w, int64_t index, char *out, size_t size);

bool world_heard_all(const world *w, int rank);

/* Set `want` to what the standard asks for. expect.c */
void world_expect(world *w);

/* Do the users' bytes hold what is wanted, and nothing else is changed? */
bool world_compare(const world *w, char *why, size_t size);

/* Are the results of an allreduce the same expression on every rank? */
bool world_same_result(const world *w, char *why, size_t size);

#endif
