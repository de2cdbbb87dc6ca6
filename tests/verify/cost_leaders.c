/* cost_leaders.c: what leaves the nodes, and what stays on them, of the algorithms with leaders,
 * against formulas: M nodes, p ranks, k leaders of each node. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { ANY = -1, BLOCK = 24, ROOM = 64 * 1024, LONG = 150 * 1000 };

typedef struct facts {
    const sk_algo *algo;
    const sk_machine *m;
    kase k;
    int64_t M, lg, fl, p; /* nodes, ceil and floor of their logarithm, ranks */
    int64_t leaders;
    int64_t n;                      /* data bytes of a vector or block */
    int64_t messages, bytes, inner; /* between nodes, and messages within them */
    int64_t speakers;               /* ranks that send to other nodes */
    int64_t most_epochs;            /* of a rank */
    int64_t beside;                 /* rounds with messages between nodes and steps of an epoch */
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
    printf("  FAIL %s: %s %lld, formula %lld\n", text, what, (long long)got, (long long)want);
}

static void off_node(facts *f, int64_t messages, int64_t bytes)
{
    equal(f, "messages between nodes", f->messages, messages);
    equal(f, "bytes between nodes", f->bytes, bytes);
}

/* In epochs local ranks send no messages; otherwise as many as said. */
static void on_node(facts *f, int64_t epochs, int64_t messages)
{
    equal(f, "turns", f->most_epochs, f->k.room ? epochs : 0);
    equal(f, "messages within nodes", f->inner, f->k.room ? 0 : messages);
}

/* Recursive doubling of the largest power of two of leaders; each of the others hands its vector
 * over and gets the result. */
static int64_t doubling(const facts *f)
{
    int64_t q = (int64_t)1 << f->fl;
    return q * f->fl + 2 * (f->M - q);
}

static int64_t pairs_of_nodes(const facts *f)
{
    int64_t pairs = 0; /* of ranks on different nodes */
    for (int r = 0; r < f->p; r++)
        for (int q = 0; q < f->p; q++)
            pairs += f->m->node[r] != f->m->node[q];
    return pairs;
}

/* Edges that the members of a binomial tree are away from its root, all together. */
static int64_t tree_depths(int64_t members)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < members; i++)
        sum += __builtin_popcountll((unsigned long long)i);
    return sum;
}

static int64_t on_root_node(const facts *f)
{
    const int *first = &f->m->node_first[f->m->node[f->k.root]];
    return first[1] - first[0];
}

/* Leader j of a node of q ranks is local rank j q / k. */
static bool root_leads(const facts *f)
{
    for (int64_t j = 0; j < f->leaders; j++)
        if (f->m->local_rank[f->k.root] == j * on_root_node(f) / f->leaders)
            return true;
    return false;
}

static void claim_short(facts *f)
{
    int64_t M = f->M, p = f->p, k = f->leaders, n = f->n, own = on_root_node(f);
    bool even = M * f->m->most_on_node == p;
    switch (f->algo->coll) {
    case SK_BARRIER:
        off_node(f, M * f->lg, 0);
        on_node(f, 1, 2 * (p - M));
        break;
    case SK_BCAST: /* with several leaders, the root's node has it all beforehand */
        off_node(f, k * (M - 1), (M - 1) * n);
        on_node(f, 1, k == 1 ? p - M : own - 1 + k * (p - own - (M - 1)));
        break;
    case SK_REDUCE: /* with several leaders, the root collects their parts */
        off_node(f, k * (M - 1), (M - 1) * n);
        on_node(f, k == 1 ? 1 : 2, k * (p - M) + (k == 1 ? 0 : k - root_leads(f)));
        break;
    case SK_ALLREDUCE:
        off_node(f, k * doubling(f), doubling(f) * n);
        on_node(f, 2, 2 * k * (p - M));
        break;
    case SK_GATHER:
    case SK_SCATTER: /* down a tree of leaders; straight, where nodes are uneven */
        off_node(f, M - 1, even ? tree_depths(M) * own * n : (p - own) * n);
        on_node(f, 1, p - M);
        break;
    case SK_ALLGATHER:
    case SK_ALLGATHERV: /* every node gets every other node's blocks once */
        off_node(f, M == (int64_t)1 << f->lg ? k * M * f->lg : ANY, (M - 1) * p * n);
        on_node(f, 1, p - k * M + k * (p - M));
        break;
    case SK_ALLTOALL:
        off_node(f, M * (M - 1), pairs_of_nodes(f) * n);
        on_node(f, 2, 2 * (p - M));
        break;
    default:
        equal(f, "formula of this collective", 0, 1);
    }
}

/* Long vectors: chunks that have room in an epoch, each as a short one; and beside the chunk between
 * the nodes stands the next one. */
static void claim_long(facts *f)
{
    int64_t room = f->k.room ? f->k.room : 128 * 1024, unit = coll_reduces(f->algo->coll) ? 8 : 1;
    int64_t chunks = (f->n / unit + room / unit - 1) / (room / unit);
    equal(f, "messages between nodes", f->messages, f->leaders * chunks * (f->M - 1));
    equal(f, "bytes between nodes", f->bytes, (f->M - 1) * f->n);
    if (f->k.room && chunks > 1)
        equal(f, "node phase beside the leaders' phase", f->beside > 0, 1);
}

static bool of_epoch(const sk_step *st)
{
    return st->kind >= SK_STEP_POST || sk_buf_is_slot(st->a.buf) || sk_buf_is_slot(st->b.buf);
}

static void count_beside(facts *f, int rank, const struct sk_sched_view *v)
{
    for (uint32_t r = 0; r < v->nrounds; r++) {
        const sk_round *rd = &v->rounds[r];
        bool off = false, epoch = false;
        for (uint32_t i = rd->first; i < sk_round_end(rd); i++) {
            const sk_step *st = &v->steps[i];
            if (st->kind == SK_STEP_SEND || st->kind == SK_STEP_RECV)
                off = off || f->m->node[rank] != f->m->node[st->peer];
            else
                epoch = epoch || of_epoch(st);
        }
        f->beside += off && epoch;
    }
}

static void count(facts *f, const scene *sc, sk_sched *const *scheds)
{
    f->messages = f->bytes = f->inner = f->speakers = f->most_epochs = f->beside = 0;
    for (int r = 0; r < sc->k.p; r++) {
        const struct sk_sched_view *v = sk_sched_view(scheds[r]);
        int64_t before = f->messages;
        for (uint32_t i = 0; i < v->nsteps; i++) {
            const sk_step *st = &v->steps[i];
            if (st->kind != SK_STEP_SEND)
                continue;
            bool off = f->m->node[r] != f->m->node[st->peer];
            f->messages += off;
            f->inner += !off;
            f->bytes += off ? st->a.len : 0;
        }
        count_beside(f, r, v);
        f->speakers += f->messages > before;
        if (f->most_epochs < v->nturns)
            f->most_epochs = v->nturns;
    }
}

static void measure(facts *f, int64_t units, void (*claim)(facts *f))
{
    char why[256];
    f->k.coll = f->algo->coll;
    f->k.p = f->m->nranks;
    f->k.machine = f->m;
    f->k.units = units;
    scene *sc = scene_new(&f->k);
    sk_sched **scheds = sc ? scheds_build(f->algo, sc, why, sizeof why) : NULL;
    if (!scheds)
        abort();
    f->n = sk_call_bytes(&sc->call[0]);
    if (f->algo->coll == SK_ALLGATHERV)
        f->n /= f->k.p;
    count(f, sc, scheds);
    claim(f);
    equal(f, "more speakers than leaders", f->speakers > f->leaders * f->M, 0);
    scheds_free(scheds, f->k.p);
    scene_free(sc);
}

static bool has_parts(sk_coll coll) /* one for each leader, and nothing else is cut */
{
    return coll == SK_BCAST || coll == SK_REDUCE || coll == SK_ALLREDUCE || coll == SK_ALLGATHER ||
           coll == SK_ALLGATHERV;
}

static void claim_all(facts *f)
{
    bool chunked = f->algo->coll == SK_BCAST || f->algo->coll == SK_REDUCE;
    int roots[] = {0, f->m->nranks / 2, f->m->nranks - 1};
    for (int i = 0; i < (coll_is_rooted(f->algo->coll) ? 3 : 1); i++)
        for (int room = 0; room < 2; room++)
            for (int k = 1; k <= 2; k++) {
                f->k = (kase){.root = roots[i], .room = room ? ROOM : 0, .leaders = k};
                f->leaders = has_parts(f->algo->coll) ? k : 1;
                if (f->algo->coll == SK_ALLTOALL && room)
                    f->leaders = k;
                measure(f, BLOCK, claim_short);
                if (chunked && f->M < 8 && k == 1) /* from 8 leaders on the inner one is no tree */
                    measure(f, LONG / (coll_reduces(f->algo->coll) ? 8 : 1), claim_long);
            }
}

/* `less`: so many ranks fewer than cores, the last node is not full. */
static sk_machine *machine(int nodes, int on_node, const char *map, int less)
{
    char text[64], err[128];
    sk_machine *m = NULL;
    snprintf(text, sizeof text, "node:%d core:%d map:%s", nodes, on_node, map);
    if (sk_machine_parse(text, nodes * on_node - less, &m, err, sizeof err) != SK_OK)
        abort();
    return m;
}

int main(void)
{
    static const char *const maps[] = {"seq", "rr", "shuffle:3"};
    long checks = 0, failed = 0;
    for (const sk_algo *const *a = sk_algos(); *a; a++) {
        facts f = {.algo = *a};
        if (strcmp((*a)->name, "leaders") != 0)
            continue;
        for (int nodes = 2; nodes <= 9; nodes++)
            for (int on_node = 3; on_node <= 5; on_node++)
                for (int map = 0; map < 4; map++) {
                    sk_machine *m = machine(nodes, on_node, maps[map % 3], map == 3);
                    f.m = m;
                    f.M = m->nnodes;
                    f.p = m->nranks;
                    for (f.lg = 0; (1 << f.lg) < f.M; f.lg++)
                        ;
                    f.fl = (1 << f.lg) > f.M ? f.lg - 1 : f.lg;
                    claim_all(&f);
                    sk_machine_free(m);
                }
        printf("%-20s %-17s %7ld values right, %ld wrong\n", sk_coll_name((*a)->coll), (*a)->name,
               f.checks - f.failed, f.failed);
        checks += f.checks - f.failed;
        failed += f.failed;
    }
    printf("%ld passed, %ld failed\n", checks, failed);
    return failed || !checks;
}
