/* The whole graph: bits and lists answer alike, and take the memory that was said. */
#include "unit.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "topo/global_graph.h"

enum { MOST = 200 };

/* A graph as a plain matrix, to compare with. */
typedef struct plain {
    int n;
    int64_t edges;
    bool has[MOST][MOST];
} plain;

static void draw(plain *p, int n, int percent)
{
    memset(p, 0, sizeof *p);
    p->n = n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j && rand() % 100 < percent) {
                p->has[i][j] = true;
                p->edges++;
            }
}

static int targets_of(const plain *p, int rank, int *out)
{
    int n = 0;
    for (int j = 0; j < p->n; j++)
        if (p->has[rank][j])
            out[n++] = j;
    return n;
}

static sk_global_graph *fill(const plain *p, int64_t room)
{
    int list[MOST];
    sk_global_graph *w = sk_global_graph_new(p->n, room);
    assert_non_null(w);
    for (int i = 0; i < p->n; i++) {
        int rank = (i * 11 + 3) % p->n; /* in any order: 11 divides none of the sizes */
        int n = targets_of(p, rank, list);
        if (n > 0 || rank % 2) /* some without targets are never added */
            assert_int_equal(sk_global_graph_add(w, rank, list, n), SK_OK);
    }
    assert_int_equal(sk_global_graph_freeze(w), SK_OK);
    return w;
}

/* Whether a graph with room for so many edges is kept as bits: then it takes as much memory as one
 * with room for all. */
static bool as_bits(int n, int64_t edges)
{
    return sk_global_graph_bytes(n, edges) == sk_global_graph_bytes(n, INT64_MAX);
}

static void compare(const plain *p, const sk_global_graph *w)
{
    assert_int_equal(sk_global_graph_nranks(w), p->n);
    assert_int_equal(sk_global_graph_edges(w), p->edges);
    for (int i = 0; i < p->n; i++) {
        int to[MOST], from[MOST], nto = 0, nfrom = 0;
        sk_global_graph_targets(w, i, to);
        sk_global_graph_sources(w, i, from);
        for (int j = 0; j < p->n; j++) {
            assert_int_equal(sk_global_graph_has(w, i, j), p->has[i][j]);
            if (p->has[i][j])
                assert_int_equal(to[nto++], j);
            if (p->has[j][i])
                assert_int_equal(from[nfrom++], j);
        }
        assert_int_equal(sk_global_graph_degree(w, i, false), nto);
        assert_int_equal(sk_global_graph_degree(w, i, true), nfrom);
    }
}

static void bits_and_lists_answer_alike(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 63, 64, 65, 130, 199}, percents[] = {0, 1, 10, 50, 100};
    static plain p;
    int nbits = 0, nlists = 0;
    srand(3);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof percents / sizeof *percents; j++) {
            draw(&p, sizes[i], percents[j]);
            sk_global_graph *exact = fill(&p, p.edges), *roomy = fill(&p, (int64_t)MOST * MOST * 4);
            compare(&p, exact);
            compare(&p, roomy);
            assert_true(as_bits(p.n, (int64_t)MOST * MOST * 4));
            nbits += as_bits(p.n, p.edges);
            nlists += !as_bits(p.n, p.edges);
            sk_global_graph_free(exact);
            sk_global_graph_free(roomy);
        }
    assert_true(nbits > 5 && nlists > 5);
}

static void the_smaller_form_is_taken(void **state)
{
    (void)state;
    const int n = 1024;
    const int64_t even = (int64_t)n * n / 32; /* n*n/8 bytes of bits, 4 of a list per edge */
    assert_false(as_bits(n, even / 2));
    assert_true(as_bits(n, 2 * even));
    assert_int_equal(sk_global_graph_bytes(n, 2 * even), sk_global_graph_bytes(n, (int64_t)n * n));
    assert_between(sk_global_graph_bytes(n, 2 * even), n * n / 4, n * n / 4 + 64 * n);
    assert_true(sk_global_graph_bytes(n, even / 2) < sk_global_graph_bytes(n, 2 * even));
    assert_int_equal(sk_global_graph_bytes(n, 1001) - sk_global_graph_bytes(n, 1), 8000);
}

static void the_memory_is_what_was_said(void **state)
{
    (void)state;
    static plain p;
    draw(&p, 190, 3);
    int64_t rooms[] = {p.edges, 190 * 189};
    for (int i = 0; i < 2; i++) {
        struct mallinfo2 before = mallinfo2();
        sk_global_graph *w = fill(&p, rooms[i]);
        struct mallinfo2 after = mallinfo2();
        int64_t took =
            (int64_t)(after.uordblks + after.hblkhd) - (int64_t)(before.uordblks + before.hblkhd);
        int64_t said = sk_global_graph_bytes(190, rooms[i]);
        assert_between(malloc_usable_size(w), said, said + 64);
        if (took != 0) /* a sanitizer's allocator does not tell */
            assert_between(took, said, said + 64);
        sk_global_graph_free(w);
    }
}

static void wrong_targets_are_refused(void **state)
{
    (void)state;
    for (int dense = 0; dense < 2; dense++) {
        sk_global_graph *w = sk_global_graph_new(200, dense ? 40000 : 3);
        assert_int_equal(as_bits(200, dense ? 40000 : 3), dense);
        assert_int_equal(sk_global_graph_add(w, 0, (int[]){2, 1}, 2), SK_BADARG);
        assert_int_equal(sk_global_graph_add(w, 0, (int[]){1, 1}, 2), SK_BADARG);
        assert_int_equal(sk_global_graph_add(w, 1, (int[]){0, 1}, 2), SK_BADARG);
        assert_int_equal(sk_global_graph_add(w, 0, (int[]){1, 200}, 2), SK_BADARG);
        assert_int_equal(sk_global_graph_add(w, 0, (int[]){-1, 1}, 2), SK_BADARG);
        assert_int_equal(sk_global_graph_add(w, 200, (int[]){1}, 1), SK_BADARG);
        assert_int_equal(sk_global_graph_add(w, -1, (int[]){1}, 1), SK_BADARG);
        assert_int_equal(sk_global_graph_add(w, 0, NULL, -1), SK_BADARG);
        assert_int_equal(sk_global_graph_add(w, 0, (int[]){1, 2}, 2), SK_OK);
        assert_int_equal(sk_global_graph_add(w, 0, (int[]){3}, 1), SK_BADARG); /* twice */
        assert_int_equal(sk_global_graph_add(w, 2, NULL, 0), SK_OK);
        assert_int_equal(sk_global_graph_freeze(w), SK_OK);
        assert_int_equal(sk_global_graph_freeze(w), SK_BADARG);
        assert_int_equal(sk_global_graph_add(w, 3, (int[]){1}, 1), SK_BADARG); /* too late */
        assert_int_equal(sk_global_graph_edges(w), 2);
        sk_global_graph_free(w);
    }
}

static void more_edges_than_announced_are_refused(void **state)
{
    (void)state;
    sk_global_graph *w = sk_global_graph_new(20, 2);
    assert_int_equal(sk_global_graph_add(w, 0, (int[]){1, 2, 3}, 3), SK_BADARG);
    assert_int_equal(sk_global_graph_add(w, 0, (int[]){1, 2}, 2), SK_OK);
    assert_int_equal(sk_global_graph_add(w, 1, (int[]){2}, 1), SK_BADARG);
    sk_global_graph_free(w);
    sk_global_graph_free(NULL);
    assert_null(sk_global_graph_new(2, -1));
    assert_null(sk_global_graph_new(-1, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_and_lists_answer_alike),
        cmocka_unit_test(the_smaller_form_is_taken),
        cmocka_unit_test(the_memory_is_what_was_said),
        cmocka_unit_test(wrong_targets_are_refused),
        cmocka_unit_test(more_edges_than_announced_are_refused),
    };
    return RUN(tests);
}
