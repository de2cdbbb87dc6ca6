/* samples.c: see samples.h. The order of the two sides changes from sample to sample and from round
 * to round, so that a disturbance of the machine affects both. */
#include "bench/mpi/samples.h"

#include <math.h>

#include "bench/stats.h"

/* Which side goes first at the i-th time in a round: pseudo-random, the same on all ranks, because
 * a fixed pattern could synchronize with the scheduler. Two consecutive ones are opposite, so that
 * each side is first equally often: A B B A A B B A. */
static int first_side(int round, int i)
{
    uint32_t x = (uint32_t)round * 4096 + (uint32_t)i / 2 + 1;
    x ^= x << 13;
    x *= 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    return (int)((x >> 16 ^ (uint32_t)i) & 1);
}

/* ---- single calls ---- */

enum { ENTRY, EXIT, LATE, PER_CALL }; /* the record of a single call */

/* `c` NULL: a call that does nothing. */
static void time_one(sk_case *c, const sk_sampler *s, bool host, double t[PER_CALL])
{
    double moment;
    if (c)
        sk_case_prepare(c);
    t[LATE] = !sk_start_together(s->clock, s->start, &moment);
    t[ENTRY] = -sk_clock_now(s->clock);
    if (c)
        sk_case_run(c, host);
    t[EXIT] = sk_clock_now(s->clock);
    sk_start_rest(s->clock, s->start, moment);
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

double sk_sample_empty(const sk_sampler *s)
{
    enum { TIMES = 50 };
    double times[PER_CALL * TIMES], span[TIMES];
    for (int i = 0; i < TIMES; i++)
        time_one(NULL, s, false, times + PER_CALL * i);
    reduce_to_0(times, TIMES);
    for (int i = 0; i < TIMES; i++)
        span[i] = span_us(times + PER_CALL * i);
    return sk_median(span, TIMES);
}

static void swap_comms(sk_case *c, const sk_sampler *s)
{
    for (int side = 0; s->single && side < SK_SIDES; side++) {
        MPI_Comm comm = c->comm[side];
        c->comm[side] = s->single[side];
        s->single[side] = comm;
    }
}

/* A call that a rank started late is left out, unless all calls were late. */
void sk_sample_singles(sk_case *c, const sk_sampler *s, int n, int number, double us[SK_SIDES])
{
    double times[SK_SIDES * PER_CALL * SK_MAX_SINGLES], span[SK_MAX_SINGLES];
    swap_comms(c, s);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < SK_SIDES; k++) {
            int side = (first_side(number, i) + k) % SK_SIDES;
            time_one(c, s, side == SK_HOST, times + PER_CALL * (i * SK_SIDES + side));
        }
    sk_case_agree(c);
    swap_comms(c, s);
    reduce_to_0(times, SK_SIDES * n);
    for (int side = 0; side < SK_SIDES; side++) {
        int count = 0;
        for (int late = 0; late < 2 && count == 0; late++)
            for (int i = 0; i < n; i++) {
                const double *t = times + PER_CALL * (i * SK_SIDES + side);
                if (t[LATE] <= late)
                    span[count++] = span_us(t);
            }
        us[side] = sk_median(span, count);
    }
}

/* ---- many calls, and what else is timed as a whole ---- */

typedef void body_fn(sk_case *c, const sk_sampler *s, bool host, int n);

static void between(sk_case *c, const sk_sampler *s)
{
    sk_case_prepare(c);
    sk_work_do(s->work, s->gap_us);
}

static void only_between(sk_case *c, const sk_sampler *s, bool host, int n)
{
    (void)host;
    for (int i = 0; i < n; i++)
        between(c, s);
}

static void calls(sk_case *c, const sk_sampler *s, bool host, int n)
{
    for (int i = 0; i < n; i++) {
        between(c, s);
        sk_case_run(c, host);
    }
}

static void bare_calls(sk_case *c, const sk_sampler *s, bool host, int n)
{
    (void)s;
    for (int i = 0; i < n; i++) {
        sk_case_prepare(c);
        sk_case_run(c, host);
    }
}

static void overlapped_calls(sk_case *c, const sk_sampler *s, bool host, int n)
{
    for (int i = 0; i < n; i++) {
        sk_case_prepare(c);
        sk_case_start(c, host);
        sk_work_do(s->work, s->gap_us);
        sk_case_wait(c, host);
    }
}

/* The first calls on the communicator; a persistent request is made before them. */
static void first_calls(sk_case *c, const sk_sampler *s, bool host, int n)
{
    sk_case_bind(c, host, c->comm[host]);
    calls(c, s, host, n);
}

static void life(sk_case *c, const sk_sampler *s, bool host, int n)
{
    c->comm[host] = sk_case_new_comm(c, host);
    first_calls(c, s, host, n);
    sk_case_unbind(c, host);
    sk_case_free_comm(c->comm[host], host);
}

/* From a common start to the last end, in us, at rank 0. */
static double time_us(body_fn *body, sk_case *c, const sk_sampler *s, bool host, int n)
{
    double t[2], all[2] = {0, 0}, moment;
    sk_start_together(s->clock, s->start, &moment);
    t[0] = -sk_clock_now(s->clock);
    body(c, s, host, n);
    t[1] = sk_clock_now(s->clock);
    PMPI_Reduce(t, all, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return 1e6 * (all[0] + all[1]);
}

double sk_sample_train(sk_case *c, const sk_sampler *s, bool host, int n)
{
    return time_us(bare_calls, c, s, host, n) / n;
}

/* A time without that of the computation beside; what is too short to be seen is not 0. */
static double net(double us, double alone)
{
    return fmax(us - alone, 0.01);
}

/* One sample: the times of the phase. `alone`: us of what is between two calls. */
static void sample(sk_case *c, const sk_sampler *s, bool host, int n, double alone,
                   double us[SK_TIMES])
{
    switch (s->conditions.phase) {
    case SK_COLD:
        c->comm[host] = sk_case_new_comm(c, host);
        us[0] = net(time_us(first_calls, c, s, host, 2) / 2, alone);
        us[1] = net(time_us(calls, c, s, host, n - 2) / (n - 2), alone);
        sk_case_unbind(c, host);
        s->used->comm[host][s->used->n[host]++] = c->comm[host];
        break;
    case SK_LIFE:
        us[0] = time_us(life, c, s, host, 0);
        us[1] = net(time_us(life, c, s, host, n), n * alone);
        break;
    case SK_OVERLAP:
        us[0] = sk_sample_train(c, s, host, n);
        us[1] = time_us(overlapped_calls, c, s, host, n) / n;
        break;
    default: /* warm: the first time is that of single calls */
        us[0] = 0;
        us[1] = net(time_us(calls, c, s, host, n) / n, alone);
        if (!host)
            sk_case_agree(c);
        break;
    }
}

void sk_sample_free(sk_comm_list *used)
{
    for (int side = 0; side < SK_SIDES; side++)
        while (used->n[side] > 0)
            sk_case_free_comm(used->comm[side][--used->n[side]], side == SK_HOST);
}

/* Which part of the shorter one, of call and computation, went on during the other. */
static double overlap(double call, double compute, double together)
{
    return fmin(fmax((call + compute - together) / fmin(call, compute), 0), 1);
}

/* us of what is between two calls: the least of some trains, because this is taken off all times. */
static double time_alone(sk_case *c, const sk_sampler *s, sk_round_plan plan)
{
    double least = INFINITY;
    if (s->gap_us <= 0 && s->conditions.buffers != SK_WRITTEN)
        return 0;
    for (int i = 0; i < plan.samples; i++)
        least = fmin(least, time_us(only_between, c, s, false, plan.train) / plan.train);
    return least;
}

void sk_sample_round(sk_case *c, const sk_sampler *s, sk_round_plan plan, int number,
                     sk_bench_round *out)
{
    double us[SK_TIMES][SK_SIDES][SK_MAX_SAMPLES], one[SK_TIMES];
    double alone = time_alone(c, s, plan);
    for (int i = 0; i < plan.samples; i++)
        for (int k = 0; k < SK_SIDES; k++) {
            int time = number * plan.samples + i; /* one in a round: pairs of rounds are opposite */
            int side = (first_side(time / 2, time) + k) % SK_SIDES;
            sample(c, s, side == SK_HOST, plan.train, alone, one);
            for (int t = 0; t < SK_TIMES; t++)
                us[t][side][i] = one[t];
        }
    for (int side = 0; side < SK_SIDES; side++) {
        for (int t = 0; t < SK_TIMES; t++)
            out->us[t][side] = sk_median(us[t][side], plan.samples);
        out->overlap[side] = s->conditions.phase == SK_OVERLAP
                                 ? overlap(out->us[0][side], alone, out->us[1][side])
                                 : 0;
    }
    if (s->conditions.phase == SK_WARM)
        sk_sample_singles(c, s, plan.singles, number, out->us[0]);
}
