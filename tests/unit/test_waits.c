/* Who waited for whom, communicators by name, and the timeline of a report. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "report/json.h"
#include "report/report.h"
#include "report/timeline.h"
#include "report/waits.h"

enum { NS = 1000000 };

/* ---- timeline ---- */

static int64_t of_bin(const _Atomic int64_t *bins, int bin, sk_coll coll)
{
    return bins[bin * SK_NCOLLS + (int)coll];
}

static int64_t sum_of(const _Atomic int64_t *bins, sk_coll coll)
{
    int64_t sum = 0;
    for (int i = 0; i < SK_TIMELINE_BINS; i++)
        sum += of_bin(bins, i, coll);
    return sum;
}

static void a_call_is_split_at_bins(void **state)
{
    (void)state;
    static _Atomic int64_t bins[SK_TIMELINE_CELLS], width;
    sk_timeline_add(&width, bins, SK_BCAST, 65536 - 10, 2 * 65536 + 5);
    assert_int_equal(of_bin(bins, 0, SK_BCAST), 10);
    assert_int_equal(of_bin(bins, 1, SK_BCAST), 65536);
    assert_int_equal(of_bin(bins, 2, SK_BCAST), 5);
}

static void a_long_run_keeps_its_time(void **state)
{
    (void)state;
    static _Atomic int64_t bins[SK_TIMELINE_CELLS], width;
    int64_t at = 0, sum = 0;
    for (int i = 0; i < 1200; i++, at += at / 50 + 1000) {
        sk_timeline_add(&width, bins, SK_SCAN, at, at + 700);
        sum += 700;
    }
    assert_int_equal(sum_of(bins, SK_SCAN), sum);
    assert_true(width > 10);
    sk_timeline_add(&width, bins, SK_SCAN, 10, 5); /* the clock went back */
    sk_timeline_add(&width, bins, SK_SCAN, INT64_MAX - 9, INT64_MAX);
    assert_int_equal(sum_of(bins, SK_SCAN), sum);
}

static void narrow_timelines_are_widened(void **state)
{
    (void)state;
    static int64_t bins[SK_TIMELINE_CELLS];
    for (int i = 0; i < SK_TIMELINE_BINS; i++)
        bins[i * SK_NCOLLS + SK_BCAST] = i + 1;
    sk_timeline_widen(bins, 3, 5);
    assert_int_equal(bins[SK_BCAST], 1 + 2 + 3 + 4);
    assert_int_equal(bins[31 * SK_NCOLLS + SK_BCAST], 125 + 126 + 127 + 128);
    assert_int_equal(bins[32 * SK_NCOLLS + SK_BCAST], 0);
}

/* Two processes whose runs differ in length: as `skein run` merges them if the job dies. */
static void reports_of_different_width_merge(void **state)
{
    (void)state;
    sk_report *a = sk_report_new(NULL), *b = sk_report_new(NULL);
    int n = sk_report_ncells(a);
    int64_t *x = calloc((size_t)n * 2, sizeof *x), *y = x + n;
    sk_report_span(a, SK_BCAST, 0, 100);
    sk_report_span(b, SK_BCAST, INT64_C(10000000000), INT64_C(10000000300));
    sk_report_read(a, x);
    sk_report_read(b, y);
    sk_report_merge(a, x, y);
    sk_report_write(a, x);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    sk_report_json(a, &(sk_report_scope){.nranks = 2, .counted = 2}, out);
    fclose(out);
    assert_non_null(strstr(text, "\"run_seconds\": 10.000000300"));
    assert_non_null(strstr(text, "{\"collective\": \"bcast\", \"seconds\": [5e-08, "));
    assert_non_null(strstr(text, "1.5e-07]}"));
    free(text);
    free(x);
    sk_report_free(a);
    sk_report_free(b);
}

/* ---- waiting ---- */

static char *json_of(const sk_waits_sum *s)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    sk_waits_json(s, out);
    fclose(out);
    return text;
}

static void expect(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("no '%s' in:\n%s", words, text);
}

static void take(sk_waits_sum *s, int rank, sk_waits *p, int most, sk_waits_clock clock)
{
    size_t bytes;
    void *packed = sk_waits_pack(p, most, clock, &bytes);
    assert_non_null(packed);
    assert_int_equal(sk_waits_take(s, rank, rank / 2, packed, bytes), SK_OK);
    for (size_t n = 0; n < bytes; n += 7) /* cut off: an error, not a crash */
        if (n < bytes)
            sk_waits_take(s, -1, 0, packed, n);
    free(packed);
    sk_waits_free(p);
}

/* Ranks 0, 1, 3 come at 0, rank 2 comes 3 ms later; all leave 4 ms after the start. The clock of rank 3 is wrong. */
static void the_last_rank_is_waited_for(void **state)
{
    (void)state;
    sk_waits_sum *s = sk_waits_sum_new(4);
    for (int rank = 0; rank < 4; rank++) {
        sk_waits *p = sk_waits_new();
        sk_waits_row *r = sk_waits_row_of(p, 17, 4, "grid");
        int64_t wrong = rank == 3 ? 1000 * NS : 0;
        for (int i = 0; i < 10; i++)
            sk_waits_call(r, SK_ALLREDUCE, 10 * i * NS + (rank == 2 ? 3 * NS : 0) + wrong,
                          rank == 2 ? NS : 4 * NS);
        take(s, rank, p, 100, (sk_waits_clock){.offset = -wrong});
    }
    assert_int_equal(sk_waits_finish(s), SK_OK);
    char *text = json_of(s);
    expect(text,
           "\"name\": \"grid\", \"ranks\": 4, \"groups\": 1, \"communicators\": 1, \"calls\": 10, "
           "\"seconds\": 0.032500000, \"most_seconds\": 0.040000000, \"sampled_calls\": 10, "
           "\"sampled_seconds\": 0.130000000, \"waited_seconds\": 0.090000000, \"spread_us\": "
           "3000.000, \"most_spread_us\": 3000.000");
    expect(text, "\n      [0, 0, 0.03, 0],\n      [0, 0, 0.03, 0],\n      [0, 0, 0, 0],\n      [0, "
                 "0, 0.03, 0]]");
    expect(text, "\"late\": [\n      {\"rank\": 2, \"node\": 1, \"last\": 10, \"caused_seconds\": "
                 "0.090000000}]");
    expect(text, "\"waited_seconds\": [0.03, 0.03, 0, 0.03]");
    free(text);
    sk_waits_sum_free(s);
}

/* Samples are thinned differently at ranks, and still the same calls are compared. */
static void many_calls_are_thinned(void **state)
{
    (void)state;
    enum { CALLS = 100000 };
    sk_waits_sum *s = sk_waits_sum_new(2);
    for (int rank = 0; rank < 2; rank++) {
        sk_waits *p = sk_waits_new();
        sk_waits_row *r = sk_waits_row_of(p, 5, 2, "");
        for (int i = 0; i < CALLS; i++)
            sk_waits_call(r, i % 2 ? SK_BCAST : SK_SCAN, i * 100 + rank * 10, 50);
        take(s, rank, p, rank ? 40 : 400, (sk_waits_clock){0});
    }
    sk_waits_finish(s);
    char *text = json_of(s);
    expect(text, "\"calls\": 100000");
    expect(text, "\"spread_us\": 0.010");
    expect(text, "{\"collective\": \"bcast\", "); /* not only every second call */
    expect(text, "{\"collective\": \"scan\", ");
    free(text);
    sk_waits_sum_free(s);
}

static void communicators_without_end_share_a_row(void **state)
{
    (void)state;
    char name[32];
    sk_waits *p = sk_waits_new();
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "number %d", i);
        sk_waits_call(sk_waits_row_of(p, 1 + (uint64_t)i, 2, name), SK_BARRIER, i, 1);
    }
    sk_waits_sum *s = sk_waits_sum_new(1);
    take(s, 0, p, 16, (sk_waits_clock){0});
    sk_waits_finish(s);
    char *text = json_of(s);
    expect(text, "{\"name\": \"number 62\", \"ranks\": 2,");
    expect(text, "{\"name\": \"all others\", \"ranks\": 0, \"groups\": 0, \"communicators\": 437, "
                 "\"calls\": 437");
    free(text);
    sk_waits_sum_free(s);
}

static void names_become_json(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    sk_json_text(out, "a", "\"\\\n\x01<b>\xc3\xa9\xff\xc3");
    fclose(out);
    assert_string_equal(text, "\"a\": \"\\\"\\\\<b>\xc3\xa9??\"");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_split_at_bins),
        cmocka_unit_test(a_long_run_keeps_its_time),
        cmocka_unit_test(narrow_timelines_are_widened),
        cmocka_unit_test(reports_of_different_width_merge),
        cmocka_unit_test(the_last_rank_is_waited_for),
        cmocka_unit_test(many_calls_are_thinned),
        cmocka_unit_test(communicators_without_end_share_a_row),
        cmocka_unit_test(names_become_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
