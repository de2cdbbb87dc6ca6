/* Graphs: lists of neighbours as MPI gives them, and their edges sorted so that edges match. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "topo/graph.h"

static sk_graph *make(int nranks, int rank, int nin, const int *in, int nout, const int *out)
{
    sk_graph *g = NULL;
    assert_int_equal(sk_graph_new(nranks, rank, nin, in, nout, out, false, &g), SK_OK);
    assert_non_null(g);
    return g;
}

static void assert_ints(const int *got, int ngot, const int *want, int nwant)
{
    assert_int_equal(ngot, nwant);
    for (int i = 0; i < nwant; i++)
        assert_int_equal(got[i], want[i]);
}

static void lists_keep_the_order_of_the_buffers(void **state)
{
    (void)state;
    int in[] = {4, 0, 2}, out[] = {1, 4};
    sk_graph *g = make(5, 3, 3, in, 2, out);
    in[0] = 1; /* the graph has copies */
    out[0] = 2;
    assert_int_equal(g->nranks, 5);
    assert_int_equal(g->rank, 3);
    assert_ints(g->in, g->nin, (int[]){4, 0, 2}, 3);
    assert_ints(g->out, g->nout, (int[]){1, 4}, 2);
    assert_ints(g->in_sorted, g->nin_sorted, (int[]){1, 2, 0}, 3);
    assert_ints(g->sources, g->nsources, (int[]){0, 2, 4}, 3);
    assert_ints(g->targets, g->ntargets, (int[]){1, 4}, 2);
    sk_graph_free(g);
}

static void loops_and_parallel_edges_are_edges_but_neighbours_once(void **state)
{
    (void)state;
    const int in[] = {2, 1, 2, 0, 2, 1}, out[] = {1, 1, 1};
    sk_graph *g = make(3, 1, 6, in, 3, out);
    assert_ints(g->in_sorted, g->nin_sorted, (int[]){3, 1, 5, 0, 2, 4}, 6);
    assert_ints(g->sources, g->nsources, (int[]){0, 2}, 2);
    assert_ints(g->out_sorted, g->nout_sorted, (int[]){0, 1, 2}, 3);
    assert_int_equal(g->ntargets, 0);

    int first = -1;
    assert_int_equal(sk_graph_in_edges(g, 2, &first), 3);
    assert_int_equal(first, 3);
    assert_int_equal(sk_graph_in_edges(g, 1, &first), 2);
    assert_int_equal(first, 1);
    assert_int_equal(sk_graph_out_edges(g, 1, &first), 3);
    assert_int_equal(first, 0);
    assert_int_equal(sk_graph_out_edges(g, 0, &first), 0);
    assert_int_equal(sk_graph_out_edges(g, 2, &first), 0);
    sk_graph_free(g);
}

static void nobody_is_a_edge_but_no_neighbour(void **state)
{
    (void)state;
    const int both[] = {SK_PROC_NULL, 1, SK_PROC_NULL, 0};
    sk_graph *g = make(2, 0, 4, both, 4, both);
    assert_int_equal(g->nin, 4);
    assert_ints(g->in_sorted, g->nin_sorted, (int[]){3, 1}, 2);
    assert_ints(g->out_sorted, g->nout_sorted, (int[]){3, 1}, 2);
    assert_ints(g->sources, g->nsources, (int[]){1}, 1);
    int first;
    assert_int_equal(sk_graph_in_edges(g, SK_PROC_NULL, &first), 0);
    sk_graph_free(g);
}

static void a_rank_may_be_alone(void **state)
{
    (void)state;
    sk_graph *g = make(1, 0, 0, NULL, 0, NULL);
    int first;
    assert_int_equal(g->nsources + g->ntargets + g->nin_sorted + g->nout_sorted, 0);
    assert_int_equal(sk_graph_in_edges(g, 0, &first), 0);
    assert_int_equal(sk_graph_out_edges(g, 0, &first), 0);
    sk_graph_free(g);
    sk_graph_free(NULL);
}

static void wrong_lists_are_refused(void **state)
{
    (void)state;
    sk_graph *g = NULL;
    const int high[] = {0, 3}, low[] = {-2}, fine[] = {0, 1};
    assert_int_equal(sk_graph_new(3, 0, 2, high, 0, NULL, false, &g), SK_BADARG);
    assert_int_equal(sk_graph_new(3, 0, 0, NULL, 1, low, false, &g), SK_BADARG);
    assert_int_equal(sk_graph_new(3, 3, 2, fine, 2, fine, false, &g), SK_BADARG);
    assert_int_equal(sk_graph_new(3, -1, 2, fine, 2, fine, false, &g), SK_BADARG);
    assert_int_equal(sk_graph_new(0, 0, 0, NULL, 0, NULL, false, &g), SK_BADARG);
    assert_int_equal(sk_graph_new(3, 0, -1, fine, 2, fine, false, &g), SK_BADARG);
    assert_int_equal(sk_graph_new(3, 0, 2, fine, 0, NULL, true, &g), SK_BADARG);
    assert_int_equal(sk_graph_new(3, 0, 1, fine, 1, fine, true, &g), SK_BADARG);
    assert_null(g);
}

/* Random edges, many of them parallel, in random order: edge k from s to d must be the k-th
 * occurrence in both lists, which is what MPI's matching of messages in order gives. */
enum { RANKS = 7, EDGES = 150 };

typedef struct lists {
    int in[RANKS][EDGES], nin[RANKS], out[RANKS][EDGES], nout[RANKS];
} lists;

static void shuffle(int *list, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = rand() % (i + 1), held = list[i];
        list[i] = list[j];
        list[j] = held;
    }
}

static void draw(lists *l)
{
    memset(l, 0, sizeof *l);
    for (int i = 0; i < EDGES; i++) {
        int from = rand() % RANKS, to = rand() % RANKS;
        l->out[from][l->nout[from]++] = to;
        l->in[to][l->nin[to]++] = from;
    }
    for (int r = 0; r < RANKS; r++) {
        shuffle(l->in[r], l->nin[r]);
        shuffle(l->out[r], l->nout[r]);
    }
}

/* The k-th edge of a rank in a list, by looking; -1: there are fewer. */
static int occurrence(const int *list, int n, int rank, int k)
{
    for (int i = 0; i < n; i++)
        if (list[i] == rank && k-- == 0)
            return i;
    return -1;
}

static void parallel_edges_match_in_order(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 20; round++) {
        lists l;
        sk_graph *g[RANKS];
        draw(&l);
        for (int r = 0; r < RANKS; r++)
            g[r] = make(RANKS, r, l.nin[r], l.in[r], l.nout[r], l.out[r]);
        for (int s = 0; s < RANKS; s++)
            for (int d = 0; d < RANKS; d++) {
                int in, out, n = sk_graph_out_edges(g[s], d, &out);
                assert_int_equal(sk_graph_in_edges(g[d], s, &in), n);
                assert_int_equal(occurrence(l.out[s], l.nout[s], d, n), -1);
                for (int k = 0; k < n; k++) {
                    assert_int_equal(g[s]->out_sorted[out + k],
                                     occurrence(l.out[s], l.nout[s], d, k));
                    assert_int_equal(g[d]->in_sorted[in + k], occurrence(l.in[d], l.nin[d], s, k));
                }
            }
        for (int r = 0; r < RANKS; r++)
            sk_graph_free(g[r]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_keep_the_order_of_the_buffers),
        cmocka_unit_test(loops_and_parallel_edges_are_edges_but_neighbours_once),
        cmocka_unit_test(nobody_is_a_edge_but_no_neighbour),
        cmocka_unit_test(a_rank_may_be_alone),
        cmocka_unit_test(wrong_lists_are_refused),
        cmocka_unit_test(parallel_edges_match_in_order),
    };
    return RUN(tests);
}
