/* cost_shared.c: epochs, copies and takes of the algorithms for one node, against formulas: p ranks,
 * n bytes of a block or vector, epochs of C or, combining, F bytes. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "coll/phase/intra.h"

enum { ROOM = 512 << 10, ANY = -1 };

typedef struct facts {
    const sk_algo *algo;
    kase k;
    int64_t p, rank, n;
    int64_t C, F; /* bytes of an epoch: moving, combining */
    bool crowded, root;
    bool is_short;
    sk_sched_stats got; /* of this rank, as are these: */
    int64_t nrounds;
    int64_t take_bytes; /* of all ranks */
    long checks, failed;
} facts;

static void equal(facts *f, const char *what, int64_t got, int64_t want)
{
    char text[256];
    if (want == ANY)
        return;
    f->checks++;
    if (got == want)
        return;
    f->failed++;
    kase_print(&f->k, text, sizeof text);
    printf("  FAIL %s %s rank %d: %s %lld, formula %lld\n", f->algo->name, text, (int)f->rank, what,
           (long long)got, (long long)want);
}

static int64_t ceiling(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static void moves(facts *f, int64_t epochs, int64_t copies, int64_t copied, int64_t takes,
                  int64_t taken)
{
    equal(f, "turns", f->got.epochs, epochs);
    equal(f, "copies", f->got.copies, copies);
    equal(f, "bytes copied", f->got.copy_bytes, copied);
    equal(f, "takes", f->got.takes, takes);
    equal(f, "bytes taken", f->got.take_bytes, taken);
}

static void messages(facts *f, int64_t sends, int64_t recvs)
{
    equal(f, "sends", f->got.sends, sends);
    equal(f, "receives", f->got.recvs, recvs);
}

/* One node needs no scratch for plain data, and no messages unless said so. */
static void plain(facts *f)
{
    equal(f, "scratch", f->got.scratch, 0);
    messages(f, 0, 0);
}

static void rounds(facts *f, int64_t want)
{
    equal(f, "rounds", f->nrounds, f->is_short ? want : ANY);
}

/* ---- moving ---- */

static void claim_barrier(facts *f)
{
    plain(f);
    moves(f, 1, 0, 0, 0, 0);
    rounds(f, 1);
}

static void claim_bcast(facts *f)
{
    int64_t t = ceiling(f->n, f->C);
    plain(f);
    moves(f, t, f->root ? t : 0, f->root ? f->n : 0, f->root ? 0 : t, f->root ? 0 : f->n);
    rounds(f, f->root ? 2 : 1);
}

static void claim_bcast_single_copy(facts *f)
{
    plain(f);
    moves(f, 1, 0, 0, !f->root, f->root ? 0 : f->n);
    rounds(f, f->root ? 3 : 1);
}

/* The epochs of p-1 blocks, whole ones, or pieces of one. */
static int64_t dealt(const facts *f)
{
    return f->n <= f->C ? ceiling(f->p - 1, f->C / f->n) : (f->p - 1) * ceiling(f->n, f->C);
}

static void claim_scatter(facts *f)
{
    int64_t t = ceiling(f->n, f->C);
    plain(f);
    moves(f, dealt(f), f->root ? ANY : 0, f->root ? f->p * f->n : 0, f->root ? 0 : t,
          f->root ? 0 : f->n);
    rounds(f, f->root ? 2 : 1);
}

static void claim_scatter_single_copy(facts *f)
{
    plain(f);
    moves(f, 1, f->root, f->root ? f->n : 0, !f->root, f->root ? 0 : f->n);
}

/* A long block is a message. */
static void claim_slots(facts *f, int64_t epochs, int64_t out, int64_t in, bool own)
{
    int64_t copies = (f->is_short ? out : 0) + own, takes = f->is_short ? in : 0;
    equal(f, "scratch", f->got.scratch, 0);
    messages(f, f->is_short ? 0 : out, f->is_short ? 0 : in);
    moves(f, epochs, copies, copies * f->n, takes, takes * f->n);
    rounds(f, out ? 2 : 1);
}

static void claim_scatterv(facts *f)
{
    claim_slots(f, 3, f->root ? f->p - 1 : 0, !f->root, f->root);
}

static void claim_gatherv(facts *f)
{
    claim_slots(f, 2, !f->root, f->root ? f->p - 1 : 0, f->root);
}

static void claim_alltoallv(facts *f)
{
    claim_slots(f, 1, f->p - 1, f->p - 1, true);
}

/* By way of the common slot the root takes all blocks before its own, and all after it. */
static void claim_gather(facts *f)
{
    bool common = f->crowded && f->is_short, edge = f->k.root == 0 || f->k.root == f->p - 1;
    int64_t t = ceiling(f->n, f->C), takes = common ? (edge ? 1 : 2) : (f->p - 1) * t;
    plain(f);
    if (f->root)
        moves(f, t, 1, f->n, takes, (f->p - 1) * f->n);
    else
        moves(f, t, t, f->n, 0, 0);
    rounds(f, f->root ? 1 : 2);
}

static void claim_gather_single_copy(facts *f)
{
    plain(f);
    moves(f, 1, f->root, f->root ? f->n : 0, f->root ? f->p - 1 : 0,
          f->root ? (f->p - 1) * f->n : 0);
}

static void claim_allgather(facts *f)
{
    int64_t t = ceiling(f->n, f->C);
    plain(f);
    if (f->crowded && f->is_short)
        moves(f, 1, 1, f->n, 1, f->p * f->n);
    else
        moves(f, t, t + 1, 2 * f->n, (f->p - 1) * t, (f->p - 1) * f->n);
    rounds(f, 2);
}

static void claim_all_single_copy(facts *f)
{
    plain(f);
    moves(f, 1, 1, f->n, f->p - 1, (f->p - 1) * f->n);
    rounds(f, 3);
}

static void claim_alltoall(facts *f)
{
    plain(f);
    moves(f, dealt(f), ANY, f->p * f->n, (f->p - 1) * ceiling(f->n, f->C), (f->p - 1) * f->n);
    rounds(f, 2);
}

/* ---- combining ---- */

/* Long: every byte of all vectors is combined once, by one rank, and the result is taken. */
static void claim_parts(facts *f, int64_t takers)
{
    int64_t t = ceiling(f->n, f->F);
    moves(f, 2 * t, t, f->n, ANY, ANY);
    equal(f, "bytes taken by all", f->take_bytes, (f->p + takers) * f->n);
}

static void claim_allreduce(facts *f)
{
    plain(f);
    rounds(f, 2);
    if (f->is_short)
        moves(f, 1, 1, f->n, 1, f->n);
    else
        claim_parts(f, f->p);
}

static void claim_reduce(facts *f)
{
    plain(f);
    rounds(f, 2);
    if (f->is_short)
        moves(f, 1, 1, f->n, f->root ? f->p : 0, f->root ? f->p * f->n : 0);
    else
        claim_parts(f, 1);
}

/* Here n is a block, the vector has p of them. */
static void claim_reduce_scatter(facts *f)
{
    int64_t each = f->F / f->p / SK_CACHE_LINE * SK_CACHE_LINE;
    int64_t t = f->p * f->n <= f->F ? 1 : ceiling(f->n, each);
    plain(f);
    rounds(f, 2);
    moves(f, t, f->p * f->n <= f->F ? 1 : f->p * t, f->p * f->n, f->p * t, f->p * f->n);
}

/* Long: every rank works out a part of all prefixes: it takes and combines what adds up to the
 * vectors that count, and all but the first take their prefix. */
static void claim_scan(facts *f)
{
    bool scan = f->algo->coll == SK_SCAN, first = f->rank == 0;
    int64_t below = first ? 0 : f->rank + scan, own = first && scan;
    plain(f);
    if (f->is_short) {
        bool gives = scan || f->rank < f->p - 1; /* nobody needs the last one's for exscan */
        rounds(f, 1 + gives);
        moves(f, 1, gives + own, (gives + own) * f->n, below, below * f->n);
        return;
    }
    rounds(f, 2);
    int64_t each = f->F / f->p / SK_CACHE_LINE * SK_CACHE_LINE, t = ceiling(f->n, f->p * each);
    int64_t givers = f->p - !scan;
    moves(f, 2 * t, (1 + own) * t, (1 + own) * f->n, t * (givers + (first ? 0 : f->p)), ANY);
    equal(f, "reductions", f->got.reduces, t * (givers - 1));
    equal(f, "bytes taken by all", f->take_bytes, (givers + f->p - 1) * f->n);
}

static const struct claim {
    sk_coll coll;
    const char *name;
    void (*check)(facts *f);
    int64_t longer; /* units of the long case */
} claims[] = {
    {SK_BARRIER, "shm", claim_barrier, 0},
    {SK_BCAST, "shm", claim_bcast, 1000000},
    {SK_BCAST, "single-copy", claim_bcast_single_copy, 1000000},
    {SK_SCATTER, "shm", claim_scatter, 30000},
    {SK_SCATTER, "single-copy", claim_scatter_single_copy, 30000},
    {SK_SCATTERV, "shm", claim_scatterv, 30000},
    {SK_GATHER, "shm", claim_gather, 600000},
    {SK_GATHER, "single-copy", claim_gather_single_copy, 600000},
    {SK_GATHERV, "shm", claim_gatherv, 30000},
    {SK_ALLGATHER, "shm", claim_allgather, 600000},
    {SK_ALLGATHER, "single-copy", claim_all_single_copy, 600000},
    {SK_ALLGATHERV, "shm", claim_allgather, 600000},
    {SK_ALLGATHERV, "single-copy", claim_all_single_copy, 600000},
    {SK_ALLTOALL, "shm", claim_alltoall, 30000},
    {SK_ALLTOALL, "single-copy", claim_all_single_copy, 30000},
    {SK_ALLTOALLV, "shm", claim_alltoallv, 30000},
    {SK_ALLTOALLW, "shm", claim_alltoallv, 30000},
    {SK_REDUCE, "shm", claim_reduce, 100000},
    {SK_ALLREDUCE, "shm", claim_allreduce, 100000},
    {SK_REDUCE_SCATTER, "shm", claim_reduce_scatter, 100000},
    {SK_REDUCE_SCATTER_BLOCK, "shm", claim_reduce_scatter, 100000},
    {SK_SCAN, "shm", claim_scan, 100000},
    {SK_EXSCAN, "shm", claim_scan, 100000},
};

static void check_ranks(facts *f, const struct claim *x, const scene *sc)
{
    char why[256];
    sk_sched **scheds = scheds_build(f->algo, sc, why, sizeof why);
    if (!scheds) {
        printf("  FAIL %s %s: %s\n", sk_coll_name(x->coll), x->name, why);
        f->failed++;
        return;
    }
    f->take_bytes = 0;
    for (int r = 0; r < f->p; r++)
        f->take_bytes += sk_sched_count(scheds[r]).take_bytes;
    for (int r = 0; r < f->p; r++) {
        f->rank = r;
        f->root = r == f->k.root;
        f->got = sk_sched_count(scheds[r]);
        f->nrounds = sk_sched_view(scheds[r])->nrounds;
        x->check(f);
    }
    scheds_free(scheds, (int)f->p);
}

static void check(facts *f, const struct claim *x)
{
    scene *sc = scene_new(&f->k);
    f->algo = sk_algo_find(x->coll, x->name);
    f->p = f->k.p;
    f->crowded = sk_machine_crowded(f->k.machine);
    f->C = f->crowded ? ROOM : SK_INTRA_CHUNK;
    f->F = f->crowded ? ROOM : SK_INTRA_REDUCE_CHUNK;
    f->n = f->k.units * (coll_reduces(x->coll) ? 8 : 1);
    if (!sc || !f->algo || !f->algo->fits(&sc->call[0])) {
        printf("  FAIL %s %s does not fit\n", sk_coll_name(x->coll), x->name);
        f->failed++;
    } else {
        check_ranks(f, x, sc);
    }
    if (sc)
        scene_free(sc);
}

/* A node with a core for each rank, or one core for all. */
static void check_machine(facts *f, const struct claim *x, int p, bool crowded)
{
    sk_machine *m = NULL;
    sk_location *locations = calloc((size_t)p, sizeof *locations);
    if (!locations || sk_machine_new(p, locations, crowded ? 1 : p, &m)) {
        f->failed++;
        free(locations);
        return;
    }
    for (int i = 0; i < 4; i++) {
        f->is_short = i < 2;
        f->k = (kase){.coll = x->coll,
                      .p = p,
                      .root = coll_is_rooted(x->coll) ? p / 2 : 0,
                      .units = f->is_short ? 8 : x->longer,
                      .machine = m,
                      .room = ROOM,
                      .direct = i % 2 || strcmp(x->name, "single-copy") == 0};
        check(f, x);
    }
    sk_machine_free(m);
    free(locations);
}

int main(void)
{
    static const int ranks[] = {2, 3, 5, 8, 31};
    facts f = {0};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++) {
            check_machine(&f, &claims[i], ranks[k], false);
            check_machine(&f, &claims[i], ranks[k], true);
        }
    printf("%ld checks, %ld failed\n", f.checks, f.failed);
    return f.failed || !f.checks;
}
