/* test_gather.c: the accelerated set-up hands out the same patterns as a plan with the whole graph.
 */
#include <stdlib.h>
#include <string.h>

#include "lab/neighbor/check.h"
#include "neighbor/gather.h"
#include "neighbor/rankset.h"
#include "unit.h"

static const sk_pattern_opts opts = {.theta = 4, .friends = 2};

typedef struct setting {
    const sk_machine *m;
    unsigned methods;
    int64_t edges;
} setting;

static sk_negotiator *make(const sk_graph *g, const void *arg)
{
    const setting *s = arg;
    return sk_gather_negotiator(g, s->m, &opts, s->methods, s->edges);
}

static const unsigned two = 1u << SK_METHOD_DIRECT | 1u << SK_METHOD_NODE;

static void assert_gathers(const char *graph, const char *machine, int n, unsigned seed)
{
    sk_global_graph *g = sk_check_graph(graph, n);
    sk_machine *m = sk_check_machine(machine, n);
    size_t many = (size_t)n;
    sk_pattern **got = calloc(2 * many, sizeof(*got)), **plan = calloc(2 * many, sizeof(*plan));
    setting s = {m, two, sk_global_graph_edges(g)};
    sk_status st = sk_patterns_by_negotiators(g, make, &s, two, seed, got, NULL);
    if (st != SK_OK)
        fail_msg("%s on %s, %d ranks: %s", graph, machine, n, sk_status_text(st));
    assert_int_equal(sk_patterns_by_plan(SK_METHOD_DIRECT, g, m, &opts, plan), SK_OK);
    assert_int_equal(sk_patterns_by_plan(SK_METHOD_NODE, g, m, &opts, plan + n), SK_OK);
    for (int i = 0; i < 2 * n; i++)
        if (!sk_pattern_equal(got[i], plan[i]))
            fail_msg("%s on %s, %d ranks: rank %d differs", graph, machine, n, i % n);
    sk_patterns_free(got, 2 * n);
    sk_patterns_free(plan, 2 * n);
    free(got);
    free(plan);
    sk_global_graph_free(g);
    sk_machine_free(m);
}

static void patterns_are_those_of_the_plan(void **state)
{
    (void)state;
    static const char *const graphs[] = {"none", "all", "ring", "some", "random:0.1", "moore:2,1"};
    static const char *const machines[] = {"node:* core:4", "node:* core:5 map:rr", "node:* core:1",
                                           "node:* socket:2 core:3 map:shuffle", "node:1 core:30"};
    static const int sizes[] = {1, 2, 3, 7, 13, 30};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++)
        for (size_t j = 0; j < sizeof machines / sizeof *machines; j++)
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
                for (unsigned seed = 0; seed < 3; seed++)
                    assert_gathers(graphs[i], machines[j], sizes[k], seed);
    assert_gathers("random:0.3", "node:8 core:12", 96, 1);
}

static void every_method_can_be_gathered(void **state)
{
    (void)state;
    enum { N = 24 };
    sk_global_graph *g = sk_check_graph("random:0.4", N);
    sk_machine *m = sk_check_machine("node:* socket:2 core:3", N);
    for (int id = 0; id < SK_NMETHODS; id++) {
        setting s = {m, 1u << id, sk_global_graph_edges(g)};
        sk_pattern *got[N], *plan[N];
        assert_int_equal(sk_patterns_by_negotiators(g, make, &s, s.methods, 7, got, NULL), SK_OK);
        assert_int_equal(sk_patterns_by_plan((sk_method_id)id, g, m, &opts, plan), SK_OK);
        for (int r = 0; r < N; r++)
            assert_true(sk_pattern_equal(got[r], plan[r]));
        sk_patterns_free(got, N);
        sk_patterns_free(plan, N);
    }
    sk_global_graph_free(g);
    sk_machine_free(m);
}

static int64_t messages(const char *graph, const char *machine, int n, unsigned methods)
{
    sk_global_graph *g = sk_check_graph(graph, n);
    sk_machine *m = sk_check_machine(machine, n);
    sk_pattern **got = calloc(SK_NMETHODS * (size_t)n, sizeof(*got));
    sk_channel_count count = {0, 0};
    setting s = {m, methods, sk_global_graph_edges(g)};
    assert_int_equal(sk_patterns_by_negotiators(g, make, &s, methods, 0, got, &count), SK_OK);
    sk_patterns_free(got, SK_NMETHODS * n);
    free(got);
    sk_global_graph_free(g);
    sk_machine_free(m);
    return count.messages;
}

static void messages_are_two_per_local_rank_and_a_logarithm_per_leader(void **state)
{
    (void)state;
    assert_int_equal(messages("random:0.3", "node:8 core:12", 96, two), 2 * 88 + 8 * 3);
    assert_int_equal(messages("random:0.3", "node:5 core:12", 60, two), 2 * 55 + 5 * 3);
    assert_int_equal(messages("all", "node:1 core:12", 12, two), 2 * 11);
    assert_int_equal(messages("all", "node:12 core:1", 12, two), 12 * 4);
    assert_int_equal(
        messages("random:0.05", "node:60 socket:2 core:18", 2160, 1u << SK_METHOD_DIRECT),
        2 * 2100 + 60 * 6);
}

/* The number of messages to gather does not depend on methods; at 2160 ranks the factor is 2,390.
 */
static void gathering_takes_twenty_times_fewer_messages_than_negotiating(void **state)
{
    (void)state;
    enum { N = 540 };
    sk_pattern **out = calloc(N, sizeof *out);
    sk_pattern_opts opts = {.theta = 4, .friends = 2};
    sk_channel_count count;
    sk_global_graph *g = sk_check_graph("random:0.3", N);
    sk_machine *m = sk_check_machine("node:15 socket:2 core:18", N);
    assert_true(out && g && m);
    assert_int_equal(sk_patterns_by_negotiation(SK_METHOD_HALVING, g, m, &opts, 0, out, &count),
                     SK_OK);
    assert_true(count.messages >= 20 * messages("random:0.3", "node:15 socket:2 core:18", N,
                                                1u << SK_METHOD_HALVING));
    sk_patterns_free(out, N);
    free(out);
    sk_global_graph_free(g);
    sk_machine_free(m);
}

/* ---- malformed messages ---- */

/* 8 ranks, 3 nodes with 3, 3 and 2 of them; what rank 1 is told may be corrupted. */
enum { N = 8, LONGEST = 4096 };

typedef struct message {
    int from;
    size_t n;
    int32_t words[LONGEST];
} message;

static sk_status discard(sk_channel *t, int to, const int32_t *words, size_t n)
{
    (void)t, (void)to, (void)words, (void)n;
    return SK_OK;
}

typedef struct fixture {
    sk_machine *m;
    sk_global_graph *g;
    sk_graph *mine;
} fixture;

static fixture fixture_new(int rank)
{
    fixture p = {.m = sk_check_machine("node:3 core:3", N), .g = sk_check_graph("all", N)};
    int others[N], n = 0;
    for (int r = 0; r < N; r++)
        if (r != rank)
            others[n++] = r;
    assert_int_equal(sk_graph_new(N, rank, n, others, n, others, false, &p.mine), SK_OK);
    return p;
}

static void fixture_free(fixture *p)
{
    sk_machine_free(p->m);
    sk_global_graph_free(p->g);
    sk_graph_free(p->mine);
}

/* Hands over messages, exactly as long as said. */
static sk_status deliver(const fixture *at, const message *messages, int n, bool *done)
{
    sk_channel t = {discard};
    setting s = {at->m, two, sk_global_graph_edges(at->g)};
    sk_negotiator *p = make(at->mine, &s);
    assert_non_null(p);
    sk_status st = sk_negotiator_start(p, &t);
    for (int i = 0; i < n && st == SK_OK; i++) {
        int32_t *exact = malloc(messages[i].n * sizeof *exact + 1);
        assert_non_null(exact);
        memcpy(exact, messages[i].words, messages[i].n * sizeof *exact);
        st = sk_negotiator_receive(p, &t, messages[i].from, exact, messages[i].n);
        free(exact);
    }
    *done = p->done;
    sk_negotiator_free(p);
    return st;
}

static void add_set(message *l, int rank)
{
    int others[N], n = 0;
    for (int r = 0; r < N; r++)
        if (r != rank)
            others[n++] = r;
    l->n += sk_rankset_put(l->words + l->n, N, others, n);
}

/* What the leader of node 0 hears: its local ranks 1 and 2, then leader 3 of the next node, then leader 6
 * of the last. */
static void messages_to_leader(message *l)
{
    for (int i = 0; i < 2; i++) {
        l[i].from = 1 + i;
        l[i].words[0] = 0;
        l[i].n = 1;
        add_set(&l[i], 1 + i);
    }
    for (int i = 2; i < 4; i++) {
        l[i].from = i == 2 ? 3 : 6;
        l[i].words[0] = i;
        l[i].n = 1;
        for (int r = l[i].from; r < l[i].from + (i == 2 ? 3 : 2); r++)
            add_set(&l[i], r);
    }
}

static void message_to_local_rank(message *l, const fixture *at)
{
    static const sk_method_id ids[] = {SK_METHOD_DIRECT, SK_METHOD_NODE};
    l->from = 0;
    l->words[0] = 1;
    l->n = 1;
    for (int i = 0; i < 2; i++) {
        sk_pattern *p = NULL;
        int32_t *words = NULL;
        size_t n = 0;
        int rank = at->mine->rank;
        assert_int_equal(sk_method_get(ids[i])->plan(at->g, at->m, &opts, &rank, 1, &p), SK_OK);
        assert_int_equal(sk_pattern_pack(p, &words, &n), SK_OK);
        assert_true(l->n + 1 + n <= LONGEST);
        l->words[l->n] = (int32_t)n;
        memcpy(l->words + l->n + 1, words, n * sizeof *words);
        l->n += 1 + n;
        free(words);
        sk_pattern_free(p);
    }
}

/* Words changed, cut off or added, wrong senders: refused, or waited for, but never the end with a
 * crash. Returns how many were refused. */
static int corrupt(const fixture *at, const message *right, int n, int tries)
{
    static const int32_t odd[] = {-1, 0, 1, 2, 3, 7, 9, 255, 256, 100000, INT32_MAX, INT32_MIN};
    message *l = malloc((size_t)n * sizeof *l);
    assert_non_null(l);
    unsigned seed = 17;
    int refused = 0;
    for (int i = 0; i < tries; i++) {
        memcpy(l, right, (size_t)n * sizeof *l);
        message *one = &l[rand_r(&seed) % n];
        bool done = false;
        switch (i % 4) {
        case 0:
            one->words[(size_t)rand_r(&seed) % one->n] = odd[rand_r(&seed) % 12];
            break;
        case 1:
            one->n = (size_t)rand_r(&seed) % one->n;
            break;
        case 2:
            one->words[one->n++] = odd[rand_r(&seed) % 12];
            break;
        default:
            one->from = (one->from + 1 + rand_r(&seed) % (N - 1)) % N;
        }
        sk_status st = deliver(at, l, n, &done);
        assert_true(st == SK_OK || st == SK_WIRE);
        assert_true(st == SK_OK || !done);
        refused += st == SK_WIRE;
    }
    free(l);
    return refused;
}

static void leaders_refuse_malformed_messages(void **state)
{
    (void)state;
    static message l[4];
    bool done = false;
    fixture at = fixture_new(0);
    messages_to_leader(l);
    assert_int_equal(deliver(&at, l, 4, &done), SK_OK);
    assert_true(done);
    assert_true(corrupt(&at, l, 4, 2000) > 1700);
    /* The same local rank twice. */
    message twice[] = {l[0], l[0]};
    assert_int_equal(deliver(&at, twice, 2, &done), SK_WIRE);
    fixture_free(&at);
}

static void local_ranks_refuse_malformed_messages(void **state)
{
    (void)state;
    static message l[1];
    bool done = false;
    fixture at = fixture_new(1);
    message_to_local_rank(l, &at);
    assert_int_equal(deliver(&at, l, 1, &done), SK_OK);
    assert_true(done);
    assert_true(corrupt(&at, l, 1, 2000) > 1500);
    fixture_free(&at);
    /* A pattern of another rank. */
    at = fixture_new(2);
    message_to_local_rank(l, &at);
    fixture_free(&at);
    at = fixture_new(1);
    assert_int_equal(deliver(&at, l, 1, &done), SK_WIRE);
    fixture_free(&at);
}

/* The number of edges is agreed before; memory is taken for as many. */
static void more_edges_than_agreed_are_refused(void **state)
{
    (void)state;
    sk_global_graph *g = sk_check_graph("all", N);
    sk_machine *m = sk_check_machine("node:3 core:3", N);
    setting s = {m, two, sk_global_graph_edges(g) - 1};
    sk_pattern *got[2 * N];
    assert_int_equal(sk_patterns_by_negotiators(g, make, &s, two, 0, got, NULL), SK_WIRE);
    sk_global_graph_free(g);
    sk_machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_those_of_the_plan),
        cmocka_unit_test(every_method_can_be_gathered),
        cmocka_unit_test(messages_are_two_per_local_rank_and_a_logarithm_per_leader),
        cmocka_unit_test(gathering_takes_twenty_times_fewer_messages_than_negotiating),
        cmocka_unit_test(leaders_refuse_malformed_messages),
        cmocka_unit_test(local_ranks_refuse_malformed_messages),
        cmocka_unit_test(more_edges_than_agreed_are_refused),
    };
    return RUN(tests);
}
