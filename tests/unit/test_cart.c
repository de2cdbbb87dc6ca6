/* Grids: neighbours in the standard's order, and blocks that leave downwards arrive from above. */
#include "unit.h"

#include "lab/graph/cart.h"

enum { MAX_DIMS = 3 };

static sk_graph *make(int ndims, const int *dims, const int *periods, int rank)
{
    sk_graph *g = NULL;
    assert_int_equal(sk_graph_cart(ndims, dims, periods, rank, &g), SK_OK);
    assert_non_null(g);
    return g;
}

static void assert_ints(const int *got, const int *want, int n)
{
    for (int i = 0; i < n; i++)
        assert_int_equal(got[i], want[i]);
}

static void a_line_ends_at_its_borders(void **state)
{
    (void)state;
    const int dims[] = {3}, open[] = {0}, ring[] = {1};
    sk_graph *g = make(1, dims, open, 0);
    assert_ints(g->in, (int[]){SK_PROC_NULL, 1}, 2);
    assert_ints(g->out, (int[]){SK_PROC_NULL, 1}, 2);
    assert_int_equal(g->nin_sorted, 1);
    sk_graph_free(g);
    g = make(1, dims, ring, 0);
    assert_ints(g->in, (int[]){2, 1}, 2);
    sk_graph_free(g);
}

static void dimensions_come_one_after_the_other(void **state)
{
    (void)state;
    const int dims[] = {3, 4}, periods[] = {0, 1}; /* rank 4: coordinates 1, 0 */
    sk_graph *g = make(2, dims, periods, 4);
    assert_int_equal(g->nranks, 12);
    assert_ints(g->in, (int[]){0, 8, 7, 5}, 4);
    assert_ints(g->sources, (int[]){0, 5, 7, 8}, 4);
    sk_graph_free(g);
}

/* By hand, from the standard's rule that the two directions of a dimension have a tag each. */
static void both_edges_of_a_ring_of_two_are_swapped(void **state)
{
    (void)state;
    const int dims[] = {2}, periods[] = {1};
    sk_graph *g = make(1, dims, periods, 0);
    assert_ints(g->out, (int[]){1, 1}, 2);
    assert_ints(g->out_sorted, (int[]){0, 1}, 2);
    assert_ints(g->in_sorted, (int[]){1, 0}, 2);
    assert_int_equal(g->nsources, 1);
    sk_graph_free(g);
}

static void rings_of_one_are_swapped_dimension_by_dimension(void **state)
{
    (void)state;
    const int dims[] = {1, 1, 1}, periods[] = {1, 1, 1};
    sk_graph *g = make(3, dims, periods, 0);
    assert_ints(g->out, (int[]){0, 0, 0, 0, 0, 0}, 6);
    assert_ints(g->out_sorted, (int[]){0, 1, 2, 3, 4, 5}, 6);
    assert_ints(g->in_sorted, (int[]){1, 0, 3, 2, 5, 4}, 6);
    assert_int_equal(g->nsources + g->ntargets, 0);
    sk_graph_free(g);
}

static void rings_of_two_swap_in_each_dimension(void **state)
{
    (void)state;
    const int dims[] = {2, 2}, periods[] = {1, 1};
    sk_graph *g = make(2, dims, periods, 0);
    assert_ints(g->out, (int[]){2, 2, 1, 1}, 4);
    assert_ints(g->out_sorted, (int[]){2, 3, 0, 1}, 4);
    assert_ints(g->in_sorted, (int[]){3, 2, 1, 0}, 4);
    sk_graph_free(g);
}

static void no_dimensions_are_one_rank_without_neighbours(void **state)
{
    (void)state;
    sk_graph *g = make(0, NULL, NULL, 0);
    assert_int_equal(g->nranks, 1);
    assert_int_equal(g->nin + g->nout, 0);
    sk_graph_free(g);
}

static void wrong_grids_are_refused(void **state)
{
    (void)state;
    const int periods[] = {0, 0, 0};
    sk_graph *g = NULL;
    assert_int_equal(sk_graph_cart(2, (int[]){2, 0}, periods, 0, &g), SK_BADARG);
    assert_int_equal(sk_graph_cart(2, (int[]){2, 3}, periods, 6, &g), SK_BADARG);
    assert_int_equal(sk_graph_cart(2, (int[]){2, 3}, periods, -1, &g), SK_BADARG);
    assert_int_equal(sk_graph_cart(-1, NULL, NULL, 0, &g), SK_BADARG);
    assert_int_equal(sk_graph_cart(3, (int[]){2048, 2048, 2048}, periods, 0, &g), SK_TOOBIG);
    assert_null(g);
}

/* Where does a block arrive that rank s sends in a direction? By coordinates alone: at the rank one
 * step further, in the edge of the opposite direction. */
static int rank_at(int ndims, const int *dims, const int *periods, const int *at)
{
    int rank = 0;
    for (int i = 0; i < ndims; i++) {
        int x = at[i];
        if (periods[i])
            x = (x + dims[i]) % dims[i];
        if (x < 0 || x >= dims[i])
            return SK_PROC_NULL;
        rank = rank * dims[i] + x;
    }
    return rank;
}

static int arrives_in(const sk_graph *s, const sk_graph *d, int out_edge)
{
    int in, out, n = sk_graph_out_edges(s, d->rank, &out);
    assert_int_equal(sk_graph_in_edges(d, s->rank, &in), n);
    for (int k = 0; k < n; k++)
        if (s->out_sorted[out + k] == out_edge)
            return d->in_sorted[in + k];
    return -1;
}

static void check_grid(int ndims, const int *dims, const int *periods)
{
    sk_graph *g[64];
    int n = 1;
    for (int i = 0; i < ndims; i++)
        n *= dims[i];
    assert_between(n, 1, 64);
    for (int r = 0; r < n; r++)
        g[r] = make(ndims, dims, periods, r);
    for (int r = 0; r < n; r++) {
        int at[MAX_DIMS], rest = r;
        for (int i = ndims - 1; i >= 0; i--) {
            at[i] = rest % dims[i];
            rest /= dims[i];
        }
        assert_int_equal(g[r]->nin, 2 * ndims);
        for (int i = 0; i < ndims; i++)
            for (int up = 0; up < 2; up++) {
                int home = at[i], edge = 2 * i + up, opposite = 2 * i + 1 - up;
                at[i] += up ? 1 : -1;
                int to = rank_at(ndims, dims, periods, at);
                at[i] = home;
                assert_int_equal(g[r]->out[edge], to);
                assert_int_equal(g[r]->in[edge], to);
                if (to != SK_PROC_NULL)
                    assert_int_equal(arrives_in(g[r], g[to], edge), opposite);
            }
    }
    for (int r = 0; r < n; r++)
        sk_graph_free(g[r]);
}

static void every_block_arrives_from_the_opposite_direction(void **state)
{
    (void)state;
    int dims[MAX_DIMS], periods[MAX_DIMS];
    for (int ndims = 1; ndims <= MAX_DIMS; ndims++)
        for (int shape = 0; shape < 1 << (2 * ndims); shape++)
            for (int mask = 0; mask < 1 << ndims; mask++) {
                for (int i = 0; i < ndims; i++) {
                    dims[i] = 1 + (shape >> (2 * i) & 3);
                    periods[i] = mask >> i & 1;
                }
                check_grid(ndims, dims, periods);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_ends_at_its_borders),
        cmocka_unit_test(dimensions_come_one_after_the_other),
        cmocka_unit_test(both_edges_of_a_ring_of_two_are_swapped),
        cmocka_unit_test(rings_of_one_are_swapped_dimension_by_dimension),
        cmocka_unit_test(rings_of_two_swap_in_each_dimension),
        cmocka_unit_test(no_dimensions_are_one_rank_without_neighbours),
        cmocka_unit_test(wrong_grids_are_refused),
        cmocka_unit_test(every_block_arrives_from_the_opposite_direction),
    };
    return RUN(tests);
}
