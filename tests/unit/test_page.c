/* What `skein report` reads, and what it makes of it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "report/amounts.h"
#include "report/compare.h"
#include "report/page.h"
#include "report/text.h"

static sk_arena *arena;

static int begin(void **state)
{
    (void)state;
    return (arena = sk_arena_new()) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    sk_arena_free(arena);
    return 0;
}

/* ---- JSON ---- */

static const sk_json *read_json(const char *text, char err[SK_JSON_ERR])
{
    return sk_json_read(arena, text, strlen(text), err);
}

static void strings_become_utf8(void **state)
{
    (void)state;
    char err[SK_JSON_ERR];
    static const struct {
        const char *json, *text;
    } cases[] = {
        {"\"\\u00e9\\ud83d\\ude00\"", "\xc3\xa9\xf0\x9f\x98\x80"},
        {"\"\\ud83d x\"", "\xef\xbf\xbd x"},    /* half a pair */
        {"\"\\ud83d\\u0041\"", "\xef\xbf\xbd"}, /* and another character */
        {"\"a\xff\xc3\"", "a\xef\xbf\xbd\xef\xbf\xbd"},
        {"\"\xed\xa0\x80\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate as bytes */
        {"\"\\u0000\\n\x01\"", "   "},
        {"\"\\\\\\\"\\/\"", "\\\"/"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_json *v = read_json(cases[i].json, err);
        if (!v)
            fail_msg("%s: %s", cases[i].json, err);
        assert_int_equal(v->kind, SK_JSON_STRING);
        assert_string_equal(v->text, cases[i].text);
    }
}

static void wrong_json_is_refused_with_its_line(void **state)
{
    (void)state;
    char err[SK_JSON_ERR];
    static const char *const cases[] = {
        "",        "{",        "[1,]",         "{\"a\" 1}", "\"a",   "\"\\", "\"\\u12\"",
        "\"\\x\"", "1e999",    "--1",          "nul",       "[1] 2", "+1",   ".5",
        "[\"a\"",  "{\"a\":}", "\"\\ud800\\u", "-",         "{1:2}", "0x10"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(read_json(cases[i], err));
        assert_non_null(strstr(err, "line 1: "));
    }
    assert_null(read_json("{\n\n\"a\": ?}", err));
    assert_non_null(strstr(err, "line 3: "));
    assert_non_null(read_json(" {\"a\": [1, -2.5e3, true, null], \"b\": {}} \n", err));
}

/* ---- a run ---- */

#define SAMPLED                                                                                    \
    "\"sampled_calls\": 90, \"sampled_seconds\": 4, \"waited_seconds\": 3, \"spread_us\": 40, "    \
    "\"most_spread_us\": 900"
#define HEAD(version)                                                                              \
    "{\"format\": \"skein-report\", \"version\": " version                                         \
    ", \"skein\": \"0.2.0\", \"ranks\": 8, "                                                       \
    "\"counted\": 8, \"end\": \"MPI_Finalize\", \"nodes\": 2, \"cores\": 2, \"run_seconds\": 10, " \
    "\"mpi\": \"MPICH\", \"program\": \"<b>\", \"plans_built\": 3, \"plans_evicted\": 0, "
#define ROWS(calls)                                                                                \
    "\"rows\": [{\"collective\": \"allreduce\", \"size\": \"<= 64 B\", \"algorithm\": \"shm\", "   \
    "\"host\": null, \"calls\": " calls ", \"seconds\": 4}, {\"collective\": \"alltoallv\", "      \
    "\"size\": \"<= 2 MB\", \"algorithm\": null, \"host\": \"first calls on a communicator\", "    \
    "\"calls\": 20, \"seconds\": 2}], "
#define REST                                                                                       \
    "\"timeline\": {\"bin_seconds\": 5, \"rows\": [{\"collective\": \"allreduce\", \"seconds\": "  \
    "[3, "                                                                                         \
    "1]}]}, \"traffic\": {\"between_nodes\": {\"messages\": 1, \"bytes\": 2048, "                  \
    "\"busiest_messages\": 1, \"busiest_bytes\": 2}, \"inside_nodes\": {\"messages\": 1, "         \
    "\"bytes\": "                                                                                  \
    "2}, \"shared_memory_bytes\": 5, \"alltoallv_blocks\": 64, \"alltoallv_filled\": 4}, "         \
    "\"matching\": null, \"value\": {\"comparisons\": 0, \"compared_part\": 0, "                   \
    "\"saved_seconds\": 0, "                                                                       \
    "\"seconds_without_skein\": 0, \"rows\": []}"
#define WAITS                                                                                      \
    ", \"communicators\": [{\"name\": \"\", \"ranks\": 8, \"groups\": 1, \"communicators\": 1, "   \
    "\"calls\": 9, \"seconds\": 1, \"most_seconds\": 2, " SAMPLED "}], \"neighborhoods\": "        \
    "[{\"name\": \"halo\", \"ranks\": 8, \"groups\": 1, \"calls\": 5, \"least_in\": 1, "           \
    "\"mean_in\": 2, "                                                                             \
    "\"most_in\": 3, \"least_out\": 1, \"mean_out\": 2, \"most_out\": 3, \"local_part\": 0.1, "    \
    "\"algorithm\": null}], \"rank_time\": {\"ranks_each\": 4, \"seconds\": [1, 2], "              \
    "\"waited_seconds\": [1, 0]}, \"waiting\": {" SAMPLED                                          \
    ", \"collectives\": [], \"matrix\": [[0, 3], "                                                 \
    "[0, 0]], \"late\": [{\"rank\": 5, \"node\": 1, \"last\": 80, \"caused_seconds\": 2.5}]}"

static const char run[] = HEAD("1") ROWS("5000") REST WAITS "}";
static const char without_waits[] = HEAD("1") ROWS("5000") REST "}";

static sk_run_data *data_of(const char *json)
{
    char err[SK_RUN_ERR];
    sk_run_data *d = sk_run_data_parse(arena, "run.json", json, strlen(json), err);
    if (!d)
        fail_msg("%s", err);
    return d;
}

static void refused(const char *json, const char *why)
{
    char err[SK_RUN_ERR];
    assert_null(sk_run_data_parse(arena, "run.json", json, strlen(json), err));
    if (!strstr(err, why) || !strstr(err, "; `skein run --report=FILE` writes one"))
        fail_msg("no '%s' in: %s", why, err);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    refused("[]", "it is no object");
    refused("{}", "'format' is missing");
    refused("{\"format\": 1}", "'format' is no text");
    refused("{\"format\": \"other\"}", "'format' is not 'skein-report'");
    refused(HEAD("2") ROWS("1") REST "}", "its version is 2, and 1 is read here");
    refused(HEAD("1") ROWS("-1") REST "}", "'calls' is negative");
    refused(HEAD("1") ROWS("1e200") REST "}", "'calls' is no number, or too large");
    refused(HEAD("1") REST "}", "'rows' is missing");
    refused(HEAD("1") "\"rows\": [7], " REST "}", "an element of 'rows' is no object");
    refused(HEAD("1") ROWS("1") REST ", \"communicators\": []}", "'neighborhoods' is missing");
}

static char *written(void (*write)(FILE *out, const sk_run_data *d), const sk_run_data *d)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    write(out, d);
    fclose(out);
    return text;
}

static void write_page(FILE *out, const sk_run_data *d)
{
    sk_page_run(out, arena, d);
}

static void write_both(FILE *out, const sk_run_data *d)
{
    sk_text_compare(out, arena, data_of(without_waits), d);
    sk_page_compare(out, arena, data_of(without_waits), d);
}

static void write_tips(FILE *out, const sk_run_data *d)
{
    sk_text_tips(out, arena, d,
                 &(sk_traced){.operations = 7, .posted_mean = 400, .posted_most = 900});
}

static void has(void (*write)(FILE *out, const sk_run_data *d), const sk_run_data *d,
                const char *const *words)
{
    char *text = written(write, d);
    for (; *words; words++)
        if (!strstr(text, *words))
            fail_msg("no '%s' in:\n%s", *words, text);
    free(text);
}

static void pages_have_the_numbers(void **state)
{
    (void)state;
    has(write_page, data_of(run),
        (const char *[]){"Collectives of <bdi>&lt;b&gt;</bdi>", "75 %", ">4000.000<", ">2000.000<",
                         "ranks 0-3 waited 3.00 s for ranks 4-7", ">2500.000<", "(no name)",
                         "1 to 3, mean 2.0", "host MPI: first calls on a communicator", ">2048<",
                         NULL});
    has(write_page, data_of(without_waits), (const char *[]){">4000.000<", NULL});
    has(write_both, data_of(run),
        (const char *[]){"bytes between nodes", "x 1.00", "<h1>Two runs</h1>", NULL});
}

static void advice_has_numbers(void **state)
{
    (void)state;
    has(write_tips, data_of(run),
        (const char *[]){
            "75 % of the time in blocking collectives", "Rank 5 on node 1 was last in 80 of 90",
            "Ranks share cores", "8 ranks on 2 nodes", "5000 calls took 4.00 s",
            "5000 allreduces of at most 512 bytes", "alltoallv of <= 2 MB could be nonblocking",
            "only 6.2 % are not empty", "was spent in first calls", "only 10 % of the",
            "Deep matching queues: run with --match", "has 400.0 entries", NULL});
}

static void amounts_are_short(void **state)
{
    (void)state;
    assert_string_equal(sk_show_seconds(arena, 0), "0 s");
    assert_string_equal(sk_show_seconds(arena, 12.345e-6), "12.3 us");
    assert_string_equal(sk_show_seconds(arena, -0.25), "-250 ms");
    assert_string_equal(sk_show_bytes(arena, 999), "999 B");
    assert_string_equal(sk_show_bytes(arena, 1536), "1.50 KB");
    assert_string_equal(sk_show_part(arena, 0.0123), "1.2 %");
    assert_string_equal(sk_show_change(arena, 2, 1), "x 0.50");
    assert_string_equal(sk_show_ranks(arena, 1, 32, 40), "ranks 32-39");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(strings_become_utf8, begin, end),
        cmocka_unit_test_setup_teardown(wrong_json_is_refused_with_its_line, begin, end),
        cmocka_unit_test_setup_teardown(other_files_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(pages_have_the_numbers, begin, end),
        cmocka_unit_test_setup_teardown(advice_has_numbers, begin, end),
        cmocka_unit_test_setup_teardown(amounts_are_short, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
