/* cost.c: every algorithm against its own claim (coll/claim.h). The schedules of all ranks are
 * built and counted, for many numbers of ranks, on the machines that the algorithm fits:
 *
 *   nothing known   messages, bytes and steps, the ranks of a call in one process
 *   one node        epochs, copies and takes, with a core for each rank and with one for all
 *   several nodes   what leaves the nodes, and what stays on them
 *
 * An algorithm without a claim is an error. Neighbourhood collectives: see cost_neighbor.c. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "coll/claim.h"
#include "machines.h"
#include "tap.h"

enum { BLOCK = 24, LONG_BLOCK = 8000, NODE_SLOT = 512 << 10, NODES_SLOT = 64 << 10 };
enum { LONG_VECTOR = 150 * 1000 }; /* on several nodes */

typedef struct cost_check {
    const sk_algo *algo;
    kase k;
    int64_t b, n; /* see sk_cost_case */
    bool is_short;
    long checks, failed;
} cost_check;

/* ---- a run in which every round takes one tick ---- */

typedef struct rank_clocks {
    int64_t *now, *next;
} rank_clocks;

static void tick_match(void *ctx, int from, int to, int64_t len)
{
    (void)len;
    rank_clocks *c = ctx;
    if (c->next[to] < c->now[from])
        c->next[to] = c->now[from];
    if (c->next[from] < c->now[to])
        c->next[from] = c->now[to];
}

static void tick_round(void *ctx, int rank)
{
    rank_clocks *c = ctx;
    int64_t start = c->now[rank] < c->next[rank] ? c->next[rank] : c->now[rank];
    c->now[rank] = c->next[rank] = start + 1;
}

static void no_reduce(void *ctx, const void *in, void *inout, int64_t n)
{
    (void)ctx, (void)in, (void)inout, (void)n;
}

/* The longest chain of rounds that wait for each other. */
static int64_t count_steps(const scene *sc, sk_sched *const *scheds)
{
    size_t p = (size_t)sc->k.p;
    rank_clocks c = {calloc(p, sizeof(int64_t)), calloc(p, sizeof(int64_t))};
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
    int64_t steps = sk_inproc_run(l, runs) == SK_OK ? 0 : INT64_MAX;
    for (int r = 0; r < sc->k.p; r++) {
        if (steps < c.now[r])
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

/* ---- counting ---- */

static sk_cost nothing(void)
{
    sk_cost c;
    int64_t *field = (int64_t *)&c;
    for (size_t i = 0; i < sizeof c / sizeof *field; i++)
        field[i] = SK_UNCLAIMED;
    return c;
}

static sk_cost count_rank(const sk_sched *sched)
{
    sk_sched_stats s = sk_sched_count(sched);
    sk_cost c = nothing();
    sk_claim_messages(&c, s.sends, s.recvs, s.send_bytes, s.recv_bytes);
    c.epochs = s.epochs;
    c.copies = s.copies;
    c.copy_bytes = s.copy_bytes;
    c.takes = s.takes;
    c.take_bytes = s.take_bytes;
    c.reduces = s.reduces;
    c.scratch = s.scratch;
    c.rounds = sk_sched_view(sched)->nrounds;
    return c;
}

static bool of_epoch(const sk_step *st)
{
    return st->kind >= SK_STEP_POST || sk_buf_is_slot(st->a.buf) || sk_buf_is_slot(st->b.buf);
}

/* Is there a round with a message between nodes and with a step of an epoch? */
static bool overlaps(const struct sk_sched_view *v, const sk_machine *m, int rank)
{
    for (uint32_t r = 0; r < v->nrounds; r++) {
        const sk_round *rd = &v->rounds[r];
        bool off = false, epoch = false;
        for (uint32_t i = rd->first; i < sk_round_end(rd); i++) {
            const sk_step *st = &v->steps[i];
            if (st->kind == SK_STEP_SEND || st->kind == SK_STEP_RECV)
                off = off || m->node[rank] != m->node[st->peer];
            else
                epoch = epoch || of_epoch(st);
        }
        if (off && epoch)
            return true;
    }
    return false;
}

static void count_nodes(sk_cost *c, const sk_sched *sched, const sk_machine *m, int rank)
{
    const struct sk_sched_view *v = sk_sched_view(sched);
    int64_t before = c->off_sends;
    for (uint32_t i = 0; i < v->nsteps; i++) {
        const sk_step *st = &v->steps[i];
        if (st->kind != SK_STEP_SEND && st->kind != SK_STEP_PSEND)
            continue;
        bool off = m->node[rank] != m->node[st->peer];
        c->off_sends += off;
        c->node_sends += !off;
        c->off_bytes += off ? st->a.len : 0;
    }
    c->max_senders += c->off_sends > before;
    c->overlaps |= overlaps(v, m, rank);
    if (c->max_epochs < sk_sched_count(sched).epochs)
        c->max_epochs = sk_sched_count(sched).epochs;
}

/* What all ranks do together. */
static sk_cost count_all(const scene *sc, sk_sched *const *scheds)
{
    sk_cost c = nothing();
    const sk_machine *m = sc->k.machine;
    c.all_sends = c.all_send_bytes = c.all_take_bytes = 0;
    if (m && m->nnodes > 1)
        c.off_sends = c.off_bytes = c.node_sends = c.max_epochs = c.max_senders = c.overlaps = 0;
    if (!m)
        c.steps = c.max_steps = count_steps(sc, scheds);
    for (int r = 0; r < sc->k.p; r++) {
        sk_sched_stats s = sk_sched_count(scheds[r]);
        c.all_sends += s.sends;
        c.all_send_bytes += s.send_bytes;
        c.all_take_bytes += s.take_bytes;
        if (m && m->nnodes > 1)
            count_nodes(&c, scheds[r], m, r);
    }
    return c;
}

/* ---- comparing ---- */

static void fail(cost_check *f, int rank, const char *what, int64_t got, int64_t want)
{
    char text[256];
    f->failed++;
    kase_print(&f->k, text, sizeof text);
    printf("# FAIL %s %s rank %d: %s %lld, claimed %lld\n", f->algo->name, text, rank, what,
           (long long)got, (long long)want);
}

/* What is claimed must also have been counted. */
static void equal(cost_check *f, int rank, const char *what, int64_t got, int64_t want)
{
    if (want == SK_UNCLAIMED)
        return;
    f->checks++;
    if (got != want)
        fail(f, rank, what, got, want);
}

static void at_most(cost_check *f, int rank, const char *what, int64_t got, int64_t want)
{
    if (want == SK_UNCLAIMED)
        return;
    f->checks++;
    if (got == SK_UNCLAIMED || got > want)
        fail(f, rank, what, got, want);
}

static void compare_rank(cost_check *f, int r, const sk_cost *got, const sk_cost *want)
{
    equal(f, r, "sends", got->sends, want->sends);
    equal(f, r, "receives", got->recvs, want->recvs);
    equal(f, r, "bytes sent", got->send_bytes, want->send_bytes);
    equal(f, r, "bytes received", got->recv_bytes, want->recv_bytes);
    equal(f, r, "epochs", got->epochs, want->epochs);
    equal(f, r, "copies", got->copies, want->copies);
    equal(f, r, "bytes copied", got->copy_bytes, want->copy_bytes);
    equal(f, r, "takes", got->takes, want->takes);
    equal(f, r, "bytes taken", got->take_bytes, want->take_bytes);
    equal(f, r, "reductions", got->reduces, want->reduces);
    equal(f, r, "rounds", got->rounds, want->rounds);
    equal(f, r, "scratch", got->scratch, want->scratch);
}

static void compare_all(cost_check *f, const sk_cost *got, const sk_cost *want)
{
    equal(f, -1, "steps", got->steps, want->steps);
    at_most(f, -1, "steps", got->max_steps, want->max_steps);
    equal(f, -1, "sends of all ranks", got->all_sends, want->all_sends);
    equal(f, -1, "bytes of all ranks", got->all_send_bytes, want->all_send_bytes);
    equal(f, -1, "bytes taken by all ranks", got->all_take_bytes, want->all_take_bytes);
    equal(f, -1, "messages between nodes", got->off_sends, want->off_sends);
    equal(f, -1, "bytes between nodes", got->off_bytes, want->off_bytes);
    equal(f, -1, "messages within nodes", got->node_sends, want->node_sends);
    equal(f, -1, "epochs of a rank", got->max_epochs, want->max_epochs);
    at_most(f, -1, "ranks that send to other nodes", got->max_senders, want->max_senders);
    equal(f, -1, "node phase beside the other", got->overlaps, want->overlaps);
}

static sk_cost_case case_of(const cost_check *f, const sk_call *c)
{
    sk_cost_case k = {.call = c,
                      .p = c->nranks,
                      .rank = c->rank,
                      .root = c->root,
                      .at_root = c->rank == c->root,
                      .n = f->n,
                      .b = f->b,
                      .is_short = f->is_short,
                      .leaders = c->leaders};
    while (2 << k.fl <= c->nranks)
        k.fl++;
    k.pow2 = 1 << k.fl == c->nranks;
    k.lg = k.fl + !k.pow2;
    if (c->machine) {
        const int *first = &c->machine->node_first[c->machine->node[c->root]];
        k.nodes = c->machine->nnodes;
        k.root_node = first[1] - first[0];
    }
    return k;
}

static bool is_vector(sk_coll coll)
{
    return coll == SK_BCAST ||
           (coll_reduces(coll) && coll != SK_REDUCE_SCATTER && coll != SK_REDUCE_SCATTER_BLOCK);
}

/* `bytes`: of the vector, or of a block. */
static void check(cost_check *f, int64_t bytes)
{
    char why[256];
    kase *k = &f->k;
    k->coll = f->algo->coll;
    k->lay = LAY_PLAIN;
    k->units = coll_reduces(k->coll) ? bytes / 8 : bytes;
    f->n = is_vector(k->coll) ? bytes : bytes * k->p;
    f->b = is_vector(k->coll) ? bytes / k->p : bytes;
    scene *sc = scene_new(k);
    sk_sched **scheds = sc ? scheds_build(f->algo, sc, why, sizeof why) : NULL;
    if (!scheds)
        abort();
    sk_cost all = count_all(sc, scheds), want = nothing();
    for (int r = 0; r < k->p; r++) {
        sk_cost got = count_rank(scheds[r]);
        sk_cost_case x = case_of(f, &sc->call[r]);
        want = nothing();
        f->algo->claim(&x, &want);
        compare_rank(f, r, &got, &want);
    }
    compare_all(f, &all, &want);
    scheds_free(scheds, k->p);
    scene_free(sc);
}

/* ---- machines ---- */

static bool fits(const sk_algo *a, const kase *like)
{
    kase k = *like;
    k.coll = a->coll;
    k.units = 8;
    scene *sc = scene_new(&k);
    if (!sc)
        abort();
    bool yes = !a->fits || a->fits(&sc->call[0]);
    scene_free(sc);
    return yes;
}

static void check_unknown(cost_check *f)
{
    static const int large[] = {64, 100, 128, 257};
    bool rooted = coll_is_rooted(f->algo->coll), vector = is_vector(f->algo->coll);
    f->is_short = true;
    for (int p = 1; p <= 40; p++)
        for (int root = 0; root < (rooted ? p : 1); root += 1 + p / 8) {
            f->k = (kase){.p = p, .root = root};
            check(f, vector ? BLOCK * p : BLOCK);
            if (f->algo->coll == SK_BCAST) /* longer than a segment */
                check(f, LONG_BLOCK * p);
        }
    for (int i = 0; i < 4; i++) {
        f->k = (kase){.p = large[i], .root = rooted ? large[i] / 3 : 0};
        check(f, vector ? BLOCK * large[i] : BLOCK);
    }
}

/* Several epochs, if the algorithm cuts. */
static int64_t long_bytes(sk_coll coll)
{
    if (coll == SK_BCAST)
        return 1000000;
    if (coll == SK_GATHER || coll == SK_ALLGATHER || coll == SK_ALLGATHERV)
        return 600000;
    return coll_reduces(coll) ? 800000 : 30000;
}

static sk_machine *one_node(int p, bool crowded)
{
    sk_machine *m = NULL;
    sk_location *locations = calloc((size_t)p, sizeof *locations);
    if (!locations || sk_machine_new(p, locations, crowded ? 1 : p, &m) != SK_OK)
        abort();
    free(locations);
    machines_price(m);
    return m;
}

static void check_one_node(cost_check *f)
{
    static const int ranks[] = {2, 3, 5, 8, 31};
    sk_coll coll = f->algo->coll;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        for (int way = 0; way < 8; way++) {
            int p = ranks[i];
            sk_machine *m = one_node(p, way & 4);
            f->is_short = way & 1;
            f->k = (kase){.p = p,
                          .root = coll_is_rooted(coll) ? p / 2 : 0,
                          .machine = m,
                          .slot_bytes = NODE_SLOT,
                          .direct = way & 2};
            if (fits(f->algo, &f->k) && (f->is_short || coll != SK_BARRIER))
                check(f, f->is_short ? (coll_reduces(coll) ? 64 : 8) : long_bytes(coll));
            sk_machine_free(m);
        }
}

/* `less`: so many ranks fewer than cores, so the last node is not full. */
static sk_machine *several_nodes(int nodes, int on_node, const char *map, int less)
{
    char text[64], err[128];
    sk_machine *m = NULL;
    snprintf(text, sizeof text, "node:%d core:%d map:%s", nodes, on_node, map);
    if (sk_machine_parse(text, nodes * on_node - less, &m, err, sizeof err) != SK_OK)
        abort();
    return m;
}

static void check_machine(cost_check *f, const sk_machine *m)
{
    sk_coll coll = f->algo->coll;
    int roots[] = {0, m->nranks / 2, m->nranks - 1};
    for (int i = 0; i < (coll_is_rooted(coll) ? 3 : 1); i++)
        for (int way = 0; way < 4; way++) {
            int leaders = 1 + way % 2;
            f->k = (kase){.p = m->nranks,
                          .root = roots[i],
                          .machine = m,
                          .slot_bytes = way / 2 ? NODES_SLOT : 0,
                          .leaders = leaders};
            if (!fits(f->algo, &f->k))
                continue;
            f->is_short = true;
            check(f, coll_reduces(coll) ? 8 * BLOCK : BLOCK);
            f->is_short = false;
            /* From 8 leaders on, the algorithm between long parts is no tree. */
            if ((coll == SK_BCAST || coll == SK_REDUCE) && m->nnodes < 8 && leaders == 1)
                check(f, LONG_VECTOR);
        }
}

static void check_nodes(cost_check *f)
{
    static const char *const maps[] = {"seq", "rr", "shuffle:3"};
    for (int nodes = 2; nodes <= 9; nodes++)
        for (int on_node = 3; on_node <= 5; on_node++)
            for (int map = 0; map < 4; map++) {
                sk_machine *m = several_nodes(nodes, on_node, maps[map % 3], map == 3);
                check_machine(f, m);
                sk_machine_free(m);
            }
}

static void check_claim(cost_check *f)
{
    sk_machine *node = one_node(4, false), *nodes = several_nodes(2, 2, "seq", 0);
    kase unknown = {.p = 4};
    kase shared = {.p = 4, .machine = node, .slot_bytes = NODE_SLOT, .direct = true};
    kase hier = {.p = 4, .machine = nodes, .slot_bytes = NODES_SLOT};
    if (fits(f->algo, &unknown))
        check_unknown(f);
    else if (fits(f->algo, &shared))
        check_one_node(f);
    else if (fits(f->algo, &hier))
        check_nodes(f);
    sk_machine_free(node);
    sk_machine_free(nodes);
}

int main(void)
{
    for (const sk_algo *const *a = sk_algos(); *a; a++) {
        cost_check f = {.algo = *a};
        if (sk_coll_neighbor((*a)->coll))
            continue;
        if ((*a)->claim)
            check_claim(&f);
        if (f.checks == 0)
            printf("# no claim, or nothing to count\n");
        tap_ok(f.checks > 0 && f.failed == 0, "%s %s: %ld values right, %ld wrong",
               sk_coll_name((*a)->coll), (*a)->name, f.checks - f.failed, f.failed);
    }
    return tap_end();
}
