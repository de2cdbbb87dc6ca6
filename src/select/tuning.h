/* tuning.h: measured times of collectives, the text in which they are kept, and what follows from them for a
 * call: which algorithm is the fastest, and whether the host MPI is faster than it.
 *
 * The text is made of lines; "#" starts a comment:
 *
 *   skein-tuning 2                                    the version of the format: first
 *   machine Open MPI v4.1.4; 8 cores; AMD EPYC 7402   the lines below hold for such machines
 *                                                     ("*": for all that have none of their own)
 *   price socket.latency 95 ns                        a parameter of the model: see price/prices.h
 *   COLLECTIVE RANKS NODES NEIGHBOURS BYTES ALGORITHM MICROSECONDS CALLS
 *
 * COLLECTIVE is the name of the function: allreduce, iallreduce, allreduce_init. Version 1 had blocking ones only.
 * NEIGHBOURS are those of the busiest rank, "-" for global collectives. BYTES are those by which algorithms are
 * chosen (coll/colls.def); of scatterv, gatherv, alltoallv and alltoallw those of a block, as one rank knows them. ALGORITHM "host" is the host MPI. Lines of the same call and algorithm are merged: the
 * mean time, each counted by its CALLS.
 *
 * Times of calls that were not measured are interpolated, for each algorithm that was measured at all corners:
 * the logarithm of the time over the logarithms of ranks and bytes. Beyond the corners the nearest holds as far as
 * a factor of two, and for all sizes up to a cache line. Ranks of one node and ranks of several are apart; of
 * several nodes the ranks per node must be equal. Numbers of neighbours must be within the same powers of two.
 *
 * Where not all ranks know the size of a call the logarithms at all sizes count alike, and the host must be clearly faster
 * at each of them: all ranks find the same, and the algorithms do not know the size either. */
#ifndef SK_TUNING_H
#define SK_TUNING_H

#include "coll/algo.h"

enum { SK_TUNING_VERSION = 2, SK_TUNING_BYTES = 4 << 20 /* most of a text */ };

/* sk_tuned.bytes of a call to be advised: not all ranks know its size. */
enum { SK_TUNED_ANY_SIZE = -1 };

typedef struct sk_tuned {
    sk_coll coll;
    sk_form form;
    int ranks, nodes;
    int neighbours;      /* 0: a global collective */
    int64_t bytes;       /* or SK_TUNED_ANY_SIZE */
    const sk_algo *algo; /* NULL: the host */
    double us;           /* of a call */
    int64_t calls;       /* so many were timed */
} sk_tuned;

typedef struct sk_tuning sk_tuning;

sk_tuning *sk_tuning_new(void); /* NULL: out of memory */
void sk_tuning_free(sk_tuning *t);

/* Adds what a text says, of any bytes. On failure `err` is "LINE: what is wrong; what to do". */
sk_status sk_tuning_read(sk_tuning *t, const char *text, size_t len, char *err, size_t size);

/* Adds a time, or a price ("95 ns"), to a machine. A price replaces the one of that name. */
sk_status sk_tuning_add(sk_tuning *t, const char *machine, const sk_tuned *e);
sk_status sk_tuning_add_price(sk_tuning *t, const char *machine, const char *name,
                              const char *value);

/* The text; `machine` NULL: of all machines. To be freed. NULL: out of memory. */
char *sk_tuning_text(sk_tuning *t, const char *machine);

/* The i-th machine; NULL: there are no more. */
const char *sk_tuning_machine(const sk_tuning *t, int i);
const sk_tuned *sk_tuning_times(sk_tuning *t, int machine, int *n); /* in order */
const char *sk_tuning_prices(const sk_tuning *t, int machine); /* as sk_prices_read takes them */

/* What follows for a call, of which algo, us and calls are not read. Of a form of which nothing was measured the
 * blocking calls say which algorithm is the fastest, but not whether the host is faster. `able`: which algorithms can serve it. */
typedef struct sk_advice {
    const sk_algo *algo;
    double us, host_us; /* of a call; 0: not known */
    bool host;          /* the host is clearly faster */
    bool measured;      /* this very call was; else it is interpolated */
} sk_advice;
typedef bool sk_tuning_able(const void *ctx, const sk_algo *a);
bool sk_tuning_advise(sk_tuning *t, int machine, const sk_tuned *call, sk_tuning_able *able,
                      const void *ctx, sk_advice *out); /* false: nothing is known */

/* Does it have any times by which such calls are chosen? */
bool sk_tuning_has(sk_tuning *t, int machine, sk_coll coll, sk_form form);

#endif
