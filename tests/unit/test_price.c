/* The price of a call: messages whose time is computed by hand, what ports and cores serialise, that ranks
 * may come in any order, and that many ranks are little work. */
#include "price_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "callspec.h"
#include "coll/algo.h"

/* ---- messages ---- */

static void message_between_nodes(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.nranks = 2, .bytes = 500, .build = one_message};
    /* send, port, latency, recv */
    assert_ns(price(&x, &p).ns, 100 + (10 + 500) + 1000 + 200);
    x.machine = "node:2 core:1";
    assert_ns(price(&x, &p).ns, 100 + (10 + 500) + 1000 + 200);
    /* A long one asks first, and is answered. */
    x.bytes = 5000;
    assert_ns(price(&x, &p).ns, 100 + 1000 + 1000 + (10 + 5000) + 1000 + 200);
    /* CPU time for bytes, as in a TCP stack. */
    p.level[SK_AT_NET].in = 3;
    p.level[SK_AT_NET].out = 4;
    x.bytes = 100;
    assert_ns(price(&x, &p).ns, 100 + 300 + (10 + 100) + 1000 + 200 + 400);
}

static void message_on_a_node(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.machine = "node:1 core:2", .nranks = 2, .bytes = 100, .build = one_message};
    assert_ns(price(&x, &p).ns, 20 + 100 + 50 + 30 + 200);
    x.machine = "node:1 socket:2 core:1";
    assert_ns(price(&x, &p).ns, 20 + 100 + 70 + 30 + 300);
    /* A long one is read in place, one copy, and its sender is told. */
    x.bytes = 5000;
    assert_ns(price(&x, &p).ns, 20 + 70 + 30 + 5000 + 2 * 5000 + 20 + 70 + 30);
}

/* 3 and 4 ranks on two nodes copy 100 bytes each: 50 ns of the core, 30 ns of the node's memory. */
static void cores_share_memory(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.machine = "node:2 core:4", .nranks = 7, .bytes = 100, .build = copy_alone};
    assert_ns(price(&x, &p).ns, 50);
    p.memory = 0.3;
    assert_ns(price(&x, &p).ns, 4 * 30);
    p.cache = 100; /* all of it stays there */
    assert_ns(price(&x, &p).ns, 50);
    /* So do messages on a node. */
    x = (scene){.machine = "node:1 core:2", .nranks = 2, .bytes = 100, .build = one_message};
    assert_ns(price(&x, &p).ns, 20 + 100 + 50 + 30 + 200);
    p.cache = 99;
    p.memory = 10;
    assert_ns(price(&x, &p).ns, 10 * 100);
}

/* With `all`, every rank is walked, also where they are alike. */
static void all_ranks_are_walked_if_asked(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.nranks = 5000, .bytes = 10, .build = copy_alone};
    sk_price_case c = {
        .prices = &p, .nranks = x.nranks, .build = build_scene, .ctx = &x, .all = true};
    sk_priced out;
    assert_int_equal(sk_price_call(&c, &out), SK_OK);
    assert_int_equal(out.ranks, 5000);
    assert_true(out.exact);
}

static void chain_adds_up(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.nranks = 9, .bytes = 40, .build = chain};
    assert_ns(price(&x, &p).ns, 8 * (100 + 50 + 1000 + 200));
    x.machine = "node:3 core:3";
    assert_ns(price(&x, &p).ns, 2 * (100 + 50 + 1000 + 200) + 6 * (20 + 40 + 50 + 30 + 80));
}

/* The rank whose name is `name`. */
static int rank_named(const scene *x, int name)
{
    for (int i = 0; x->name_of && i < x->nranks; i++)
        if (x->name_of[i] == name)
            return i;
    return name;
}

static void binomial(sk_sched *s, const scene *x, int rank)
{
    int me = x->name_of ? x->name_of[rank] : rank, low = me ? me & -me : 1 << 30;
    if (me)
        sk_recv(s, received(x), rank_named(x, me - low));
    sk_fence(s);
    for (int k = 1 << 20; k > 0; k /= 2)
        if (k < low && me + k < x->nranks)
            sk_send(s, sent(x), rank_named(x, me + k));
}

static void binomial_tree(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.nranks = 8, .bytes = 90, .build = binomial};
    /* The path to rank 7: each time the first message of its sender. That to rank 1, the third of the
     * root, would be later only if sends took longer than the way. */
    assert_ns(price(&x, &p).ns, 3 * (100 + 100 + 1000 + 200));
    p.level[SK_AT_NET].send = 10000;
    /* Now it is rank 1, after three sends, or rank 3, 5 or 7 after as many: each on its way once more. */
    assert_ns(price(&x, &p).ns, 3 * (10000 + 100 + 1000 + 200));
}

static void order_of_ranks_is_of_no_matter(void **state)
{
    (void)state;
    static const int names[] = {3, 7, 0, 5, 1, 6, 2, 4};
    sk_prices p = round_prices();
    scene x = {.nranks = 8, .bytes = 90, .build = binomial};
    double as_is = price(&x, &p).ns;
    x.name_of = names;
    assert_ns(price(&x, &p).ns, as_is);
    x.machine = "node:1 core:8";
    double renamed = price(&x, &p).ns;
    x.name_of = NULL;
    assert_ns(price(&x, &p).ns, renamed);
    assert_true(renamed < as_is);
}

/* Rank i of the first half sends to rank i of the second. */
static void pairs(sk_sched *s, const scene *x, int rank)
{
    int half = x->nranks / 2;
    if (rank < half)
        sk_send(s, sent(x), rank + half);
    else
        sk_recv(s, received(x), rank - half);
}

static void fan_in(sk_sched *s, const scene *x, int rank)
{
    for (int i = 1; rank == 0 && i < x->nranks; i++)
        sk_recv(s, bytes_of(SK_RECV, i * x->bytes, x->bytes), i);
    if (rank)
        sk_send(s, sent(x), 0);
}

static void ports_take_one_message_at_a_time(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.machine = "node:2 core:4", .nranks = 8, .bytes = 500, .build = pairs};
    assert_ns(price(&x, &p).ns, 100 + 4 * 510 + 1000 + 200);
    x.machine = "node:8 core:1";
    assert_ns(price(&x, &p).ns, 100 + 510 + 1000 + 200);
    /* The port of the receiver, too. It has the first message after 1000, then one after the other. */
    x.build = fan_in;
    assert_ns(price(&x, &p).ns, 100 + 1000 + 7 * 510 + 200);
    /* If the receiver is slower than its port, it counts. */
    p.level[SK_AT_NET].recv = 2000;
    assert_ns(price(&x, &p).ns, 100 + 1000 + 510 + 7 * 2000);
}

/* To rank 2 from rank 0, which sends a message to rank 3 first, and from rank 1, which copies first. */
static void two_ways(sk_sched *s, const scene *x, int rank)
{
    if (rank == 0)
        sk_send(s, sent(x), 3);
    if (rank == 1) {
        sk_copy(s, sent(x), received(x));
        sk_fence(s);
    }
    if (rank < 2)
        sk_send(s, sent(x), 2);
    else if (rank == 2)
        sk_recv(s, bytes_of(SK_RECV, x->bytes, x->bytes), 1);
    if (rank >= 2)
        sk_recv(s, received(x), 0);
}

/* Rank 0 hands its message to its port at 200, but that is busy until 3110. Rank 1 does so at 1600, and its message comes
 * to the other port first. */
static void ports_serve_messages_as_they_arrive(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.machine = "node:4 core:1", .nranks = 4, .bytes = 3000, .build = two_ways};
    assert_ns(price(&x, &p).ns, 1600 + 1000 + 2 * 3010 + 200);
}

static void work_of_the_core(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.nranks = 3, .bytes = 1000, .build = local_work};
    assert_ns(price(&x, &p).ns, 500 + 250);
    p.step = 40;
    assert_ns(price(&x, &p).ns, 500 + 250 + 2 * 40);
}

/* ---- many ranks ---- */

static void ring(sk_sched *s, const scene *x, int rank)
{
    for (int i = 1; i < x->nranks; i++) {
        sk_send(s, bytes_of(SK_SEND, 0, x->bytes), (rank + 1) % x->nranks);
        sk_recv(s, bytes_of(SK_RECV, 0, x->bytes), (rank + x->nranks - 1) % x->nranks);
        sk_fence(s);
    }
}

static void doubling(sk_sched *s, const scene *x, int rank)
{
    for (int k = 1; k < x->nranks; k *= 2) {
        sk_send(s, bytes_of(SK_SEND, 0, x->bytes), rank ^ k);
        sk_recv(s, bytes_of(SK_RECV, 0, x->bytes), rank ^ k);
        sk_fence(s);
    }
    if (x->odd && rank == x->odd)
        sk_copy(s, bytes_of(SK_SEND, 0, 1), bytes_of(SK_SCRATCH, 0, 1));
}

static void many_ranks_are_one_class(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.nranks = 2048, .bytes = 90, .build = ring};
    sk_priced all = price(&x, &p);
    assert_ns(all.ns, 2047 * 1400.0);
    assert_int_equal(all.ranks, 1);
    x.nranks = 1 << 14;
    x.build = doubling;
    all = price(&x, &p);
    assert_ns(all.ns, 14 * 1400.0);
    assert_int_equal(all.ranks, 1);
}

/* On several nodes all ranks of one are walked. If one rank of another one differs, all are: the price is the
 * same. */
static void ranks_of_a_node_stand_for_all(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    p.copy = 0;
    scene x = {.machine = "node:64 core:64", .nranks = 4096, .bytes = 90, .build = doubling};
    sk_priced some = price(&x, &p);
    assert_int_equal(some.ranks, 64);
    x.odd = 33 * 64 + 1;
    sk_priced all = price(&x, &p);
    assert_int_equal(all.ranks, 4096);
    assert_ns(some.ns, all.ns);
    assert_true(some.looks * 60 < all.looks);
    /* Each port is busy for 64 messages in each of six rounds. */
    assert_true(some.ns > 6 * 64 * 100);
    assert_true(some.ns < 6 * (20 + 90 + 50 + 30 + 180) + 6 * (100 + 64 * 100 + 1000 + 200.0));
}

/* Many rounds that are alike are not all walked, and the price is the same. */
static void long_stretches_are_not_walked(void **state)
{
    (void)state;
    sk_prices p = round_prices();
    scene x = {.machine = "node:32 core:32", .nranks = 1024, .bytes = 90, .build = ring};
    sk_priced out;
    assert_int_equal(try_price(&x, &p, &out), SK_OK);
    assert_false(out.exact);
    assert_between(out.looks, 1, 1 << 15);
    /* A rank starts a round when the message of the rank before has come in the last one. So a round takes as
     * long as a message, in the mean over a node. */
    double round = (31 * (20 + 90 + 50 + 30 + 180) + 100 + 100 + 1000 + 200) / 32.0;
    assert_between(out.ns, 1023 * round * 0.97, 1023 * round * 1.03);
}

/* ---- real algorithms ---- */

typedef struct algo_scene {
    const sk_callspec_args *args;
    const sk_algo *algo;
} algo_scene;

static sk_status build_algo(const void *ctx, int rank, sk_sched **out)
{
    const algo_scene *x = ctx;
    sk_call c = sk_callspec_call(x->args, rank);
    return sk_algo_build(x->algo, &c, out);
}

/* Of any algorithm that has a price for this call. False: it has none. */
static bool price_algo(const sk_algo *a, const sk_machine *m, int64_t bytes, sk_priced *out)
{
    sk_prices p = sk_prices_usual();
    sk_arena *arena = sk_arena_new();
    sk_callspec spec = {.coll = a->coll,
                        .nranks = m->nranks,
                        .elems = bytes / 8,
                        .elem_size = 8,
                        .machine = m,
                        .slot_bytes = 1 << 20};
    sk_callspec_round(&spec);
    algo_scene x = {sk_callspec_args_new(arena, &spec), a};
    sk_call c = sk_callspec_call(x.args, 0);
    sk_price_case k = {
        .prices = &p, .machine = m, .nranks = m->nranks, .build = build_algo, .ctx = &x};
    bool priced = (!a->fits || a->fits(&c)) && sk_price_call(&k, out) == SK_OK;
    sk_arena_free(arena);
    return priced;
}

static sk_machine *machine_of(const char *text, int nranks)
{
    char err[256];
    sk_machine *m = NULL;
    assert_int_equal(sk_machine_parse(text, nranks, &m, err, sizeof err), SK_OK);
    return m;
}

static bool is_leaders(const sk_algo *a)
{
    return strcmp(a->name, "leaders") == 0; /* it needs a chooser */
}

/* Every algorithm, on one node and on several; longer messages are not faster. */
static void longer_calls_take_longer(void **state)
{
    (void)state;
    static const char *const machines[] = {"node:1 core:8", "node:4 core:2",
                                           "node:4 core:2 map:rr"};
    int priced = 0;
    for (int i = 0; i < 3; i++) {
        sk_machine *m = machine_of(machines[i], 8);
        for (const sk_algo *const *a = sk_algos(); *a; a++) {
            sk_priced small, large;
            /* Both on the same side of every limit of the builders. */
            if (sk_coll_neighbor((*a)->coll) || is_leaders(*a) || (*a)->coll == SK_BARRIER ||
                !price_algo(*a, m, 256, &small) || !price_algo(*a, m, 512, &large))
                continue;
            priced++;
            assert_true(small.ns > 0);
            if (large.ns < small.ns)
                fail_msg("%s %s: %g ns with 512 bytes, %g ns with 256", sk_coll_name((*a)->coll),
                         (*a)->name, large.ns, small.ns);
        }
        sk_machine_free(m);
    }
    assert_between(priced, 100, 300);
}

/* 8192 ranks: whatever the algorithm, few steps are walked. */
static void many_ranks_are_little_work(void **state)
{
    (void)state;
    static const struct {
        sk_coll coll;
        const char *name;
        int64_t looks;
    } cases[] = {
        {SK_ALLREDUCE, "doubling", 1 << 13},     {SK_ALLREDUCE, "rabenseifner", 1 << 14},
        {SK_ALLREDUCE, "ring", 1 << 18},         {SK_ALLGATHER, "ring", 1 << 17},
        {SK_ALLGATHER, "neighbour", 1 << 18},    {SK_ALLTOALL, "pairwise", 1 << 18},
        {SK_BARRIER, "dissemination", 1 << 13},  {SK_BCAST, "binomial", 1 << 16},
        {SK_REDUCE_SCATTER, "halving", 1 << 15}, {SK_GATHER, "linear", 1 << 16},
    };
    sk_machine *m = machine_of("node:128 socket:2 core:32", 8192);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_priced out;
        if (!price_algo(sk_algo_find(cases[i].coll, cases[i].name), m, 1 << 20, &out))
            fail_msg("%s %s has no price", sk_coll_name(cases[i].coll), cases[i].name);
        if (out.looks > cases[i].looks)
            fail_msg("%s %s: %lld walked", sk_coll_name(cases[i].coll), cases[i].name,
                     (long long)out.looks);
    }
    sk_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_between_nodes),
        cmocka_unit_test(message_on_a_node),
        cmocka_unit_test(cores_share_memory),
        cmocka_unit_test(all_ranks_are_walked_if_asked),
        cmocka_unit_test(chain_adds_up),
        cmocka_unit_test(binomial_tree),
        cmocka_unit_test(order_of_ranks_is_of_no_matter),
        cmocka_unit_test(ports_take_one_message_at_a_time),
        cmocka_unit_test(ports_serve_messages_as_they_arrive),
        cmocka_unit_test(work_of_the_core),
        cmocka_unit_test(many_ranks_are_one_class),
        cmocka_unit_test(ranks_of_a_node_stand_for_all),
        cmocka_unit_test(long_stretches_are_not_walked),
        cmocka_unit_test(longer_calls_take_longer),
        cmocka_unit_test(many_ranks_are_little_work),
    };
    return RUN(tests);
}
