/* trace_read.c: reads a trace and checks every field: a file may come from anywhere. Every record
 * can be replayed afterwards, except for a claim of a message that is gone: only the replay can
 * detect that. */
#include "lab/match/trace_read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct trace_reader {
    const char *path;
    FILE *file;
    char *err;
    size_t size;
    uint8_t *sides; /* sk_match_side of the items, by id */
    uint32_t nitems;
} trace_reader;

static sk_status wrong(const trace_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static sk_status wrong(const trace_reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = snprintf(r->err, r->size, "%s: ", r->path);
    if (n >= 0 && (size_t)n < r->size)
        vsnprintf(r->err + n, r->size - (size_t)n, format, args);
    va_end(args);
    return SK_BADARG;
}

static sk_status unreadable(const trace_reader *r)
{
    wrong(r, "%s", strerror(errno));
    return SK_WIRE;
}

/* Splits the first line into words, in place; returns their number. */
static int split(char *line, char **words, int max)
{
    int n = 0;
    char *rest = NULL;
    for (char *w = strtok_r(line, " ", &rest); w && n < max; w = strtok_r(NULL, " ", &rest))
        words[n++] = w;
    return n;
}

static bool parse_count(const char *text, uint32_t *out)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || v > UINT32_MAX)
        return false;
    *out = (uint32_t)v;
    return true;
}

static const char *op_name(sk_trace_op op)
{
    static const char *const names[SK_TRACE_NOPS] = {"post", "deliver", "probe", "claim", "cancel"};
    return names[op];
}

static sk_status read_head(const trace_reader *r, uint32_t *nranks)
{
    char head[SK_TRACE_HEAD + 1] = "", *words[6];
    size_t magic = strlen(SK_TRACE_MAGIC), got = fread(head, 1, SK_TRACE_HEAD, r->file);
    if (ferror(r->file))
        return unreadable(r);
    if (memcmp(head, SK_TRACE_MAGIC, magic) != 0)
        return wrong(r, "no trace of Skein: it does not begin with '%s'", SK_TRACE_MAGIC);
    if (got < SK_TRACE_HEAD || head[SK_TRACE_HEAD - 1] != '\n' || strlen(head) != SK_TRACE_HEAD)
        return wrong(r, "the first line is not 64 bytes long");
    head[SK_TRACE_HEAD - 1] = '\0';
    int n = split(head, words, 6);
    if (n < 2 || strcmp(words[1], "1") != 0)
        return wrong(r, "version %.20s of the format; this program reads version 1",
                     n < 2 ? "?" : words[1]);
    if (n != 5 || strcmp(words[2], "nranks") != 0 || !parse_count(words[3], nranks))
        return wrong(r, "the first line must be 'skein-trace 1 nranks N %s'", SK_TRACE_ORDER);
    if (strcmp(words[4], SK_TRACE_ORDER) != 0)
        return wrong(r, "written on a %.20s machine; this one is %s", words[4], SK_TRACE_ORDER);
    return SK_OK;
}

/* What is wrong with the fields of a receive or a message, or NULL. */
static const char *bad_item(const sk_trace_record *t)
{
    bool receive = t->op == SK_TRACE_POST || t->op == SK_TRACE_PROBE;
    if (t->source == SK_ANY_SOURCE && !receive)
        return "a message has a source";
    if (t->source != SK_ANY_SOURCE && t->source >= SK_TRACE_MAX_SOURCES)
        return "the source is out of range";
    if (t->kind == SK_ANY_KIND && !receive)
        return "a message has a kind";
    if (t->kind != SK_ANY_KIND && t->kind >= SK_MAX_KINDS)
        return "the kind is out of range";
    if (t->ignore != 0 && !receive)
        return "a message ignores no bits of its tag";
    if (t->size > 64)
        return "the size class is above 64";
    return NULL;
}

/* What is wrong with a record, or NULL. Counts its item. */
static const char *check(trace_reader *r, const sk_trace_record *t)
{
    switch (t->op) {
    case SK_TRACE_POST:
    case SK_TRACE_DELIVER:
        if (t->id != r->nitems)
            return "its item is not the next one";
        if (t->depth > r->nitems)
            return "the queue cannot be that deep";
        r->sides[r->nitems++] = t->op == SK_TRACE_POST ? SK_POSTED : SK_UNEXPECTED;
        return bad_item(t);
    case SK_TRACE_PROBE:
        return t->depth > r->nitems ? "the queue cannot be that deep" : bad_item(t);
    case SK_TRACE_CLAIM:
    case SK_TRACE_CANCEL:
        if (t->id >= r->nitems)
            return "there is no such item before it";
        if ((r->sides[t->id] == SK_POSTED) != (t->op == SK_TRACE_CANCEL))
            return "messages are claimed, receives are cancelled";
        return NULL;
    default:
        return "there is no such operation";
    }
}

static sk_status check_all(trace_reader *r, const sk_trace_record *all, size_t n)
{
    r->sides = malloc(n + 1);
    if (!r->sides)
        return SK_NOMEM;
    sk_status st = SK_OK;
    for (size_t i = 0; i < n && st == SK_OK; i++) {
        const char *why = check(r, &all[i]);
        if (why)
            st = wrong(r, "record %zu (%s): %s", i,
                       all[i].op < SK_TRACE_NOPS ? op_name(all[i].op) : "?", why);
    }
    free(r->sides);
    return st;
}

static sk_status read_records(trace_reader *r, sk_trace_record **out, size_t *count)
{
    struct stat st;
    if (fstat(fileno(r->file), &st) != 0)
        return unreadable(r);
    if (!S_ISREG(st.st_mode))
        return wrong(r, "not a plain file");
    size_t bytes = (size_t)st.st_size - SK_TRACE_HEAD, n = bytes / sizeof **out;
    if (bytes % sizeof **out != 0)
        return wrong(r, "it ends in the middle of record %zu", n);
    if (n > UINT32_MAX)
        return wrong(r, "%zu records are more than a trace has", n);
    sk_trace_record *all = malloc(bytes + 1); /* never 0 bytes */
    sk_status status = all ? SK_OK : SK_NOMEM;
    if (all && fread(all, sizeof *all, n, r->file) != n)
        status = ferror(r->file) ? unreadable(r) : wrong(r, "it changes while it is read");
    if (status == SK_OK)
        status = check_all(r, all, n);
    if (status != SK_OK) {
        free(all);
        return status;
    }
    *out = all;
    *count = n;
    return SK_OK;
}

sk_status sk_trace_read(const char *path, uint32_t *nranks, sk_trace_record **out, size_t *count,
                        char *err, size_t size)
{
    trace_reader r = {.path = path, .err = err, .size = size, .file = fopen(path, "rb")};
    uint32_t ranks = 0;
    if (!r.file)
        return unreadable(&r);
    sk_status st = read_head(&r, &ranks);
    if (st == SK_OK)
        st = read_records(&r, out, count);
    if (st == SK_OK)
        *nranks = ranks;
    if (st == SK_NOMEM)
        wrong(&r, "out of memory");
    fclose(r.file);
    return st;
}
