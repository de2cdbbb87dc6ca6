/* measure.c: compare results, warm up, then rounds. A round times single calls, Skein's and the
 * host's by epochs, each from a moment that all ranks wait for, and then trains of calls. The order
 * changes from call to call and from round to round, so that a disturbance of the machine meets
 * both; the ratio is taken within a round, so that a slow drift cancels out. */
#include "bench/mpi/measure.h"

#include <float.h>
#include <stdlib.h>

#include "bench/mpi/compare.h"
#include "bench/mpi/start.h"

enum { SKEIN, HOST, SIDES };
enum { MIN_ROUNDS = 3, MAX_SINGLES = 25, MIN_TRAIN = 2, MAX_TRAIN = 100, MAX_TRAINS = 4 };

/* A shorter train of short calls is mostly its start: ranks that share cores need a while until
 * they take epochs. */
enum { GOOD_TRAIN_US = 20000 };

/* Rank 0's clock decides, so that all ranks go the same way. */
static bool all_agree(bool at_rank_0)
{
    int yes = at_rank_0;
    PMPI_Bcast(&yes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return yes;
}

/* Seconds of one call of each kind together, undisturbed: the best of what was seen, because on a
 * shared machine one pause would otherwise shrink the whole measurement. Slow calls are warm after
 * a few of them. */
static double warm_up(const sk_case *c, const sk_measure *m)
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
        if (done + chunk >= m->least && !all_agree(now - begin < m->budget / 4))
            break;
    }
    return pair;
}

/* Who goes first the i-th time in a round. By chance, though the same on all ranks: a fixed pattern
 * could fall in step with the scheduler. Of two neighbours one is the other's opposite, so that
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

enum { ENTRY, EXIT, LATE, PER_CALL }; /* what is noted of a single call */

/* `c` NULL: a call that does nothing. */
static void time_one(const sk_case *c, const sk_measure *m, bool host, double t[PER_CALL])
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
static void meet_at_0(double *times, int n)
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

double sk_measure_empty(const sk_measure *m)
{
    enum { TIMES = 50 };
    double times[PER_CALL * TIMES], span[TIMES];
    for (int i = 0; i < TIMES; i++)
        time_one(NULL, m, false, times + PER_CALL * i);
    meet_at_0(times, TIMES);
    for (int i = 0; i < TIMES; i++)
        span[i] = span_us(times + PER_CALL * i);
    return sk_median(span, TIMES);
}

/* Single calls: their makespans in us, at rank 0, and how many there are of each side. `times` has
 * room for SIDES * PER_CALL * n, `span` for n per side. A call for which a rank came too late to
 * wait for its start is left out, unless all were. */
static void time_singles(const sk_case *c, const sk_measure *m, int n, int round, double *times,
                         double *span[SIDES], int count[SIDES])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < SIDES; k++) {
            int side = (first_side(round, i) + k) % SIDES;
            time_one(c, m, side == HOST, times + PER_CALL * (i * SIDES + side));
        }
    meet_at_0(times, SIDES * n);
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

static double time_train(const sk_case *c, const sk_measure *m, int n, bool host)
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

/* Trains of calls: us per call, at rank 0. In the order A B B A A B B A, and the next time the
 * other way round: what a train leaves behind (in the scheduler, in queues of early messages) meets
 * both sides alike. */
static void time_trains(const sk_case *c, const sk_measure *m, round_plan plan, int round,
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

/* How many calls fit: half of a round's share for single calls with their barriers, half for
 * trains: several, because a median of them survives a pause of the machine, but only if they stay
 * trains; a good one is made even where it takes more than its share. */
static round_plan plan_round(const sk_case *c, const sk_measure *m, double pair, double *times,
                             double *span[SIDES])
{
    double share = 0.75 * m->budget / m->rounds / 2, single_pair = DBL_MAX;
    int tries = 3, count[SIDES];
    do {
        double t = sk_clock_now(m->clock);
        time_singles(c, m, 1, tries, times, span, count);
        t = sk_clock_now(m->clock) - t;
        single_pair = t < single_pair ? t : single_pair;
    } while (all_agree(--tries > 0 && pair < share));

    double calls = share / (pair + 1e-9);
    int least = clamp(2e-6 * GOOD_TRAIN_US / (pair + 1e-9), MIN_TRAIN, MAX_TRAIN);
    int n[3] = {clamp(share / (single_pair + 1e-9), 1, MAX_SINGLES),
                clamp(calls / least, 1, MAX_TRAINS), 0};
    n[2] = clamp(calls / n[1], least, MAX_TRAIN);
    PMPI_Bcast(n, 3, MPI_INT, 0, MPI_COMM_WORLD);
    return (round_plan){n[0], n[1], n[2]};
}

/* What the rounds gave: times per side, and their ratios. */
typedef struct series {
    double *side[SIDES], *ratio;
} series;

static void note(series *s, int round, double skein, double host)
{
    s->side[SKEIN][round] = skein;
    s->side[HOST][round] = host;
    s->ratio[round] = host / skein;
}

static sk_timing summary(series *s, int rounds)
{
    return (sk_timing){.skein_us = sk_median(s->side[SKEIN], rounds),
                       .host_us = sk_median(s->side[HOST], rounds),
                       .ratio = sk_spread_of(s->ratio, rounds)};
}

static void time_rounds(const sk_case *c, const sk_measure *m, double *room, sk_point *out)
{
    size_t r = (size_t)m->rounds;
    series makespan = {{room, room + r}, room + 2 * r},
           b2b = {{room + 3 * r, room + 4 * r}, room + 5 * r};
    double *times = room + 6 * r;
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
             all_agree(round < MIN_ROUNDS || sk_clock_now(m->clock) - begin < 1.5 * m->budget));
    out->rounds = round;
    out->singles = plan.singles;
    out->train = plan.train;
    out->makespan = summary(&makespan, round);
    out->b2b = summary(&b2b, round);
}

bool sk_measure_point(const sk_case *c, const sk_measure *m, sk_point *out)
{
    char *keep = malloc(c->check_bytes + 1);
    double *room =
        calloc(6 * (size_t)m->rounds + SIDES * (PER_CALL + 1) * MAX_SINGLES, sizeof *room);
    int mine = keep && room, have;
    PMPI_Allreduce(&mine, &have, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (have && keep && room) {
        *out = (sk_point){.coll = c->coll, .bytes = c->bytes, .empty_us = m->empty_us};
        out->equal = sk_compare(c, keep);
        if (out->equal) {
            time_rounds(c, m, room, out);
            /* Again: the calls in between ran on cached plans and warm buffers. */
            out->equal = sk_compare(c, keep);
        }
    }
    free(room);
    free(keep);
    return have;
}
