/* Graphs from a word: every rank's lists agree, and wrong words are answered with the right ones.
 */
#include "unit.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "file.h"
#include "lab/graph/spec.h"

static sk_spec *make(const char *text, int nranks)
{
    char err[256] = "";
    sk_spec *s = NULL;
    sk_status st = sk_spec_new(text, nranks, &s, err, sizeof err);
    assert_string_equal(err, "");
    assert_int_equal(st, SK_OK);
    return s;
}

static void assert_ints(const int *got, int ngot, const int *want, int nwant)
{
    assert_int_equal(ngot, nwant);
    for (int i = 0; i < nwant; i++)
        assert_int_equal(got[i], want[i]);
}

/* The whole graph and the ranks' own lists must be the same graph. */
static void check_whole(const sk_spec *s, int nranks)
{
    sk_global_graph *w = NULL;
    int64_t edges = 0;
    int *list = calloc((size_t)nranks, sizeof *list);
    assert_int_equal(sk_spec_whole(s, &w), SK_OK);
    for (int r = 0; r < nranks; r++) {
        sk_graph *g = NULL;
        assert_int_equal(sk_spec_graph(s, r, &g), SK_OK);
        assert_int_equal(g->nin, g->nsources); /* no loops, nobody twice */
        assert_int_equal(g->nout, g->ntargets);
        sk_global_graph_sources(w, r, list);
        assert_ints(g->in, g->nin, list, sk_global_graph_degree(w, r, true));
        sk_global_graph_targets(w, r, list);
        assert_ints(g->out, g->nout, list, sk_global_graph_degree(w, r, false));
        edges += g->nout;
        sk_graph_free(g);
    }
    assert_int_equal(sk_global_graph_edges(w), edges);
    sk_global_graph_free(w);
    free(list);
}

static void all_lists_agree(void **state)
{
    (void)state;
    static const char *const specs[] = {"random:0",   "random:0.05,9", "random:0.5", "random:1",
                                        "moore:1,1",  "moore:2,1",     "moore:2,3",  "moore:3,1",
                                        "moore:16,2", "moore:1,999"};
    static const int sizes[] = {1, 2, 3, 4, 7, 16, 36, 97};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            sk_spec *s = make(specs[i], sizes[j]);
            check_whole(s, sizes[j]);
            sk_spec_free(s);
        }
}

static int64_t edges_of(const char *text, int nranks)
{
    sk_spec *s = make(text, nranks);
    sk_global_graph *w = NULL;
    assert_int_equal(sk_spec_whole(s, &w), SK_OK);
    int64_t edges = sk_global_graph_edges(w);
    sk_global_graph_free(w);
    sk_spec_free(s);
    return edges;
}

static void random_graphs_have_the_density_asked_for(void **state)
{
    (void)state;
    const int n = 500;
    const double pairs = (double)n * (n - 1);
    assert_int_equal(edges_of("random:0", n), 0);
    assert_int_equal(edges_of("random:1", n), n * (n - 1));
    assert_int_equal(edges_of("random:1", 1), 0);
    for (int seed = 1; seed <= 8; seed++) {
        char text[32];
        snprintf(text, sizeof text, "random:0.3,%d", seed);
        double off = (double)edges_of(text, n) - 0.3 * pairs;
        assert_true(fabs(off) < 5 * sqrt(pairs * 0.3 * 0.7)); /* five standard deviations */
    }
}

/* Degrees in both directions must scatter as those of independent edges do, and edges there and
 * back must not know of each other. */
static void random_edges_are_independent(void **state)
{
    (void)state;
    const int n = 600;
    sk_spec *s = make("random:0.3", n);
    sk_global_graph *w = NULL;
    assert_int_equal(sk_spec_whole(s, &w), SK_OK);
    const double mean = (n - 1) * 0.3, variance = (n - 1) * 0.3 * 0.7;
    double scatter[2] = {0, 0}, both = 0;
    for (int r = 0; r < n; r++) {
        for (int in = 0; in < 2; in++)
            scatter[in] += pow(sk_global_graph_degree(w, r, in) - mean, 2) / variance / n;
        for (int other = 0; other < r; other++)
            both += sk_global_graph_has(w, r, other) && sk_global_graph_has(w, other, r);
    }
    /* The scatter is 1 within about sqrt(2/n); the pairs both ways are binomial. */
    double pairs = n * (n - 1) / 2.0;
    assert_true(fabs(scatter[0] - 1) < 5 * sqrt(2.0 / n));
    assert_true(fabs(scatter[1] - 1) < 5 * sqrt(2.0 / n));
    assert_true(fabs(both - 0.09 * pairs) < 5 * sqrt(pairs * 0.09 * 0.91));
    sk_global_graph_free(w);
    sk_spec_free(s);
}

static void the_seed_makes_another_graph(void **state)
{
    (void)state;
    sk_spec *s[] = {make("random:0.5", 100), make("random:0.5,1", 100), make("random:0.5,2", 100)};
    sk_graph *g[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(sk_spec_graph(s[i], 5, &g[i]), SK_OK);
    assert_ints(g[0]->out, g[0]->nout, g[1]->out, g[1]->nout); /* 1 is the default */
    assert_false(g[0]->nout == g[2]->nout &&
                 memcmp(g[0]->out, g[2]->out, (size_t)g[0]->nout * sizeof(int)) == 0);
    for (int i = 0; i < 3; i++) {
        sk_graph_free(g[i]);
        sk_spec_free(s[i]);
    }
}

static void large_random_graphs_are_quick(void **state)
{
    (void)state;
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    sk_spec *s = make("random:0.3", 2160);
    int64_t nin = 0, nout = 0;
    for (int r = 0; r < 2160; r++) {
        sk_graph *g = NULL;
        assert_int_equal(sk_spec_graph(s, r, &g), SK_OK);
        nin += g->nin;
        nout += g->nout;
        sk_graph_free(g);
    }
    assert_int_equal(nin, nout);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    print_message("# graphs of 2160 ranks in %.3f s of CPU\n", seconds);
    assert_true(seconds < 2);
    sk_spec_free(s);
}

static void assert_sources(const char *text, int nranks, int rank, const int *want, int n)
{
    sk_spec *s = make(text, nranks);
    sk_graph *g = NULL;
    assert_int_equal(sk_spec_graph(s, rank, &g), SK_OK);
    assert_ints(g->in, g->nin, want, n);
    sk_graph_free(g);
    sk_spec_free(s);
}

static void moore_neighbours_wrap_around(void **state)
{
    (void)state;
    assert_sources("moore:1,1", 5, 0, (int[]){1, 4}, 2);
    assert_sources("moore:1,2", 6, 5, (int[]){0, 1, 3, 4}, 4);
    /* 16 ranks are 4 x 4; rank 0 is a corner */
    assert_sources("moore:2,1", 16, 0, (int[]){1, 3, 4, 5, 7, 12, 13, 15}, 8);
    /* 12 ranks are 4 x 3: one step each way is the whole shorter side */
    assert_sources("moore:2,1", 12, 1, (int[]){0, 2, 3, 4, 5, 9, 10, 11}, 8);
}

static void moore_neighbours_are_counted(void **state)
{
    (void)state;
    assert_int_equal(edges_of("moore:2,1", 100), 100 * 8);
    assert_int_equal(edges_of("moore:2,2", 100), 100 * 24);
    assert_int_equal(edges_of("moore:2,3", 100), 100 * 48);
    assert_int_equal(edges_of("moore:3,1", 64), 64 * 26);
    assert_int_equal(edges_of("moore:3,1", 540), 540 * 26); /* 10 x 9 x 6 */
    assert_int_equal(edges_of("moore:3,1", 2160), 2160 * 26);
    assert_int_equal(edges_of("moore:2,1", 13), 13 * 2);  /* a prime is 13 x 1 */
    assert_int_equal(edges_of("moore:2,9", 36), 36 * 35); /* all */
    assert_int_equal(edges_of("moore:4,1", 16), 16 * 15); /* 2 x 2 x 2 x 2 */
    assert_int_equal(edges_of("moore:3,1", 36), 36 * 26); /* 4 x 3 x 3, not 6 x 3 x 2 */
    assert_int_equal(edges_of("moore:2,1", 2), 2);
    assert_int_equal(edges_of("moore:3,7", 1), 0);
}

static void a_rank_needs_the_owners_of_its_columns(void **state)
{
    (void)state;
    unit_file f;
    char text[128];
    unit_file_make(&f);
    /* 7 rows over 3 ranks: 1-3, 4-5, 6-7 */
    static const char mtx[] = "%%MatrixMarket matrix coordinate pattern general\n"
                              "7 7 6\n1 1\n3 4\n2 5\n4 7\n6 1\n7 3\n";
    unit_file_write(&f, mtx, sizeof mtx - 1);
    snprintf(text, sizeof text, "matrix:%s", f.path);
    assert_sources(text, 3, 0, (int[]){1}, 1);
    assert_sources(text, 3, 1, (int[]){2}, 1);
    assert_sources(text, 3, 2, (int[]){0}, 1);
    assert_sources(text, 7, 6, (int[]){2}, 1);
    assert_sources(text, 20, 2, (int[]){3}, 1); /* ranks beyond the rows own nothing */
    assert_sources(text, 20, 7, NULL, 0);
    for (int nranks = 1; nranks < 20; nranks++) {
        sk_spec *s = make(text, nranks);
        check_whole(s, nranks);
        sk_spec_free(s);
    }
    unit_file_remove(&f);
}

static void refuses(const char *text, int nranks, const char *message)
{
    char err[256] = "";
    sk_spec *s = NULL;
    assert_int_equal(sk_spec_new(text, nranks, &s, err, sizeof err), SK_BADARG);
    assert_null(s);
    assert_string_equal(err, message);
}

static void wrong_words_are_answered(void **state)
{
    (void)state;
    refuses("randm:0.3", 4, "there is no graph 'randm': did you mean random:DELTA[,SEED]?");
    refuses("more:2,1", 4, "there is no graph 'more': did you mean moore:D,R?");
    refuses("", 4, "there is no graph '': did you mean moore:D,R?");
    refuses("moore", 4, "'moore' says too little: moore:D,R");
    refuses("matrix:", 4, "'matrix:' says too little: matrix:FILE");
    refuses("random:0.3", 0, "a graph needs at least one rank, not 0");
    refuses("random:a", 4, "DELTA of random:DELTA[,SEED] is a number from 0 to 1, not 'a'");
    refuses("random:0.3x", 4, "DELTA of random:DELTA[,SEED] is a number from 0 to 1, not '0.3x'");
    refuses("random:1.01", 4, "DELTA of random:DELTA[,SEED] is from 0 to 1, not 1.01");
    refuses("random:-0.5", 4, "DELTA of random:DELTA[,SEED] is from 0 to 1, not -0.5");
    refuses("random:nan", 4, "DELTA of random:DELTA[,SEED] is from 0 to 1, not nan");
    refuses("random:0.3,", 4, "SEED of random:DELTA[,SEED] is a whole number, not ''");
    refuses("random:0.3,1.5", 4, "SEED of random:DELTA[,SEED] is a whole number, not '1.5'");
    refuses("moore:2", 4, "moore:D,R needs two whole numbers, not '2'");
    refuses("moore:2,1,1", 4, "moore:D,R needs two whole numbers, not '2,1,1'");
    refuses("moore:99999999999999999999999999,1", 4,
            "moore:D,R needs two whole numbers, not '99999999999999999999999999,1'");
    refuses("moore:0,1", 4, "D of moore:D,R is from 1 to 16, not 0");
    refuses("moore:17,1", 4, "D of moore:D,R is from 1 to 16, not 17");
    refuses("moore:2,0", 4, "R of moore:D,R is from 1 to 2147483647, not 0");
}

static void wrong_files_are_answered(void **state)
{
    (void)state;
    unit_file f;
    char text[128], message[256];
    unit_file_make(&f);
    snprintf(text, sizeof text, "matrix:%s", f.path);
    snprintf(message, sizeof message, "%s: No such file or directory", f.path);
    refuses(text, 4, message);

    static const char oblong[] = "%%MatrixMarket matrix coordinate pattern general\n2 3 0\n";
    unit_file_write(&f, oblong, sizeof oblong - 1);
    snprintf(message, sizeof message, "%s: has 2 rows and 3 columns; it must be square", f.path);
    refuses(text, 4, message);

    static const char torn[] = "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 9\n";
    unit_file_write(&f, torn, sizeof torn - 1);
    snprintf(message, sizeof message, "%s:3: the column is from 1 to 3, not 9", f.path);
    refuses(text, 4, message);
    unit_file_remove(&f);
}

static void ranks_outside_are_refused(void **state)
{
    (void)state;
    sk_spec *s = make("moore:1,1", 4);
    sk_graph *g = NULL;
    assert_int_equal(sk_spec_graph(s, 4, &g), SK_BADARG);
    assert_int_equal(sk_spec_graph(s, -1, &g), SK_BADARG);
    assert_null(g);
    sk_spec_free(s);
    sk_spec_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_lists_agree),
        cmocka_unit_test(random_graphs_have_the_density_asked_for),
        cmocka_unit_test(random_edges_are_independent),
        cmocka_unit_test(the_seed_makes_another_graph),
        cmocka_unit_test(large_random_graphs_are_quick),
        cmocka_unit_test(moore_neighbours_wrap_around),
        cmocka_unit_test(moore_neighbours_are_counted),
        cmocka_unit_test(a_rank_needs_the_owners_of_its_columns),
        cmocka_unit_test(wrong_words_are_answered),
        cmocka_unit_test(wrong_files_are_answered),
        cmocka_unit_test(ranks_outside_are_refused),
    };
    return RUN(tests);
}
