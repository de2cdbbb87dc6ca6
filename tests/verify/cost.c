/* cost.c: rounds, messages and bytes of every algorithm, against the formulas. Every algorithm of
 * the table must have a row here, but those on neighbourhoods: see cost_neighbor.c.
 *
 * Steps are counted along the longest chain of rounds that wait for each other. n is the data of
 * all blocks together, b one block. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { ANY = -1, BLOCK = 24, SEGMENT = 64 * 1024 };

typedef struct facts {
    const sk_algo *algo;
    int64_t p, lg, fl; /* ranks, and ceil and floor of their logarithm */
    bool pow2;
    int root;
    int64_t b, n;
    int64_t steps;
    sk_sched_stats *rank;
    long checks, failed;
} facts;

/* ---- a run in which every round takes one tick ---- */

typedef struct clocks {
    int64_t *now, *next;
} clocks;

static void tick_match(void *ctx, int from, int to, int64_t len)
{
    (void)len;
    clocks *c = ctx;
    if (c->next[to] < c->now[from])
        c->next[to] = c->now[from];
    if (c->next[from] < c->now[to])
        c->next[from] = c->now[to];
}

static void tick_round(void *ctx, int rank)
{
    clocks *c = ctx;
    int64_t start = c->now[rank] < c->next[rank] ? c->next[rank] : c->now[rank];
    c->now[rank] = c->next[rank] = start + 1;
}

static void no_reduce(void *ctx, const void *in, void *inout, int64_t n)
{
    (void)ctx, (void)in, (void)inout, (void)n;
}

static int64_t count_steps(const scene *sc, sk_sched *const *scheds)
{
    size_t p = (size_t)sc->k.p;
    clocks c = {calloc(p, sizeof(int64_t)), calloc(p, sizeof(int64_t))};
    sk_inproc *l = sk_inproc_new(sc->k.p, &(sk_inproc_hooks){.ctx = &c,
                                                             .reduce = no_reduce,
                                                             .match = tick_match,
                                                             .round_over = tick_round});
    sk_run *runs = calloc(p, sizeof *runs);
    char **mem = calloc(p, sizeof *mem);
    if (!c.now || !c.next || !l || !runs || !mem)
        abort();
    for (int r = 0; r < sc->k.p; r++) {
        size_t send = (size_t)sc->send[r].hi, recv = (size_t)sc->recv[r].hi;
        size_t scratch = (size_t)sk_sched_view(scheds[r])->scratch;
        mem[r] = calloc(1, send + recv + scratch + (size_t)sk_run_packet_bytes(scheds[r]) + 64);
        if (!mem[r])
            abort();
        char *at = mem[r] + sk_run_packet_bytes(scheds[r]);
        sk_run_init(&runs[r], scheds[r], sk_inproc_wire(l, r, scene_types), at, at + send,
                    at + send + recv, mem[r]);
    }
    int64_t steps = sk_inproc_run(l, runs) == SK_OK ? 0 : ANY;
    for (int r = 0; r < sc->k.p; r++) {
        if (steps != ANY && steps < c.now[r])
            steps = c.now[r];
        free(mem[r]);
    }
    sk_inproc_free(l);
    free(runs);
    free(mem);
    free(c.now);
    free(c.next);
    return steps;
}

/* ---- what is claimed ---- */

static void equal(facts *f, const char *what, int64_t got, int64_t want)
{
    if (want == ANY)
        return;
    f->checks++;
    if (got == want)
        return;
    f->failed++;
    printf("  FAIL %s %s p=%lld: %s %lld, formula %lld\n", sk_coll_name(f->algo->coll),
           f->algo->name, (long long)f->p, what, (long long)got, (long long)want);
}

static void steps(facts *f, int64_t want)
{
    equal(f, "steps", f->steps, want);
}

static void steps_at_most(facts *f, int64_t most)
{
    equal(f, "steps above the bound of", f->steps > most ? f->steps : most, most);
}

static void rank(facts *f, int64_t r, int64_t sends, int64_t recvs, int64_t out, int64_t in)
{
    equal(f, "sends", f->rank[r].sends, sends);
    equal(f, "receives", f->rank[r].recvs, recvs);
    equal(f, "bytes sent", f->rank[r].send_bytes, out);
    equal(f, "bytes received", f->rank[r].recv_bytes, in);
}

static void each(facts *f, int64_t sends, int64_t recvs, int64_t out, int64_t in)
{
    for (int64_t r = 0; r < f->p; r++)
        rank(f, r, sends, recvs, out, in);
}

static void all_sends(facts *f, int64_t sends, int64_t bytes)
{
    int64_t n = 0, sum = 0;
    for (int64_t r = 0; r < f->p; r++) {
        n += f->rank[r].sends;
        sum += f->rank[r].send_bytes;
    }
    equal(f, "sends of all ranks", n, sends);
    equal(f, "bytes of all ranks", sum, bytes);
}

static int64_t member(const facts *f, int64_t i)
{
    return (f->root + i) % f->p;
}

static void barrier_dissemination(facts *f)
{
    steps(f, f->lg);
    each(f, f->lg, f->lg, 0, 0);
}

static void bcast_binomial(facts *f)
{
    steps(f, f->lg);
    rank(f, f->root, f->lg, 0, f->lg * f->n, 0);
    for (int64_t i = 1; i < f->p; i++)
        rank(f, member(f, i), ANY, 1, ANY, f->n);
    all_sends(f, f->p - 1, (f->p - 1) * f->n);
}

static void bcast_scatter_doubling(facts *f)
{
    if (!f->pow2) {
        steps_at_most(f, f->lg + 2 * f->fl);
        return;
    }
    steps(f, 2 * f->lg);
    rank(f, f->root, 2 * f->lg, f->lg, 2 * (f->n - f->b), f->n - f->b);
}

static void bcast_scatter_ring(facts *f)
{
    steps(f, f->p > 1 ? f->lg + f->p - 1 : 0);
    rank(f, f->root, f->lg + f->p - 1, f->p - 1, 2 * (f->n - f->b), f->n - f->b);
}

static void bcast_chain(facts *f)
{
    int64_t m = (f->n + SEGMENT - 1) / SEGMENT;
    steps(f, f->p > 1 ? f->p - 2 + m : 0);
    for (int64_t i = 0; i < f->p; i++)
        rank(f, member(f, i), i < f->p - 1 ? m : 0, i ? m : 0, i < f->p - 1 ? f->n : 0,
             i ? f->n : 0);
}

static void scatter_binomial(facts *f)
{
    steps(f, f->lg);
    rank(f, f->root, f->lg, 0, f->n - f->b, 0);
    for (int64_t i = 1; i < f->p; i++)
        rank(f, member(f, i), ANY, 1, ANY, ANY);
    all_sends(f, f->p - 1, ANY);
}

static void scatter_linear(facts *f)
{
    rank(f, f->root, f->p - 1, 0, f->n - f->b, 0);
    for (int64_t i = 1; i < f->p; i++)
        rank(f, member(f, i), 0, 1, 0, f->b);
}

static void gather_binomial(facts *f)
{
    steps(f, f->lg);
    rank(f, f->root, 0, f->lg, 0, f->n - f->b);
    for (int64_t i = 1; i < f->p; i++)
        rank(f, member(f, i), 1, ANY, ANY, ANY);
    all_sends(f, f->p - 1, ANY);
}

static void gather_linear(facts *f)
{
    rank(f, f->root, 0, f->p - 1, 0, f->n - f->b);
    for (int64_t i = 1; i < f->p; i++)
        rank(f, member(f, i), 1, 0, f->b, 0);
}

/* The counts travel with the data: not a message more than where all know them. The kids are served
 * in one round, so what remains is the depth of the tree. */
static void scatterv_binomial(facts *f)
{
    steps(f, f->fl);
    rank(f, f->root, f->lg, 0, ANY, ANY);
    all_sends(f, f->p - 1, ANY);
}

static void gatherv_binomial(facts *f)
{
    steps(f, f->lg);
    rank(f, f->root, 0, f->lg, ANY, ANY);
    all_sends(f, f->p - 1, ANY);
}

static void allgather_ring(facts *f)
{
    steps(f, f->p - 1);
    each(f, f->p - 1, f->p - 1, f->n - f->b, f->n - f->b);
}

/* No byte comes twice, for any p. */
static void allgather_doubling(facts *f)
{
    if (f->pow2) {
        steps(f, f->lg);
        each(f, f->lg, f->lg, f->n - f->b, f->n - f->b);
    } else {
        steps_at_most(f, 2 * f->fl);
        each(f, ANY, ANY, ANY, f->n - f->b);
    }
}

static void allgather_bruck(facts *f)
{
    steps(f, f->lg);
    each(f, f->lg, f->lg, f->n - f->b, f->n - f->b);
}

static void allgather_neighbour(facts *f)
{
    bool odd = f->p % 2;
    steps(f, f->p == 1 ? 0 : odd ? (f->p + 3) / 2 : f->p / 2);
    each(f, odd ? ANY : f->p / 2, odd ? ANY : f->p / 2, odd ? ANY : f->n - f->b, f->n - f->b);
}

static void reduce_binomial(facts *f)
{
    steps(f, f->lg);
    rank(f, f->root, 0, f->pow2 ? f->lg : ANY, 0, ANY);
    for (int64_t i = 1; i < f->p; i++)
        rank(f, member(f, i), 1, ANY, f->n, ANY);
    all_sends(f, f->p - 1, (f->p - 1) * f->n);
}

static void reduce_rabenseifner(facts *f)
{
    steps(f, f->pow2 ? 2 * f->lg : 2 * f->fl + 1);
    if (f->pow2)
        rank(f, f->root, f->lg, 2 * f->lg, f->n - f->b, 2 * (f->n - f->b));
}

static void allreduce_doubling(facts *f)
{
    steps(f, f->pow2 ? f->lg : f->fl + 2);
    if (f->pow2)
        each(f, f->lg, f->lg, f->lg * f->n, f->lg * f->n);
}

static void allreduce_rabenseifner(facts *f)
{
    steps(f, f->pow2 ? 2 * f->lg : 2 * f->fl + 2);
    if (f->pow2)
        each(f, 2 * f->lg, 2 * f->lg, 2 * (f->n - f->b), 2 * (f->n - f->b));
}

static void allreduce_ring(facts *f)
{
    steps(f, 2 * (f->p - 1));
    each(f, 2 * (f->p - 1), 2 * (f->p - 1), 2 * (f->n - f->b), 2 * (f->n - f->b));
}

/* The paper sends n lg p - (p-1)/p n bytes; one stretch of p - 2d + 1 blocks at distance d is less.
 */
static void reduce_scatter_doubling(facts *f)
{
    steps(f, f->pow2 ? f->lg : f->fl + 2);
    if (!f->pow2)
        return;
    int64_t bytes = 0, paper = f->n * f->lg - (f->n - f->b);
    for (int64_t d = 1; d < f->p; d *= 2)
        bytes += (f->p - 2 * d + 1) * f->b;
    each(f, f->lg, f->lg, bytes, bytes);
    equal(f, "bytes above the paper's", bytes > paper ? bytes : paper, paper);
}

static void reduce_scatter_halving(facts *f)
{
    steps(f, f->lg);
    each(f, f->pow2 ? f->lg : ANY, f->pow2 ? f->lg : ANY, f->n - f->b, f->n - f->b);
}

static void pairwise(facts *f)
{
    steps(f, f->p - 1);
    each(f, f->p - 1, f->p - 1, f->n - f->b, f->n - f->b);
}

static void scattered(facts *f)
{
    steps(f, (f->p - 1 + 31) / 32);
    each(f, f->p - 1, f->p - 1, f->n - f->b, f->n - f->b);
}

static void alltoall_doubling(facts *f)
{
    int64_t all = (f->p - 1) * f->n;
    if (f->pow2) {
        steps(f, f->lg);
        each(f, f->lg, f->lg, all, all);
    } else {
        steps_at_most(f, 2 * f->fl);
        each(f, ANY, ANY, ANY, all);
    }
}

/* In round k go the blocks whose distance has bit k: n/2 for powers of two. */
static void alltoall_bruck(facts *f)
{
    int64_t blocks = 0;
    for (int64_t d = 1; d < f->p; d++)
        for (int64_t rest = d; rest; rest /= 2)
            blocks += rest % 2;
    steps(f, f->lg);
    each(f, f->lg, f->lg, blocks * f->b, blocks * f->b);
    if (f->pow2)
        equal(f, "blocks", blocks * f->b, f->lg * f->n / 2);
}

static void scan_doubling(facts *f)
{
    steps(f, f->lg);
    for (int64_t r = 0; r < f->p; r++) {
        int64_t sends = 0, recvs = 0;
        for (int64_t d = 1; d < f->p; d *= 2) {
            sends += r + d < f->p;
            recvs += r - d >= 0;
        }
        rank(f, r, sends, recvs, sends * f->n, recvs * f->n);
    }
}

static void scan_linear(facts *f)
{
    steps(f, f->p - 1);
    for (int64_t r = 0; r < f->p; r++)
        rank(f, r, r<f->p - 1, r> 0, r < f->p - 1 ? f->n : 0, r > 0 ? f->n : 0);
}

static const struct row {
    sk_coll coll;
    const char *name;
    void (*claim)(facts *f);
} rows[] = {
    {SK_BARRIER, "dissemination", barrier_dissemination},
    {SK_BCAST, "binomial", bcast_binomial},
    {SK_BCAST, "scatter-doubling", bcast_scatter_doubling},
    {SK_BCAST, "scatter-ring", bcast_scatter_ring},
    {SK_BCAST, "chain", bcast_chain},
    {SK_SCATTER, "binomial", scatter_binomial},
    {SK_SCATTER, "linear", scatter_linear},
    {SK_SCATTERV, "binomial", scatterv_binomial},
    {SK_SCATTERV, "linear", scatter_linear},
    {SK_GATHER, "binomial", gather_binomial},
    {SK_GATHER, "linear", gather_linear},
    {SK_GATHERV, "binomial", gatherv_binomial},
    {SK_GATHERV, "linear", gather_linear},
    {SK_ALLGATHER, "ring", allgather_ring},
    {SK_ALLGATHER, "doubling", allgather_doubling},
    {SK_ALLGATHER, "bruck", allgather_bruck},
    {SK_ALLGATHER, "neighbour", allgather_neighbour},
    {SK_ALLGATHERV, "ring", allgather_ring},
    {SK_ALLGATHERV, "doubling", allgather_doubling},
    {SK_ALLGATHERV, "bruck", allgather_bruck},
    {SK_ALLGATHERV, "neighbour", allgather_neighbour},
    {SK_ALLTOALL, "doubling", alltoall_doubling},
    {SK_ALLTOALL, "bruck", alltoall_bruck},
    {SK_ALLTOALL, "pairwise", pairwise},
    {SK_ALLTOALL, "scattered", scattered},
    {SK_ALLTOALLV, "pairwise", pairwise},
    {SK_ALLTOALLV, "scattered", scattered},
    {SK_ALLTOALLW, "pairwise", pairwise},
    {SK_ALLTOALLW, "scattered", scattered},
    {SK_REDUCE, "binomial", reduce_binomial},
    {SK_REDUCE, "rabenseifner", reduce_rabenseifner},
    {SK_ALLREDUCE, "doubling", allreduce_doubling},
    {SK_ALLREDUCE, "rabenseifner", allreduce_rabenseifner},
    {SK_ALLREDUCE, "ring", allreduce_ring},
    {SK_REDUCE_SCATTER, "doubling", reduce_scatter_doubling},
    {SK_REDUCE_SCATTER, "halving", reduce_scatter_halving},
    {SK_REDUCE_SCATTER, "pairwise", pairwise},
    {SK_REDUCE_SCATTER_BLOCK, "doubling", reduce_scatter_doubling},
    {SK_REDUCE_SCATTER_BLOCK, "halving", reduce_scatter_halving},
    {SK_REDUCE_SCATTER_BLOCK, "pairwise", pairwise},
    {SK_SCAN, "doubling", scan_doubling},
    {SK_SCAN, "linear", scan_linear},
    {SK_EXSCAN, "doubling", scan_doubling},
    {SK_EXSCAN, "linear", scan_linear},
};

/* Blocks of BLOCK bytes, or a vector of p times that: contiguous, so that nothing is packed. */
static void measure(facts *f, const struct row *row, int p, int root)
{
    bool chain = strcmp(f->algo->name, "chain") == 0;
    bool blocks = f->algo->coll == SK_REDUCE_SCATTER || f->algo->coll == SK_REDUCE_SCATTER_BLOCK;
    bool vector = f->algo->coll == SK_BCAST || (coll_reduces(f->algo->coll) && !blocks);
    int64_t unit = coll_reduces(f->algo->coll) ? 8 : 1;
    kase k = {.coll = f->algo->coll, .p = p, .root = root, .lay = LAY_PLAIN};
    k.units = BLOCK / unit * (vector ? p : 1);
    if (chain)
        k.units = 3 * SEGMENT + 1;
    char why[256];
    scene *sc = scene_new(&k);
    sk_sched **scheds = sc ? scheds_build(f->algo, sc, why, sizeof why) : NULL;
    f->rank = calloc((size_t)p, sizeof *f->rank);
    if (!scheds || !f->rank)
        abort();
    for (int r = 0; r < p; r++)
        f->rank[r] = sk_sched_count(scheds[r]);
    f->p = p;
    f->root = root;
    for (f->fl = 0; 2 << f->fl <= p; f->fl++)
        ;
    f->pow2 = 1 << f->fl == p;
    f->lg = f->fl + !f->pow2;
    f->b = BLOCK;
    f->n = chain ? k.units : (int64_t)BLOCK * p;
    f->steps = count_steps(sc, scheds);
    row->claim(f);
    free(f->rank);
    scheds_free(scheds, p);
    scene_free(sc);
}

/* Those are counted by cost_shared.c and cost_leaders.c. */
static bool needs_machine(const sk_algo *a)
{
    kase k = {.coll = a->coll, .p = 4, .units = 8};
    scene *sc = scene_new(&k);
    if (!sc)
        abort();
    bool fits = !a->fits || a->fits(&sc->call[0]);
    scene_free(sc);
    return !fits;
}

int main(void)
{
    static const int large[] = {64, 100, 128, 257};
    long checks = 0, failed = 0;
    for (const sk_algo *const *a = sk_algos(); *a; a++) {
        if (sk_coll_neighbor((*a)->coll) || needs_machine(*a))
            continue;
        facts f = {.algo = *a};
        const struct row *row = NULL;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (rows[i].coll == (*a)->coll && strcmp(rows[i].name, (*a)->name) == 0)
                row = &rows[i];
        if (!row) {
            printf("  FAIL %s %s has no row\n", sk_coll_name((*a)->coll), (*a)->name);
            failed++;
            continue;
        }
        bool rooted = coll_is_rooted((*a)->coll);
        for (int p = 1; p <= 40; p++)
            for (int root = 0; root < (rooted ? p : 1); root += 1 + p / 8)
                measure(&f, row, p, root);
        for (int i = 0; i < 4; i++)
            if (!strstr((*a)->name, "chain"))
                measure(&f, row, large[i], rooted ? large[i] / 3 : 0);
        printf("%-20s %-17s %7ld values right, %ld wrong\n", sk_coll_name((*a)->coll), (*a)->name,
               f.checks - f.failed, f.failed);
        checks += f.checks - f.failed;
        failed += f.failed;
    }
    printf("%ld passed, %ld failed\n", checks, failed);
    return failed || !checks;
}
