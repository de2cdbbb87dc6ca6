#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "topo/machine.h"

static sk_machine *parse(const char *text, int nranks)
{
    char err[256] = "";
    sk_machine *m = NULL;
    if (sk_machine_parse(text, nranks, &m, err, sizeof err) != SK_OK)
        fail_msg("%s: %s", text, err);
    return m;
}

/* What holds for every machine, whatever it was made from. */
static void check(const sk_machine *m)
{
    bool in_order = true;
    for (int i = 0; i < m->nranks; i++) {
        int r = m->rank_at[i], node = m->node[r], socket = m->socket[r];
        assert_int_equal(m->position[r], i);
        assert_between(i, m->node_first[node], m->node_first[node + 1] - 1);
        assert_between(i, m->socket_first[socket], m->socket_first[socket + 1] - 1);
        in_order &= r == i;
        if (i == 0)
            continue;
        int before = m->rank_at[i - 1];
        assert_between(socket, m->socket[before], m->socket[before] + 1);
        if (socket == m->socket[before]) {
            assert_int_equal(node, m->node[before]);
            assert_true(m->core[before] < m->core[r] ||
                        (m->core[before] == m->core[r] && before < r));
        }
    }
    assert_int_equal(m->in_order, in_order);
    assert_int_equal(m->node_first[m->nnodes], m->nranks);
    assert_int_equal(m->socket_first[m->nsockets], m->nranks);
}

static void assert_ints(const int *got, const int *want, int n)
{
    for (int i = 0; i < n; i++)
        assert_int_equal(got[i], want[i]);
}

static void nodes_and_sockets_stand_in_the_order_of_their_lowest_rank(void **state)
{
    (void)state;
    /* Node 70 comes first, since rank 0 is on it; on node -5, socket 3 comes before socket 1. */
    const sk_location locations[] = {{70, 9, 4}, {-5, 3, 2}, {-5, 1, 0},
                                     {70, 9, 1}, {-5, 3, 0}, {70, 2, 0}};
    sk_machine *m = NULL;
    assert_int_equal(sk_machine_new(6, locations, 8, &m), SK_OK);
    check(m);
    assert_ints(m->rank_at, (int[]){3, 0, 5, 4, 1, 2}, 6);
    assert_ints(m->node, (int[]){0, 1, 1, 0, 1, 0}, 6);
    assert_ints(m->socket, (int[]){0, 2, 3, 0, 2, 1}, 6);
    assert_ints(m->core, (int[]){4, 2, 0, 1, 0, 0}, 6);
    assert_ints(m->node_first, (int[]){0, 3, 6}, 3);
    assert_ints(m->socket_first, (int[]){0, 2, 3, 5, 6}, 5);
    assert_int_equal(m->max_per_node, 3);
    assert_int_equal(m->max_per_socket, 2);
    assert_int_equal(m->cores, 8);
    assert_false(m->in_order);
    assert_int_equal(sk_machine_level(m, 0, 3), SK_SOCKET);
    assert_int_equal(sk_machine_level(m, 0, 5), SK_NODE);
    assert_int_equal(sk_machine_level(m, 5, 2), SK_NET);
    sk_machine_free(m);
}

static void ranks_without_a_core_stand_by_rank(void **state)
{
    (void)state;
    const sk_location locations[] = {{1, 0, -1}, {2, 0, -1}, {1, 0, -1}, {2, 0, -1}, {1, 0, -1}};
    sk_machine *m = NULL;
    assert_int_equal(sk_machine_new(5, locations, 0, &m), SK_OK);
    check(m);
    assert_ints(m->rank_at, (int[]){0, 2, 4, 1, 3}, 5);
    assert_int_equal(m->cores, 0);
    sk_machine_free(m);
}

/* Two nodes with 3 ranks and 1, and their cores. */
static int cores_of(int three, int one)
{
    const sk_location locations[] = {{1, 0, -1}, {2, 0, -1}, {1, 0, -1}, {1, 0, -1}};
    const int cores[] = {three, one, three, three};
    sk_machine *m = NULL;
    assert_int_equal(sk_machine_new(4, locations, 7, &m), SK_OK);
    sk_machine_set_cores(m, cores);
    int got = m->cores;
    assert_true(sk_machine_oversubscribed(m) == (three > 0 && one > 0 && three < 3));
    sk_machine_free(m);
    return got;
}

static void cores_count_where_most_ranks_share_one(void **state)
{
    (void)state;
    assert_int_equal(cores_of(3, 1), 3); /* each rank bound to its own: no node has too few */
    assert_int_equal(cores_of(4, 2), 4);
    assert_int_equal(cores_of(2, 1), 2);
    assert_int_equal(cores_of(1, 8), 1);
    assert_int_equal(cores_of(0, 8), 0); /* not known */
    assert_int_equal(cores_of(8, 0), 0);
    /* The node with one rank fewer shares its only core: as if the fullest did likewise. */
    const sk_location locations[] = {{1, 0, -1}, {1, 0, -1}, {1, 0, -1}, {2, 0, -1}, {2, 0, -1}};
    sk_machine *m = NULL;
    assert_int_equal(sk_machine_new(5, locations, 0, &m), SK_OK);
    sk_machine_set_cores(m, (int[]){4, 4, 4, 1, 1});
    assert_int_equal(m->cores, 1);
    assert_true(sk_machine_oversubscribed(m));
    sk_machine_free(m);
}

static void any_locations_make_a_machine(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (int n = 1; n <= 60; n++) {
        sk_location locations[60];
        for (int i = 0; i < n; i++)
            locations[i] = (sk_location){rand_r(&seed) % 7 * 1000000007ll, rand_r(&seed) % 3,
                                         rand_r(&seed) % 9 - 1};
        sk_machine *m = NULL;
        assert_int_equal(sk_machine_new(n, locations, 0, &m), SK_OK);
        check(m);
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) {
                bool node = locations[a].node == locations[b].node;
                bool socket = node && locations[a].socket == locations[b].socket;
                assert_int_equal(sk_machine_level(m, a, b),
                                 socket ? SK_SOCKET : (node ? SK_NODE : SK_NET));
            }
        sk_machine_free(m);
    }
    sk_machine *none = NULL;
    assert_int_equal(sk_machine_new(0, NULL, 0, &none), SK_BADARG);
    assert_null(none);
}

static void a_hundred_thousand_ranks_find_their_places(void **state)
{
    (void)state;
    sk_machine *m = parse("node:* socket:2 core:18 map:shuffle", 100000);
    check(m);
    assert_int_equal(m->nnodes, 2778);
    assert_int_equal(m->max_per_node, 36);
    sk_machine_free(m);
}

static void a_description_fills_nodes_in_order(void **state)
{
    (void)state;
    sk_machine *m = parse("node:3 socket:2 core:2", 10);
    check(m);
    assert_true(m->in_order);
    assert_int_equal(m->nnodes, 3);
    assert_int_equal(m->nsockets, 5);
    assert_ints(m->node_first, (int[]){0, 4, 8, 10}, 4);
    assert_ints(m->socket_first, (int[]){0, 2, 4, 6, 8, 10}, 6);
    assert_ints(m->core, (int[]){0, 1, 2, 3, 0, 1, 2, 3, 0, 1}, 10);
    assert_int_equal(m->cores, 4);
    sk_machine_free(m);
}

static void missing_levels_count_one(void **state)
{
    (void)state;
    sk_machine *m = parse("\tcore:4,", 4);
    assert_int_equal(m->nnodes, 1);
    assert_int_equal(m->nsockets, 1);
    assert_int_equal(m->cores, 4);
    sk_machine_free(m);
    m = parse("node:*", 5);
    assert_int_equal(m->nnodes, 5);
    assert_int_equal(m->cores, 1);
    sk_machine_free(m);
    m = parse("core:4,node:*,socket:2,map:seq", 17);
    assert_int_equal(m->nnodes, 3);
    assert_int_equal(m->nsockets, 5);
    sk_machine_free(m);
}

static void round_robin_deals_ranks_over_nodes(void **state)
{
    (void)state;
    sk_machine *m = parse("node:3 socket:2 core:2 map:rr", 10);
    check(m);
    for (int r = 0; r < 10; r++)
        assert_int_equal(m->node[r], r % 3);
    assert_ints(m->rank_at, (int[]){0, 3, 6, 9, 1, 4, 7, 2, 5, 8}, 10);
    assert_ints(m->socket, (int[]){0, 2, 4, 0, 2, 4, 1, 3, 5, 1}, 10);
    sk_machine_free(m);
}

static void round_robin_deals_ranks_over_sockets(void **state)
{
    (void)state;
    sk_machine *m = parse("node:2 socket:2 core:3 map:rr-socket", 10);
    check(m);
    assert_ints(m->node, (int[]){0, 0, 1, 1, 0, 0, 1, 1, 0, 0}, 10);
    assert_ints(m->socket, (int[]){0, 1, 2, 3, 0, 1, 2, 3, 0, 1}, 10);
    assert_ints(m->core, (int[]){0, 3, 0, 3, 1, 4, 1, 4, 2, 5}, 10);
    sk_machine_free(m);
}

static void a_shuffle_is_the_same_for_the_same_seed(void **state)
{
    (void)state;
    sk_machine *a = parse("node:8 core:8 map:shuffle:7", 60), *other;
    sk_machine *b = parse("node:8 core:8 map:shuffle:7", 60);
    check(a);
    assert_false(a->in_order);
    assert_int_equal(a->nnodes, 8);
    assert_int_equal(a->max_per_node, 8);
    assert_ints(a->rank_at, b->rank_at, 60);
    other = parse("node:8 core:8 map:shuffle:8", 60);
    assert_memory_not_equal(a->rank_at, other->rank_at, 60 * sizeof *a->rank_at);
    sk_machine_free(a);
    sk_machine_free(b);
    sk_machine_free(other);
}

static void a_wrong_description_is_explained(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int nranks;
        const char *says;
    } cases[] = {
        {"node:2 core:4", 16, "node:2 core:4 has 8 places for 16 ranks; use node:4, or node:*"},
        {"core:4 map:rr", 5, "core:4 has 4 places for 5 ranks; use node:2, or node:*"},
        {"map:rr", 2, "this machine has 1 place for 2 ranks; use node:2, or node:*"},
        {"nod:4", 4, "unknown word \"nod:4\"; did you mean node?"},
        {"node:4 sokcet:2", 4, "did you mean socket?"},
        {"node:2 4", 4, "unknown word \"4\""},
        {"node", 1, "\"node\" needs a number behind it"},
        {"node:", 1, "\"node:\" needs a number behind it"},
        {"node:2 map:", 1, "\"map:\" needs a map behind it"},
        {"node:0", 1, "\"node:0\": node needs a number from 1 to 16777216 or *"},
        {"core:-3", 1, "core needs a number from 1"},
        {"core:*", 1, "core needs a number from 1"},
        {"socket:two", 1, "socket needs a number from 1 to 1024, as in \"node:60"},
        {"core:99999999999999999999", 1, "core needs a number"},
        {"node:2 node:3", 1, "node is given twice"},
        {"node:2 map:roundrobin", 1, "map:roundrobin is no map"},
        {"node:2 map:shufle:3", 1, "did you mean map:shuffle?"},
        {"node:2 map:rr:3", 1, "only shuffle has a seed"},
        {"node:2 map:shuffle:x", 1, "a whole number as in map:shuffle:7"},
        {"", 1, "an empty description"},
        {" , ", 1, "an empty description"},
        {NULL, 1, "an empty description"},
        {"node:2", 0, "at least 1 rank"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char err[256] = "";
        sk_machine *m = NULL;
        assert_int_equal(sk_machine_parse(cases[i].text, cases[i].nranks, &m, err, sizeof err),
                         SK_BADARG);
        assert_null(m);
        if (!strstr(err, cases[i].says))
            fail_msg("\"%s\" does not say \"%s\"", err, cases[i].says);
    }
}

static void levels_have_names(void **state)
{
    (void)state;
    assert_string_equal(sk_level_name(SK_SOCKET), "socket");
    assert_string_equal(sk_level_name(SK_NODE), "node");
    assert_string_equal(sk_level_name(SK_NET), "net");
}

static void even_machines_have_unbound_ranks(void **state)
{
    (void)state;
    sk_machine *m = NULL;
    assert_int_equal(sk_machine_even(7, 2, 3, &m), SK_OK);
    assert_int_equal(m->nnodes, 2);
    assert_int_equal(m->max_per_node, 4);
    assert_int_equal(m->node[3], 0);
    assert_int_equal(m->node[4], 1);
    assert_int_equal(m->core[6], -1);
    assert_true(sk_machine_oversubscribed(m));
    sk_machine_free(m);
    assert_int_equal(sk_machine_even(7, 0, 3, &m), SK_BADARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(even_machines_have_unbound_ranks),
        cmocka_unit_test(nodes_and_sockets_stand_in_the_order_of_their_lowest_rank),
        cmocka_unit_test(ranks_without_a_core_stand_by_rank),
        cmocka_unit_test(cores_count_where_most_ranks_share_one),
        cmocka_unit_test(any_locations_make_a_machine),
        cmocka_unit_test(a_hundred_thousand_ranks_find_their_places),
        cmocka_unit_test(a_description_fills_nodes_in_order),
        cmocka_unit_test(missing_levels_count_one),
        cmocka_unit_test(round_robin_deals_ranks_over_nodes),
        cmocka_unit_test(round_robin_deals_ranks_over_sockets),
        cmocka_unit_test(a_shuffle_is_the_same_for_the_same_seed),
        cmocka_unit_test(a_wrong_description_is_explained),
        cmocka_unit_test(levels_have_names),
    };
    return RUN(tests);
}
