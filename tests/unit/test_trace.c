/* test_trace.c: traces are read as written, and broken files are refused with a reason. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "file.h"
#include "lab/match/trace_read.h"

/* A receive, a message, a probe, a claim and a cancel. */
static void sound(sk_trace_record *r)
{
    r[0] = (sk_trace_record){.tag = 7, .ignore = UINT64_C(3) << 32, .source = SK_ANY_SOURCE};
    r[0].kind = SK_ANY_KIND;
    r[1] = (sk_trace_record){.tag = 8, .source = 5, .nranks = 12, .call = 3, .id = 1};
    r[1].op = SK_TRACE_DELIVER;
    r[1].kind = 4;
    r[1].size = 17;
    r[1].depth = 1;
    r[2] = (sk_trace_record){.tag = 8, .ignore = UINT64_MAX, .op = SK_TRACE_PROBE, .depth = 1};
    r[3] = (sk_trace_record){.id = 1, .op = SK_TRACE_CLAIM, .depth = 1};
    r[4] = (sk_trace_record){.id = 0, .op = SK_TRACE_CANCEL, .depth = 1};
}
enum { SOUND = 5, HEAD = 64 };

static void write_trace(const unit_file *f, uint32_t nranks, const sk_trace_record *r, size_t n)
{
    sk_trace *t;
    unlink(f->path);
    assert_int_equal(sk_trace_new(f->path, nranks, &t), SK_OK);
    for (size_t i = 0; i < n; i++)
        sk_trace_write(t, &r[i]);
    assert_int_equal(sk_trace_free(t), SK_OK);
}

static void assert_read(const unit_file *f, uint32_t nranks, const sk_trace_record *r, size_t n)
{
    char err[256] = "";
    uint32_t ranks = 0;
    size_t count = 99;
    sk_trace_record *got;
    assert_int_equal(sk_trace_read(f->path, &ranks, &got, &count, err, sizeof err), SK_OK);
    assert_string_equal(err, "");
    assert_int_equal(ranks, nranks);
    assert_int_equal(count, n);
    if (n)
        assert_memory_equal(got, r, n * sizeof *r);
    free(got);
}

static void refuses(const unit_file *f, const char *message)
{
    char err[256] = "", want[256];
    uint32_t ranks = 77;
    size_t count = 78;
    sk_trace_record *got = NULL;
    assert_int_equal(sk_trace_read(f->path, &ranks, &got, &count, err, sizeof err), SK_BADARG);
    snprintf(want, sizeof want, "%s: %s", f->path, message);
    assert_string_equal(err, want);
    assert_null(got);
    assert_int_equal(ranks, 77);
    assert_int_equal(count, 78);
}

static void what_is_written_is_read(void **state)
{
    sk_trace_record r[SOUND];
    sound(r);
    write_trace(*state, 4096, r, SOUND);
    assert_read(*state, 4096, r, SOUND);
    write_trace(*state, UINT32_MAX, NULL, 0);
    assert_read(*state, UINT32_MAX, NULL, 0);
}

static void long_traces_are_whole(void **state)
{
    enum { MANY = 10000 };
    sk_trace_record *r = calloc(MANY, sizeof *r);
    assert_non_null(r);
    for (uint32_t i = 0; i < MANY; i++) {
        r[i].id = i;
        r[i].tag = i * UINT64_C(0x123456789);
        r[i].op = i % 3 ? SK_TRACE_POST : SK_TRACE_DELIVER;
    }
    write_trace(*state, 3, r, MANY);
    assert_read(*state, 3, r, MANY);
    free(r);
}

/* A killed program leaves whole records. */
static void traces_can_be_read_while_they_are_written(void **state)
{
    const unit_file *f = *state;
    sk_trace *t;
    uint32_t ranks;
    size_t count = 0;
    sk_trace_record *got, r = {0};
    char err[256] = "";
    assert_int_equal(sk_trace_new(f->path, 2, &t), SK_OK);
    for (uint32_t i = 0; i < 3000; i++) {
        r.id = i;
        sk_trace_write(t, &r);
        if (i % 500)
            continue;
        assert_int_equal(sk_trace_read(f->path, &ranks, &got, &count, err, sizeof err), SK_OK);
        free(got);
    }
    assert_between(count, 1000, 3000);
    assert_int_equal(sk_trace_free(t), SK_OK);
}

static void a_matcher_records_what_it_was_asked(void **state)
{
    const unit_file *f = *state;
    sk_match_config config = {.nranks = 9};
    sk_matcher *m;
    sk_match_item recv = {.tag = 1, .source = 2, .nranks = 9}, twin = recv, msg = recv,
                  other = recv;
    other.tag = 5;
    assert_int_equal(sk_trace_new(f->path, 9, &config.trace), SK_OK);
    assert_int_equal(sk_matcher_new("list", &config, &m), SK_OK);
    assert_null(sk_matcher_post(m, &recv));
    assert_null(sk_matcher_post(m, &twin));
    assert_ptr_equal(sk_matcher_deliver(m, &msg), &recv);
    assert_null(sk_matcher_deliver(m, &other));
    assert_ptr_equal(sk_matcher_probe(m, &other), &other);
    sk_matcher_claim(m, &other);
    assert_true(sk_matcher_cancel(m, &twin));
    assert_false(sk_matcher_cancel(m, &recv));
    sk_matcher_free(m);
    assert_int_equal(sk_trace_free(config.trace), SK_OK);

    static const struct {
        uint8_t op;
        uint32_t id, depth;
        uint64_t tag;
    } want[] = {{SK_TRACE_POST, 0, 0, 1},    {SK_TRACE_POST, 1, 0, 1},  {SK_TRACE_DELIVER, 2, 2, 1},
                {SK_TRACE_DELIVER, 3, 1, 5}, {SK_TRACE_PROBE, 0, 1, 5}, {SK_TRACE_CLAIM, 3, 1, 5},
                {SK_TRACE_CANCEL, 1, 1, 1}};
    char err[256] = "";
    uint32_t ranks;
    size_t count;
    sk_trace_record *r;
    assert_int_equal(sk_trace_read(f->path, &ranks, &r, &count, err, sizeof err), SK_OK);
    assert_int_equal(ranks, 9);
    assert_int_equal(count, sizeof want / sizeof *want);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(r[i].op, want[i].op);
        assert_int_equal(r[i].id, want[i].id);
        assert_int_equal(r[i].depth, want[i].depth);
        assert_int_equal(r[i].tag, want[i].tag);
    }
    free(r);
}

static void bad_heads_are_refused(void **state)
{
    const unit_file *f = *state;
    static const char none[] = "no trace of Skein: it does not begin with 'skein-trace '";
    static const char cut[] = "the first line is not 64 bytes long";
    static const struct {
        const char *head, *message;
    } bad[] = {
        {"", none},
        {"skein-trace", none},
        {"ELF", none},
        {"skein-trace 1 nranks 4 little-endian\n", cut},
        {"skein-trace                                                    \n",
         "version ? of the format; this program reads version 1"},
        {"skein-trace 2 nranks 4 little-endian                           \n",
         "version 2 of the format; this program reads version 1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unit_file_write(f, bad[i].head, strlen(bad[i].head));
        refuses(f, bad[i].message);
    }
}

/* First lines made from a valid one with the byte order of this machine. */
static void spoil_head(const unit_file *f, const char *from, const char *to, const char *message)
{
    char head[HEAD + 1] = "";
    write_trace(f, 4, NULL, 0);
    FILE *file = fopen(f->path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(head, 1, HEAD, file), HEAD);
    fclose(file);
    char *at = strstr(head, from);
    assert_non_null(at);
    memcpy(at, to, *to ? strlen(to) : 1); /* "": a zero byte */
    unit_file_write(f, head, HEAD);
    refuses(f, message);
}

static bool little(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one;
}

static void other_words_in_heads_are_refused(void **state)
{
    const char *own = little() ? "little-endian" : "big-endian",
               *other = little() ? "big-endian   " : "mid-endian";
    char words[128], order[128];
    snprintf(words, sizeof words, "the first line must be 'skein-trace 1 nranks N %s'", own);
    snprintf(order, sizeof order, "written on a %.10s machine; this one is %s", other, own);
    spoil_head(*state, "nranks", "nrenks", words);
    spoil_head(*state, "4", "x", words);
    spoil_head(*state, "4", "-", words);
    spoil_head(*state, " 4 ", "   ", words);
    spoil_head(*state, "     ", " more", words);
    spoil_head(*state, own, other, order);
    spoil_head(*state, "\n", " ", "the first line is not 64 bytes long");
    spoil_head(*state, "\n", "", "the first line is not 64 bytes long");
}

/* Record `at` of a valid trace, changed by `spoil`. */
static void spoil(const unit_file *f, size_t at, void (*change)(sk_trace_record *),
                  const char *message)
{
    sk_trace_record r[SOUND];
    sound(r);
    change(&r[at]);
    write_trace(f, 4, r, SOUND);
    refuses(f, message);
}

#define CHANGE(name, statement)                                                                    \
    static void name(sk_trace_record *r)                                                           \
    {                                                                                              \
        statement;                                                                                 \
    }
CHANGE(odd_op, r->op = SK_TRACE_NOPS)
CHANGE(odd_id, r->id += 2)
CHANGE(deep, r->depth = 9)
CHANGE(far_source, r->source = SK_TRACE_MAX_SOURCES)
CHANGE(any_source, r->source = SK_ANY_SOURCE)
CHANGE(odd_kind, r->kind = SK_MAX_KINDS)
CHANGE(any_kind, r->kind = SK_ANY_KIND)
CHANGE(mask, r->ignore = 1)
CHANGE(huge, r->size = 65)
CHANGE(swap_claim, r->op = SK_TRACE_CANCEL)
CHANGE(swap_cancel, r->op = SK_TRACE_CLAIM)

static void bad_records_are_refused(void **state)
{
    const unit_file *f = *state;
    spoil(f, 0, odd_op, "record 0 (?): there is no such operation");
    spoil(f, 0, odd_id, "record 0 (post): its item is not the next one");
    spoil(f, 1, odd_id, "record 1 (deliver): its item is not the next one");
    spoil(f, 1, deep, "record 1 (deliver): the queue cannot be that deep");
    spoil(f, 2, deep, "record 2 (probe): the queue cannot be that deep");
    spoil(f, 0, far_source, "record 0 (post): the source is out of range");
    spoil(f, 1, any_source, "record 1 (deliver): a message has a source");
    spoil(f, 2, odd_kind, "record 2 (probe): the kind is out of range");
    spoil(f, 1, any_kind, "record 1 (deliver): a message has a kind");
    spoil(f, 1, mask, "record 1 (deliver): a message ignores no bits of its tag");
    spoil(f, 0, huge, "record 0 (post): the size class is above 64");
    spoil(f, 3, odd_id, "record 3 (claim): there is no such item before it");
    spoil(f, 4, odd_id, "record 4 (cancel): there is no such item before it");
    spoil(f, 3, swap_claim, "record 3 (cancel): messages are claimed, receives are cancelled");
    spoil(f, 4, swap_cancel, "record 4 (claim): messages are claimed, receives are cancelled");
}

static void torn_records_are_refused(void **state)
{
    const unit_file *f = *state;
    sk_trace_record r[SOUND];
    sound(r);
    write_trace(f, 4, r, SOUND);
    assert_int_equal(truncate(f->path, HEAD + 2 * sizeof *r + 1), 0);
    refuses(f, "it ends in the middle of record 2");
    assert_int_equal(truncate(f->path, HEAD + 2 * sizeof *r), 0);
    assert_read(f, 4, r, 2);
}

static void files_that_cannot_be_read_are_named(void **state)
{
    const unit_file *f = *state;
    char err[256] = "", want[256];
    uint32_t ranks;
    size_t count;
    sk_trace_record *r;
    unlink(f->path);
    assert_int_equal(sk_trace_read(f->path, &ranks, &r, &count, err, sizeof err), SK_WIRE);
    snprintf(want, sizeof want, "%s: No such file or directory", f->path);
    assert_string_equal(err, want);
    assert_int_equal(sk_trace_read(f->dir, &ranks, &r, &count, err, sizeof err), SK_WIRE);
    snprintf(want, sizeof want, "%s: Is a directory", f->dir);
    assert_string_equal(err, want);
    assert_int_equal(sk_trace_read(f->path, &ranks, &r, &count, err, 8), SK_WIRE);
    assert_int_equal(strlen(err), 7); /* a small buffer for the message */
}

static void files_that_cannot_be_written_are_told(void **state)
{
    const unit_file *f = *state;
    sk_trace *t = NULL;
    assert_int_equal(sk_trace_new(f->dir, 2, &t), SK_WIRE);
    assert_int_equal(errno, EISDIR);
    assert_null(t);
    assert_int_equal(sk_trace_new("/dev/full", 2, &t), SK_WIRE);
    assert_int_equal(errno, ENOSPC);
    assert_null(t);
    assert_int_equal(sk_trace_free(NULL), SK_OK);
}

static void records_that_cannot_be_written_are_told_at_the_end(void **state)
{
    const unit_file *f = *state;
    sk_trace *t;
    sk_trace_record r = {0};
    struct rlimit before, little = {.rlim_cur = HEAD + 100 * sizeof r};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(sk_trace_new(f->path, 2, &t), SK_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    for (uint32_t i = 0; i < 5000; i++) {
        r.id = i;
        sk_trace_write(t, &r);
    }
    sk_status st = sk_trace_free(t);
    int why = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(st, SK_WIRE);
    assert_int_equal(why, EFBIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read, unit_file_setup,
                                        unit_file_teardown),
        cmocka_unit_test_setup_teardown(long_traces_are_whole, unit_file_setup, unit_file_teardown),
        cmocka_unit_test_setup_teardown(traces_can_be_read_while_they_are_written, unit_file_setup,
                                        unit_file_teardown),
        cmocka_unit_test_setup_teardown(a_matcher_records_what_it_was_asked, unit_file_setup,
                                        unit_file_teardown),
        cmocka_unit_test_setup_teardown(bad_heads_are_refused, unit_file_setup, unit_file_teardown),
        cmocka_unit_test_setup_teardown(other_words_in_heads_are_refused, unit_file_setup,
                                        unit_file_teardown),
        cmocka_unit_test_setup_teardown(bad_records_are_refused, unit_file_setup,
                                        unit_file_teardown),
        cmocka_unit_test_setup_teardown(torn_records_are_refused, unit_file_setup,
                                        unit_file_teardown),
        cmocka_unit_test_setup_teardown(files_that_cannot_be_read_are_named, unit_file_setup,
                                        unit_file_teardown),
        cmocka_unit_test_setup_teardown(files_that_cannot_be_written_are_told, unit_file_setup,
                                        unit_file_teardown),
        cmocka_unit_test_setup_teardown(records_that_cannot_be_written_are_told_at_the_end,
                                        unit_file_setup, unit_file_teardown),
    };
    return RUN(tests);
}
