/* measure.c: compares results, warms up, then measures rounds. A round times single calls of Skein
 * and of the host alternately, each from a common start of all ranks, and then trains of calls. The
 * order changes from call to call and from round to round, so that a disturbance of the machine
 * affects both. The ratio is taken within a round, so that a slow drift cancels out. */
#include "bench/mpi/measure.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKEIN, HOST, SIDES };
enum { MIN_ROUNDS = 3, MAX_SINGLES = 25, MIN_TRAIN = 2, MAX_TRAIN = 100, MAX_TRAINS = 4 };

/* A shorter train of short calls is mostly its start: ranks that share cores need some time until
 * they alternate. */
enum { GOOD_TRAIN_US = 20000 };

/* Whether the host is wrong where the results differ. Known for neighbourhood collectives only
 * (some versions of MPICH are wrong in neighbor_alltoallw). Overwrites the host's result. */
static bool host_is_wrong(const sk_case *c, const char *skein)
{
    if (!c->neighborhood)
        return false;
    sk_case_neighbor_expect(c, c->recv);
    return sk_first_difference(skein, c->recv, c->check_bytes) < 0;
}

/* One line for all ranks, printed by the first of them. */
static void report_host(const sk_case *c, bool here)
{
    int mine = here ? c->rank : c->nranks, first;
    PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == c->rank)
        fprintf(stderr, "the host's result is wrong: %s of %lld bytes on %d ranks: rank %d\n",
                sk_coll_name(c->coll), (long long)c->bytes, c->nranks, c->rank);
}

/* Makes one call of each side and compares the results. True, at all ranks: Skein's is right.
 * `keep` has check_bytes bytes. Collective over MPI_COMM_WORLD. */
static bool compare(const sk_case *c, char *keep)
{
    sk_case_reset(c);
    sk_case_run(c, false);
    memcpy(keep, c->recv, c->check_bytes);
    sk_case_reset(c);
    sk_case_run(c, true);
    int64_t at = sk_first_difference(keep, c->recv, c->check_bytes);
    bool host = at >= 0 && host_is_wrong(c, keep);
    if (at >= 0 && !host)
        fprintf(stderr, "wrong result: %s of %lld bytes on %d ranks: rank %d, byte %lld of %zu\n",
                sk_coll_name(c->coll), (long long)c->bytes, c->nranks, c->rank, (long long)at,
                c->check_bytes);
    if (c->neighborhood)
        report_host(c, host);
    int mine = at < 0 || host, all;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

/* The decision of rank 0, so that all ranks take the same branch. */
static bool decide_at_0(bool at_rank_0)
{
    int yes = at_rank_0;
    PMPI_Bcast(&yes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return yes;
}

/* Seconds of one call of each side together: the best seen, because on a shared machine one
 * interruption would otherwise shrink the whole measurement. Slow calls get fewer warm-up calls. */
static double warm_up(const sk_case *c, const sk_measurement *m)
{
    double begin = sk_clock_now(m->clock), pair = DBL_MAX;
    for (int done = 0, chunk = 1; done < m->warmup; done += chunk) {
        if (done > 0)
            chunk = done < m->warmup - done ? done : m->warmup - done;
        double t = sk_clock_now(m->clock);
        for (int i = 0; i < chunk; i++)
            for (int side = SKEIN; side < SIDES; side++)
                sk_case_run(c, side == HOST);
        double now = sk_clock_now(m->clock);
        if ((now - t) / chunk < pair)
            pair = (now - t) / chunk;
        if (done + chunk >= m->least && !decide_at_0(now - begin < m->budget / 4))
            break;
    }
    return pair;
}

/* Which side goes first at the i-th time in a round: pseudo-random, the same on all ranks, because
 * a fixed pattern could synchronize with the scheduler. Two consecutive ones are opposite, so that
 * each side is first equally often. */
static int first_side(int round, int i)
{
    uint32_t x = (uint32_t)round * 4096 + (uint32_t)i / 2 + 1;
    x ^= x << 13;
    x *= 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    return (int)((x >> 16 ^ (uint32_t)i) & 1);
}

enum { ENTRY, EXIT, LATE, PER_CALL }; /* the record of a single call */

/* `c` NULL: a call that does nothing. */
static void time_one(const sk_case *c, const sk_measurement *m, bool host, double t[PER_CALL])
{
    double moment;
    t[LATE] = !sk_start_together(m->clock, m->start, &moment);
    t[ENTRY] = -sk_clock_now(m->clock);
    if (c)
        sk_case_run(c, host);
    t[EXIT] = sk_clock_now(m->clock);
    sk_start_rest(m->clock, m->start, moment);
}

/* The largest of the negated entries is the first entry. */
static void reduce_to_0(double *times, int n)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(rank == 0 ? MPI_IN_PLACE : times, times, PER_CALL * n, MPI_DOUBLE, MPI_MAX, 0,
                MPI_COMM_WORLD);
}

static double span_us(const double *t)
{
    return 1e6 * (t[ENTRY] + t[EXIT]);
}

double sk_measure_empty(const sk_measurement *m)
{
    enum { TIMES = 50 };
    double times[PER_CALL * TIMES], span[TIMES];
    for (int i = 0; i < TIMES; i++)
        time_one(NULL, m, false, times + PER_CALL * i);
    reduce_to_0(times, TIMES);
    for (int i = 0; i < TIMES; i++)
        span[i] = span_us(times + PER_CALL * i);
    return sk_median(span, TIMES);
}

/* Times single calls: their makespans in us, at rank 0, and how many there are of each side.
 * `times` has SIDES * PER_CALL * n entries, `span` n per side. A call that a rank started late is
 * left out, unless all calls were late. */
static void time_singles(const sk_case *c, const sk_measurement *m, int n, int round, double *times,
                         double *span[SIDES], int count[SIDES])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < SIDES; k++) {
            int side = (first_side(round, i) + k) % SIDES;
            time_one(c, m, side == HOST, times + PER_CALL * (i * SIDES + side));
        }
    reduce_to_0(times, SIDES * n);
    for (int side = SKEIN; side < SIDES; side++) {
        count[side] = 0;
        for (int late = 0; late < 2 && count[side] == 0; late++)
            for (int i = 0; i < n; i++) {
                const double *t = times + PER_CALL * (i * SIDES + side);
                if (t[LATE] <= late)
                    span[side][count[side]++] = span_us(t);
            }
    }
}

static double time_train(const sk_case *c, const sk_measurement *m, int n, bool host)
{
    double t[2], all[2] = {0, 0}, moment;
    sk_start_together(m->clock, m->start, &moment);
    t[0] = -sk_clock_now(m->clock);
    for (int i = 0; i < n; i++)
        sk_case_run(c, host);
    t[1] = sk_clock_now(m->clock);
    PMPI_Reduce(t, all, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return 1e6 * (all[0] + all[1]) / n;
}

/* How many calls there are in a round, of each side. */
typedef struct round_plan {
    int singles, trains, train;
} round_plan;

/* Times trains of calls: us per call, at rank 0. The order is A B B A A B B A, and the next time
 * reversed: what a train leaves behind (in the scheduler, in unexpected queues) affects both sides
 * alike. */
static void time_trains(const sk_case *c, const sk_measurement *m, round_plan plan, int round,
                        double us[SIDES])
{
    double each[SIDES][MAX_TRAINS];
    for (int i = 0; i < plan.trains; i++)
        for (int k = 0; k < SIDES; k++) {
            int side = (first_side(round, i) + k) % SIDES;
            each[side][i] = time_train(c, m, plan.train, side == HOST);
        }
    for (int side = SKEIN; side < SIDES; side++)
        us[side] = sk_median(each[side], plan.trains);
}

static int clamp(double x, int lo, int hi)
{
    return x < lo ? lo : x > hi ? hi : (int)x;
}

/* How many calls fit into a round: half of its time for single calls with their barriers, half for
 * trains. There are several trains, because their median survives an interruption, but not at the
 * cost of their length: a train of GOOD_TRAIN_US is made even where it takes more than its time. */
static round_plan plan_round(const sk_case *c, const sk_measurement *m, double pair, double *times,
                             double *span[SIDES])
{
    double share = 0.75 * m->budget / m->rounds / 2, single_pair = DBL_MAX;
    int tries = 3, count[SIDES];
    do {
        double t = sk_clock_now(m->clock);
        time_singles(c, m, 1, tries, times, span, count);
        t = sk_clock_now(m->clock) - t;
        single_pair = t < single_pair ? t : single_pair;
    } while (decide_at_0(--tries > 0 && pair < share));

    double calls = share / (pair + 1e-9);
    int least = clamp(2e-6 * GOOD_TRAIN_US / (pair + 1e-9), MIN_TRAIN, MAX_TRAIN);
    int n[3] = {clamp(share / (single_pair + 1e-9), 1, MAX_SINGLES),
                clamp(calls / least, 1, MAX_TRAINS), 0};
    n[2] = clamp(calls / n[1], least, MAX_TRAIN);
    PMPI_Bcast(n, 3, MPI_INT, 0, MPI_COMM_WORLD);
    return (round_plan){n[0], n[1], n[2]};
}

/* The results of the rounds: times per side, and their ratios. */
typedef struct time_series {
    double *side[SIDES], *ratio;
} time_series;

static void note(time_series *s, int round, double skein, double host)
{
    s->side[SKEIN][round] = skein;
    s->side[HOST][round] = host;
    s->ratio[round] = host / skein;
}

static sk_timing summary(time_series *s, int rounds)
{
    return (sk_timing){.skein_us = sk_median(s->side[SKEIN], rounds),
                       .host_us = sk_median(s->side[HOST], rounds),
                       .ratio = sk_spread_of(s->ratio, rounds)};
}

static void time_rounds(const sk_case *c, const sk_measurement *m, double *buffer, sk_point *out)
{
    size_t r = (size_t)m->rounds;
    time_series makespan = {{buffer, buffer + r}, buffer + 2 * r},
                b2b = {{buffer + 3 * r, buffer + 4 * r}, buffer + 5 * r};
    double *times = buffer + 6 * r;
    double *span[SIDES] = {times + SIDES * PER_CALL * MAX_SINGLES};
    span[HOST] = span[SKEIN] + MAX_SINGLES;

    double begin = sk_clock_now(m->clock);
    round_plan plan = plan_round(c, m, warm_up(c, m), times, span);
    int round = 0;
    do {
        int count[SIDES];
        time_singles(c, m, plan.singles, round, times, span, count);
        note(&makespan, round, sk_median(span[SKEIN], count[SKEIN]),
             sk_median(span[HOST], count[HOST]));
        double train[SIDES];
        time_trains(c, m, plan, round, train);
        note(&b2b, round, train[SKEIN], train[HOST]);
        round++;
    } while (round < m->rounds &&
             decide_at_0(round < MIN_ROUNDS || sk_clock_now(m->clock) - begin < 1.5 * m->budget));
    out->rounds = round;
    out->singles = plan.singles;
    out->train = plan.train;
    out->makespan = summary(&makespan, round);
    out->b2b = summary(&b2b, round);
}

bool sk_measure_point(const sk_case *c, const sk_measurement *m, sk_point *out)
{
    char *keep = malloc(c->check_bytes + 1);
    double *buffer =
        calloc(6 * (size_t)m->rounds + SIDES * (PER_CALL + 1) * MAX_SINGLES, sizeof *buffer);
    int mine = keep && buffer, have;
    PMPI_Allreduce(&mine, &have, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (have && keep && buffer) {
        *out = (sk_point){.coll = c->coll, .bytes = c->bytes, .empty_us = m->empty_us};
        out->equal = compare(c, keep);
        if (out->equal) {
            time_rounds(c, m, buffer, out);
            /* Again: the calls in between ran on cached plans and warm buffers. */
            out->equal = compare(c, keep);
        }
    }
    free(buffer);
    free(keep);
    return have;
}
