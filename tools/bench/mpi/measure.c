/* measure.c: compares results, warms up, then measures rounds. The ratio is taken within a round, so
 * that a slow drift cancels out. */
#include "bench/mpi/measure.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_ROUNDS = 3, MIN_TRAIN = 2, MAX_TRAIN = 100, MAX_TRAINS = 4 };

/* A shorter train of short calls is mostly its start: ranks that share cores need some time until
 * they alternate. */
enum { GOOD_TRAIN_US = 20000 };

/* Whether every sample makes a communicator. */
static bool makes_comms(const sk_measurement *m)
{
    return m->sampler.conditions.phase == SK_COLD || m->sampler.conditions.phase == SK_LIFE;
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

/* Makes the call whose result is compared: on a new communicator the last one. */
static void one_call(sk_case *c, const sk_measurement *m, bool host)
{
    if (makes_comms(m)) {
        sk_case_bind(c, host, sk_case_new_comm(c, host));
        for (int i = 1; i < m->sampler.conditions.calls; i++)
            sk_case_run(c, host);
    }
    sk_case_reset(c);
    sk_case_run(c, host);
    if (makes_comms(m)) {
        sk_case_unbind(c, host);
        sk_case_free_comm(c->comm[host], host);
    }
}

/* The right result, in c->recv, if there is another way to it than the host's call itself: by the
 * definition, or by the host's blocking call. Some versions of MPICH are wrong in
 * neighbor_alltoallw, and in persistent gather, scatter and allgather from the second start on. */
static bool find_right(sk_case *c)
{
    if (c->neighborhood) {
        sk_case_neighbor_expect(c, c->recv);
    } else {
        sk_case_reset(c);
        sk_case_run_blocking_host(c);
    }
    return c->neighborhood || c->form != SK_BLOCKING;
}

static sk_equality worst_of_all(sk_equality mine)
{
    int v = (int)mine, all;
    PMPI_Allreduce(&v, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return (sk_equality)all;
}

/* Makes a call of each side and compares the results; what all ranks agree on. `keep` has
 * check_bytes bytes. Collective over MPI_COMM_WORLD. */
static sk_equality compare(sk_case *c, const sk_measurement *m, char *keep)
{
    one_call(c, m, false);
    memcpy(keep, c->recv, c->check_bytes);
    one_call(c, m, true);
    int64_t at = sk_first_difference(keep, c->recv, c->check_bytes);
    if (worst_of_all(at < 0 ? SK_EQUAL : SK_SKEIN_WRONG) == SK_EQUAL)
        return SK_EQUAL;
    sk_equality mine = at < 0 ? SK_EQUAL : SK_SKEIN_WRONG;
    if (find_right(c) && at >= 0 && sk_first_difference(keep, c->recv, c->check_bytes) < 0)
        mine = SK_HOST_WRONG;
    if (mine == SK_SKEIN_WRONG)
        fprintf(stderr, "wrong result: %s of %lld bytes on %d ranks: rank %d, byte %lld of %zu\n",
                sk_coll_name(c->coll), (long long)c->bytes, c->nranks, c->rank, (long long)at,
                c->check_bytes);
    report_host(c, mine == SK_HOST_WRONG);
    return worst_of_all(mine);
}

/* The decision of rank 0, so that all ranks take the same branch. */
static bool decide_at_0(bool at_rank_0)
{
    int yes = at_rank_0;
    PMPI_Bcast(&yes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return yes;
}

/* Seconds of one call of each side together: the best seen, because on a shared machine one
 * interruption would otherwise shrink the whole measurement. Slow calls get fewer warm-up calls. Nonblocking
 * ones are compared over several blocking calls. The calls of a side follow each other, as in the trains that are timed
 * later: Skein compares them meanwhile. */
static double warm_up(sk_case *c, const sk_measurement *m)
{
    enum { MOST_CHUNK = 32, COMPARED = 512 };
    bool compared = c->form == SK_NONBLOCKING && m->warmup > 0;
    int warmup = compared ? COMPARED : m->warmup;
    double begin = sk_clock_now(m->sampler.clock), pair = DBL_MAX;
    for (int done = 0, chunk = 1; done < warmup; done += chunk) {
        if (done > 0)
            chunk = done < warmup - done ? done : warmup - done;
        if (compared && chunk > MOST_CHUNK)
            chunk = MOST_CHUNK;
        sk_case_agree(c);
        double t = sk_clock_now(m->sampler.clock);
        for (int side = 0; side < SK_SIDES; side++)
            for (int i = 0; i < chunk; i++)
                sk_case_run(c, side == SK_HOST);
        double now = sk_clock_now(m->sampler.clock);
        if ((now - t) / chunk < pair)
            pair = (now - t) / chunk;
        if (done + chunk >= m->least && !decide_at_0(now - begin < m->budget / 4))
            break;
    }
    return pair;
}

/* So many single calls that Skein has found out what is best for them: slow ones may take longer for that. */
static void warm_up_singles(sk_case *c, const sk_measurement *m)
{
    enum { LEAST = 3, MOST = 20 };
    double begin = sk_clock_now(m->sampler.clock), took = 0, us[SK_SIDES];
    for (int i = 0; i < MOST && decide_at_0(took < m->budget / (i < LEAST ? 1 : 4)); i++) {
        sk_sample_singles(c, &m->sampler, SK_MAX_SINGLES, i, us);
        took = sk_clock_now(m->sampler.clock) - begin;
    }
}

static int clamp(double x, int lo, int hi)
{
    return x < lo ? lo : x > hi ? hi : (int)x;
}

/* How many calls fit into a round: half of its time for single calls with their barriers, half for
 * trains. There are several trains, because their median survives an interruption, but not at the
 * cost of their length: a train of GOOD_TRAIN_US is made even where it takes more than its time.
 * `pair`: seconds of a call of each side. */
static sk_round_plan plan_warm(sk_case *c, const sk_measurement *m, double pair)
{
    double share = 0.75 * m->budget / m->rounds / 2, single_pair = DBL_MAX, us[SK_SIDES];
    int tries = 3;
    do {
        double t = sk_clock_now(m->sampler.clock);
        sk_sample_singles(c, &m->sampler, 1, tries, us);
        t = sk_clock_now(m->sampler.clock) - t;
        single_pair = t < single_pair ? t : single_pair;
    } while (decide_at_0(--tries > 0 && pair < share));

    pair += 3e-6 * m->sampler.gap_us + 1e-9; /* once without a call */
    double calls = share / pair;
    int least = clamp(2e-6 * GOOD_TRAIN_US / pair, MIN_TRAIN, MAX_TRAIN);
    sk_round_plan p = {.singles = clamp(share / (single_pair + 1e-9), 1, SK_MAX_SINGLES),
                       .samples = clamp(calls / least, 1, MAX_TRAINS)};
    p.train = clamp(calls / p.samples, least, MAX_TRAIN);
    return p;
}

/* How many communicators can be made in a round; cold ones are few. */
static sk_round_plan plan_comms(sk_case *c, const sk_measurement *m)
{
    sk_round_plan p = {.samples = 1, .train = m->sampler.conditions.calls};
    double pair = DBL_MAX;
    if (m->sampler.conditions.phase == SK_COLD)
        return p;
    for (int i = 0; i < 3; i++) {
        sk_bench_round ignored;
        double t = sk_clock_now(m->sampler.clock);
        sk_sample_round(c, &m->sampler, p, i, &ignored);
        t = sk_clock_now(m->sampler.clock) - t;
        pair = t < pair ? t : pair;
    }
    p.samples = clamp(0.75 * m->budget / m->rounds / (pair + 1e-9), 1, SK_MAX_SAMPLES);
    return p;
}

/* us of a call of the host, at all ranks: the least of some trains. */
static double host_call_us(sk_case *c, const sk_measurement *m, int train)
{
    double least = DBL_MAX;
    for (int i = 0; i < 3; i++) {
        double us = sk_sample_train(c, &m->sampler, true, train);
        least = us < least ? us : least;
    }
    PMPI_Bcast(&least, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return least;
}

/* The plan of rank 0; the computation of overlap is as long as a call of the host. */
static sk_round_plan plan_round(sk_case *c, sk_measurement *m)
{
    if (m->sampler.single)
        warm_up_singles(c, m);
    sk_round_plan p = makes_comms(m) ? plan_comms(c, m) : plan_warm(c, m, warm_up(c, m));
    PMPI_Bcast(&p, sizeof p, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (m->sampler.conditions.phase == SK_OVERLAP && m->sampler.gap_us <= 0)
        m->sampler.gap_us = host_call_us(c, m, p.train);
    return p;
}

/* Medians over the rounds, and the spread of the ratios. `v` has room for the rounds. */
static double median_of(const sk_bench_round *r, int n, double *v, size_t member)
{
    for (int i = 0; i < n; i++)
        memcpy(&v[i], (const char *)&r[i] + member, sizeof *v);
    return sk_median(v, n);
}

/* `paired`: a round has one sample of each side, and the next round has them in the opposite order. Who comes
 * second finds the ranks as the first left them, so only two rounds together are fair. */
static sk_timing summary(const sk_bench_round *r, int n, bool paired, int time, double *v)
{
    sk_timing t = {.skein_us = median_of(r, n, v, offsetof(sk_bench_round, us[time][SK_SKEIN])),
                   .host_us = median_of(r, n, v, offsetof(sk_bench_round, us[time][SK_HOST]))};
    for (int i = 0; i < n; i++)
        v[i] = r[i].us[time][SK_HOST] / r[i].us[time][SK_SKEIN];
    int pairs = paired ? n / 2 : 0;
    for (int i = 0; i < pairs; i++)
        v[i] = sqrt(v[2 * i] * v[2 * i + 1]);
    t.ratio = sk_spread_of(v, pairs > 0 ? pairs : n);
    return t;
}

static void time_rounds(sk_case *c, sk_measurement *m, sk_bench_round *rounds, double *v,
                        sk_point *out)
{
    double begin = sk_clock_now(m->sampler.clock);
    sk_round_plan plan = plan_round(c, m);
    int n = 0;
    if (m->sampler.conditions.phase == SK_COLD)
        m->rounds = clamp(m->rounds, 1, SK_MAX_COLD);
    do {
        sk_sample_round(c, &m->sampler, plan, n, &rounds[n]);
        n++;
    } while (n < m->rounds && decide_at_0(n < MIN_ROUNDS || sk_clock_now(m->sampler.clock) - begin <
                                                                1.5 * m->budget));
    out->rounds = n;
    out->singles = makes_comms(m) ? plan.samples : plan.singles;
    out->train = plan.train;
    for (int t = 0; t < SK_TIMES; t++)
        out->time[t] = summary(rounds, n, plan.samples == 1, t, v);
    for (int side = 0; side < SK_SIDES; side++)
        out->overlap[side] = median_of(rounds, n, v, offsetof(sk_bench_round, overlap[side]));
}

/* Single calls are too few for Skein to begin serving a communicator; it does before a reduction that may round. */
static void have_served(MPI_Comm comm)
{
    double one = 1, sum;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
}

bool sk_measure_point(sk_case *c, const sk_measurement *m, sk_point *out)
{
    bool cold = m->sampler.conditions.phase == SK_COLD; /* no call before those that are timed */
    sk_comm_list used = {.n = {0}};
    sk_measurement mine = *m;
    mine.sampler.used = &used;
    MPI_Comm single[SK_SIDES];
    bool apart =
        m->sampler.conditions.phase == SK_WARM && c->form == SK_BLOCKING && !c->neighborhood;
    for (int side = 0; apart && side < SK_SIDES; side++)
        single[side] = sk_case_new_comm(c, side == SK_HOST);
    if (apart)
        have_served(single[SK_SKEIN]);
    mine.sampler.single = apart ? single : NULL;
    char *keep = malloc(c->check_bytes + 1);
    sk_bench_round *rounds = calloc((size_t)m->rounds, sizeof *rounds);
    double *v = calloc((size_t)m->rounds, sizeof *v);
    int here = keep && rounds && v, have;
    PMPI_Allreduce(&here, &have, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (have && keep && rounds && v) {
        *out = (sk_point){.coll = c->coll, .bytes = c->bytes, .empty_us = m->empty_us};
        out->equal = cold ? SK_EQUAL : compare(c, m, keep);
        if (out->equal != SK_SKEIN_WRONG) {
            time_rounds(c, &mine, rounds, v, out);
            sk_sample_free(&used);
            /* Again: the calls in between ran on cached plans and warm buffers. */
            sk_equality again = compare(c, m, keep);
            out->equal = again < out->equal ? again : out->equal;
        }
    }
    for (int side = 0; apart && side < SK_SIDES; side++)
        sk_case_free_comm(single[side], side == SK_HOST);
    free(v);
    free(rounds);
    free(keep);
    return have;
}
