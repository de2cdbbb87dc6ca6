/* The report: what is counted, and how it is shown. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "report/report.h"
#include "report/value.h"

static const sk_report_scope all = {.nranks = 4, .counted = 4};

static char *shown(const sk_report *r, const sk_report_scope *of, bool json)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    if (json)
        sk_report_json(r, of, out);
    else
        sk_report_table(r, of, out);
    fclose(out);
    return text;
}

static void expect(const sk_report *r, const sk_report_scope *of, bool json, const char *words)
{
    char *text = shown(r, of, json);
    if (!strstr(text, words))
        fail_msg("no '%s' in:\n%s", words, text);
    free(text);
}

static void host_calls_have_reason_size_and_time(void **state)
{
    (void)state;
    sk_report *r = sk_report_new(NULL);
    long long host = 0;
    sk_report_counter_add(sk_report_host_counter(r, SK_BCAST, SK_HOST_OFF, 100000), 0.25);
    sk_report_counter_add(sk_report_host_counter(r, SK_BCAST, SK_HOST_OFF, 100000), 0.25);
    sk_report_counter_add(sk_report_host_counter(r, SK_SCAN, SK_HOST_ARGS, -1), 0);
    expect(r, &all, false,
           "skein: bcast                <= 256 KB  -                             2      500.000   "
           "host MPI: switched off\n");
    expect(r, &all, false, "skein: scan                 unknown    -");
    assert_true(sk_report_total(r, "host", &host));
    assert_int_equal(host, 3);
    assert_true(sk_report_total(r, "bcast:host", &host));
    assert_int_equal(host, 2);
    sk_report_counter_add(sk_report_counter_of(r, 2, 8), 0);
    char name[64];
    snprintf(name, sizeof name, "%s:%s", sk_coll_name(sk_algos()[2]->coll), sk_algos()[2]->name);
    assert_true(sk_report_total(r, name, &host));
    assert_int_equal(host, 1);
    assert_false(sk_report_total(r, "bcast:nosuch", &host));
    assert_false(sk_report_total(r, "nosuch:host", &host));
    assert_false(sk_report_total(r, "nosuch", &host));
    sk_report_free(r);
}

/* The keys of the rows of a report, as one text per row. */
static void rows_of_json_have_the_same_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {"\"collective\": ", "\"size\": ",  "\"algorithm\": ",
                                       "\"host\": ",       "\"calls\": ", "\"seconds\": "};
    sk_report *r = sk_report_new(NULL);
    sk_report_counter_add(sk_report_host_counter(r, SK_BCAST, SK_HOST_OFF, 8), 0);
    sk_report_counter_add(sk_report_counter_of(r, 0, 8), 0);
    char *text = shown(r, &all, true);
    int rows = 0;
    char *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (!strstr(line, "\"collective\""))
            continue;
        rows++;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            assert_non_null(strstr(line, keys[i]));
    }
    assert_int_equal(rows, 2);
    free(text);
    sk_report_free(r);
}

static void the_end_is_told(void **state)
{
    (void)state;
    sk_report *r = sk_report_new(NULL);
    const sk_report_scope some = {.nranks = 4, .counted = 1, .end = "\"SIGTERM\""};
    expect(r, &all, true, "\"end\": \"MPI_Finalize\"");
    expect(r, &some, true, "\"ranks\": 4,\n  \"counted\": 1,\n  \"end\": \"\\\"SIGTERM\\\"\"");
    expect(r, &some, false, "skein: report of 1 of 4 ranks: \"SIGTERM\"\n");
    sk_report_free(r);
}

static void evictions_come_with_advice(void **state)
{
    (void)state;
    sk_report *r = sk_report_new(NULL);
    sk_report_plans(r, 100, 0);
    expect(r, &all, false, "skein: plans built 100, evicted 0\n");
    sk_report_plans(r, 840, 653);
    expect(r, &all, false,
           "skein: plans built 940, evicted 653; SKEIN_CACHE=1024 would keep all of them\n");
    sk_report_free(r);
}

/* ---- what Skein was worth ---- */

static int algo_of(sk_coll coll)
{
    int a = 0;
    while (sk_algos()[a]->coll != coll)
        a++;
    return a;
}

static void serve(sk_report *r, sk_coll coll, int64_t bytes, int calls, double seconds)
{
    for (int i = 0; i < calls; i++)
        sk_report_counter_add(sk_report_counter_of(r, algo_of(coll), bytes), seconds / calls);
}

static void compare(sk_report *r, sk_coll coll, int64_t bytes, int64_t skein_ns, int64_t host_ns)
{
    sk_report_comparison(r, coll, bytes,
                         &(sk_report_outcome){.host_won = host_ns < skein_ns,
                                              .skein_ns = skein_ns,
                                              .host_ns = host_ns});
}

static sk_value_row value_of(const sk_report *r, sk_coll coll, int size)
{
    sk_report_cell cells[SK_NREPORT_CELLS];
    sk_report_cells(r, cells);
    return sk_value_of_cell(&cells[(int)coll * SK_NSIZES + size]);
}

static sk_value_sum sum_of(const sk_report *r)
{
    sk_report_cell cells[SK_NREPORT_CELLS];
    sk_report_cells(r, cells);
    return sk_value_of_cells(cells);
}

enum { UP_TO_64 = 1, UP_TO_4K = 3 };

static void saved_is_calls_times_the_difference(void **state)
{
    (void)state;
    sk_report *r = sk_report_new(NULL);
    serve(r, SK_ALLREDUCE, 8, 1000, 9.0);
    serve(r, SK_BCAST, 8, 10, 1.0); /* not compared */
    sk_report_counter_add(sk_report_host_counter(r, SK_ALLREDUCE, SK_HOST_FASTER, 8), 2.0);
    compare(r, SK_ALLREDUCE, 8, 8000000, 11000000);
    compare(r, SK_ALLREDUCE, 64, 10000000, 13000000);
    sk_value_row row = value_of(r, SK_ALLREDUCE, UP_TO_64);
    assert_int_equal(row.comparisons, 2);
    assert_int_equal(row.cell.calls, 1000);
    assert_float_equal(row.skein_us, 9000, 1e-6);
    assert_float_equal(row.host_us, 12000, 1e-6);
    assert_float_equal(row.ratio, 4.0 / 3, 1e-6);
    assert_float_equal(row.saved, 3.0, 1e-6);
    sk_value_sum sum = sum_of(r);
    assert_int_equal(sum.comparisons, 2);
    assert_float_equal(sum.without, 15.0, 1e-6); /* 9 + 1 + 2 by the clock, 3 saved */
    assert_float_equal(sum.part, 0.2, 1e-6);
    assert_float_equal(sum.compared, 0.9, 1e-6);
    expect(r, &all, false,
           "skein: allreduce            <= 64 B           2    9000.00   12000.00       1.33     "
           "3000.000\n");
    expect(r, &all, false,
           "skein: Skein saved about 3.0 s of 15.0 s in collectives (20 %); compared: 90 % of the "
           "time under Skein, 2 times\n");
    expect(r, &all, true, "\"saved_seconds\": 3.000000000,\n    \"seconds_without_skein\": 15.0");
    expect(r, &all, true,
           "{\"collective\": \"allreduce\", \"size\": \"<= 64 B\", \"comparisons\": 2, "
           "\"host_won\": 0, \"calls\": 1000, ");
    sk_report_free(r);
}

static void lost_time_is_called_lost(void **state)
{
    (void)state;
    sk_report *r = sk_report_new(NULL);
    serve(r, SK_BCAST, 4096, 40, 0.004);
    sk_report_counter_add(sk_report_host_counter(r, SK_BCAST, SK_HOST_FASTER, 4096), 0.1);
    compare(r, SK_BCAST, 4096, 100000, 50000);
    assert_float_equal(value_of(r, SK_BCAST, UP_TO_4K).saved, -0.002, 1e-9);
    expect(
        r, &all, false,
        "skein: Skein lost about 2.0 ms of 102.0 ms in collectives (2 %); compared: 100 % of the "
        "time under Skein, 1 time\n");
    sk_report_free(r);
}

/* The calls took a tenth of what they took when they were compared, and so does the difference. */
static void saved_fits_the_time_of_all_calls(void **state)
{
    (void)state;
    sk_report *r = sk_report_new(NULL);
    serve(r, SK_BCAST, 8, 100, 0.0001);
    compare(r, SK_BCAST, 8, 10000, 30000);
    assert_float_equal(value_of(r, SK_BCAST, UP_TO_64).saved, 0.0002, 1e-9);
    serve(r, SK_ALLREDUCE, 8, 100, 0.0001);
    compare(r, SK_ALLREDUCE, 8, 30000, 10000);
    assert_float_equal(value_of(r, SK_ALLREDUCE, UP_TO_64).saved, -0.0002 / 3, 1e-9);
    sk_report_free(r);
}

/* Of a small communicator the host was faster, of a large one Skein; it has served since. */
static void comparisons_that_skein_won_count_first(void **state)
{
    (void)state;
    sk_report *r = sk_report_new(NULL);
    serve(r, SK_BCAST, 8, 100, 0.001);
    compare(r, SK_BCAST, 8, 10000, 30000);
    compare(r, SK_BCAST, 8, 90000, 10000);
    sk_value_row row = value_of(r, SK_BCAST, UP_TO_64);
    assert_int_equal(row.comparisons, 2);
    assert_int_equal(row.cell.host_won.times, 1);
    assert_float_equal(row.skein_us, 10, 1e-9);
    assert_float_equal(row.saved, 0.002, 1e-9);
    sk_report_free(r);
}

static void without_comparisons_nothing_is_claimed(void **state)
{
    (void)state;
    sk_report *r = sk_report_new(NULL);
    serve(r, SK_BCAST, 8, 10, 1.0);
    sk_value_sum sum = sum_of(r);
    assert_float_equal(sum.saved, 0, 0);
    assert_float_equal(sum.compared, 0, 0);
    expect(r, &all, false, "skein: time saved: not known, no comparison with the host MPI");
    expect(r, &all, true, "\"comparisons\": 0,");
    expect(r, &all, true, "\"rows\": []\n  }\n}\n");
    sk_report_free(r);
}

static void ranks_are_merged_by_the_largest_and_comparisons_are_added(void **state)
{
    (void)state;
    sk_report *r = sk_report_new(NULL), *other = sk_report_new(NULL);
    size_t bytes = (size_t)sk_report_ncells(r) * sizeof(int64_t);
    int64_t *merged = malloc(bytes), *cells = malloc(bytes);
    serve(r, SK_BCAST, 8, 10, 1.0);
    serve(other, SK_BCAST, 8, 30, 0.5);
    compare(r, SK_BCAST, 8, 1000, 3000);
    compare(other, SK_BCAST, 8, 3000, 5000);
    sk_report_read(r, merged);
    sk_report_read(other, cells);
    sk_report_merge(r, merged, cells);
    sk_report_write(r, merged);
    sk_value_row row = value_of(r, SK_BCAST, UP_TO_64);
    assert_int_equal(row.cell.calls, 30);
    assert_float_equal(row.cell.seconds, 1.0, 1e-6);
    assert_int_equal(row.comparisons, 2);
    assert_float_equal(row.skein_us, 2, 1e-9);
    assert_float_equal(row.host_us, 4, 1e-9);
    free(merged);
    free(cells);
    sk_report_free(r);
    sk_report_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_calls_have_reason_size_and_time),
        cmocka_unit_test(rows_of_json_have_the_same_keys),
        cmocka_unit_test(the_end_is_told),
        cmocka_unit_test(evictions_come_with_advice),
        cmocka_unit_test(saved_is_calls_times_the_difference),
        cmocka_unit_test(lost_time_is_called_lost),
        cmocka_unit_test(saved_fits_the_time_of_all_calls),
        cmocka_unit_test(comparisons_that_skein_won_count_first),
        cmocka_unit_test(without_comparisons_nothing_is_claimed),
        cmocka_unit_test(ranks_are_merged_by_the_largest_and_comparisons_are_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
