/* testlib.h: what every MPI test program shares: random numbers, a watchdog, failures, the end. */
#ifndef TESTLIB_H
#define TESTLIB_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Random numbers (splitmix64). Ranks that seed alike draw alike: that is how they agree on a case
 * without a message. */
typedef struct rng {
    uint64_t state;
} rng;

rng rng_seed(uint64_t a, uint64_t b, uint64_t c);
uint64_t rng_next(rng *r);
int rng_below(rng *r, int n);       /* 0 .. n-1 */
bool rng_chance(rng *r, int in100); /* true in so many of 100 draws */
void rng_fill(rng *r, void *to, size_t bytes);
void rng_shuffle(rng *r, int *v, int n);

/* Start, end and verdict of a program. test_end returns the exit status: rank 0 prints one line
 * when anything failed on any rank. */
void test_begin(int *argc, char ***argv, const char *name);
void test_begin_thread(int *argc, char ***argv, const char *name, int wanted, int *provided);
int test_end(void);
int test_rank(void);

/* A reduction, after which Skein serves all calls on the communicator, nonblocking ones too. */
void test_adopt(MPI_Comm comm);

int test_size(void);

/* The named step must be over in `seconds`; otherwise the program ends and says which step hung. */
void test_watch(int seconds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Record a failure on this rank (safe in threads). */
void test_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define CHECK(cond, ...)                                                                           \
    do {                                                                                           \
        if (!(cond))                                                                               \
            test_fail(__VA_ARGS__);                                                                \
    } while (0)

/* Say on rank 0 that something was left out. */
void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

void *must_alloc(size_t bytes); /* zeroed, never NULL */

/* Whether calls reach the host: no library preloaded, SKEIN=off, or a memory cap (SKEIN_MEM). The
 * programs then leave out what the host is known to do wrong. */
bool test_on_host(void);

/* One of the library's counters; false when the program runs without the library. */
bool test_counter(const char *name, long long *value);

/* What programs with random cases are told: [-c COLLECTIVE] [-f FIRST] [-v] [SEED [CASES]]. */
typedef struct options {
    int only; /* number of a collective, or `all` */
    unsigned long long seed;
    int first, cases;
    bool verbose;
} options;

/* `find` gives the number of a collective, `all` when there is none such. False: used wrongly. */
bool read_options(options *o, int argc, char **argv, int all, int (*find)(const char *name),
                  int cases);

#endif
