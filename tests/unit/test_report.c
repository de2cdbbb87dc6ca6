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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_calls_have_reason_size_and_time),
        cmocka_unit_test(rows_of_json_have_the_same_keys),
        cmocka_unit_test(the_end_is_told),
        cmocka_unit_test(evictions_come_with_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
