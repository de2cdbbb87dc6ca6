/* mtx.c: read Matrix Market files (Boisvert, Pozo, Remington: The Matrix Market exchange formats,
 * NISTIR 5935). Stricter than most readers: what is not understood is refused with its line. Memory
 * grows with the entries that are there, not with the number that the file announces. */
#include "lab/graph/mtx.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/numbers.h"

/* ---- lines of words ---- */

enum { LINE_CHARS = 1024, WORDS = 6 };

typedef struct mtx_text {
    FILE *stream;
    const char *file;
    int64_t line;
    char *err;
    size_t size;
    char text[LINE_CHARS + 1];
    char *word[WORDS];
    int nwords; /* those beyond WORDS are counted, but not kept */
} mtx_text;

/* Message "FILE:LINE: ..." into err. Always -1, so that a refusal is one statement. */
__attribute__((format(printf, 2, 3))) static int wrong(mtx_text *t, const char *format, ...)
{
    int at = snprintf(t->err, t->size, "%s:%" PRId64 ": ", t->file, t->line);
    if (at >= 0 && (size_t)at < t->size) {
        va_list args;
        va_start(args, format);
        vsnprintf(t->err + at, t->size - (size_t)at, format, args);
        va_end(args);
    }
    return -1;
}

static void cut(mtx_text *t)
{
    static const char *const blank = " \t\r\v\f";
    char *rest = NULL;
    t->nwords = 0;
    for (char *w = strtok_r(t->text, blank, &rest); w; w = strtok_r(NULL, blank, &rest)) {
        if (t->nwords < WORDS)
            t->word[t->nwords] = w;
        t->nwords++;
    }
}

/* The next line, cut into words. 1; at the end of the file 0; or -1 with a message. */
static int next_line(mtx_text *t)
{
    size_t len = 0;
    int c = getc(t->stream);
    if (c == EOF && !ferror(t->stream))
        return 0;
    t->line++;
    for (; c != EOF && c != '\n'; c = getc(t->stream)) {
        if (c == '\0')
            return wrong(t, "a zero byte");
        if (len < LINE_CHARS)
            t->text[len++] = (char)c;
        else if (t->text[0] != '%') /* comments may be of any length */
            return wrong(t, "longer than %d characters", LINE_CHARS);
    }
    if (ferror(t->stream))
        return wrong(t, "%s", strerror(errno));
    t->text[len] = '\0';
    cut(t);
    return 1;
}

/* The same for the next line that is neither blank nor a comment. */
static int next_data_line(mtx_text *t)
{
    int got;
    do
        got = next_line(t);
    while (got > 0 && (t->nwords == 0 || t->text[0] == '%'));
    return got;
}

/* Word i, a whole number from `least` to `most`. 0, or -1 with a message. */
static int read_whole(mtx_text *t, int i, const char *what, int64_t least, int64_t most,
                      int64_t *out)
{
    sk_status st = sk_read_integer(t->word[i], false, least, most, out);
    if (st == SK_BADARG)
        return wrong(t, "%s is a whole number, not '%s'", what, t->word[i]);
    if (st != SK_OK)
        return wrong(t, "%s is from %" PRId64 " to %" PRId64 ", not %s", what, least, most,
                     t->word[i]);
    return 0;
}

/* ---- rows ---- */

typedef struct mtx_entry {
    int32_t row, col; /* from 0 */
    double val;
} mtx_entry;

static void *allocate(int64_t n, size_t size)
{
    return calloc(n ? (size_t)n : 1, size);
}

/* The index of the first entry of each column. */
static int64_t *column_starts(int64_t ncols, const mtx_entry *entries, int64_t n)
{
    int64_t *start = allocate(ncols + 1, sizeof *start);
    if (!start)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        start[entries[i].col + 1]++;
    for (int64_t j = 0; j < ncols; j++)
        start[j + 1] += start[j];
    return start;
}

/* In the end m->row[i] is the start of row i; meanwhile row[i + 1] is where its next entry goes. */
static void fill_rows(sk_mtx *m, const mtx_entry *sorted, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (sorted[i].row + (int64_t)2 <= m->nrows)
            m->row[sorted[i].row + 2]++;
    for (int64_t i = 2; i <= m->nrows; i++)
        m->row[i] += m->row[i - 1];
    for (int64_t i = 0; i < n; i++) {
        int64_t at = m->row[sorted[i].row + 1]++;
        m->col[at] = sorted[i].col;
        m->val[at] = sorted[i].val;
    }
}

static void add_up(sk_mtx *m)
{
    int64_t to = 0, from = 0;
    for (int64_t i = 0; i < m->nrows; i++) {
        int64_t first = to;
        for (; from < m->row[i + 1]; from++) {
            if (to > first && m->col[to - 1] == m->col[from]) {
                m->val[to - 1] += m->val[from];
                continue;
            }
            m->col[to] = m->col[from];
            m->val[to++] = m->val[from];
        }
        m->row[i + 1] = to;
    }
    m->nnz = to;
}

/* Sort the entries by row and column and add up those with equal row and column. m->nrows and
 * m->ncols are set. Two passes of counting sort, first by column, then by row:
 * O(entries + rows + columns). 0, or -1 when out of memory. */
static int make_rows(sk_mtx *m, const mtx_entry *entries, int64_t n)
{
    int64_t *start = column_starts(m->ncols, entries, n);
    mtx_entry *sorted = allocate(n, sizeof *sorted);
    m->row = allocate(m->nrows + 1, sizeof *m->row);
    m->col = allocate(n, sizeof *m->col);
    m->val = allocate(n, sizeof *m->val);
    int result = -1;
    if (start && sorted && m->row && m->col && m->val) {
        for (int64_t i = 0; i < n; i++)
            sorted[start[entries[i].col]++] = entries[i];
        fill_rows(m, sorted, n);
        add_up(m);
        result = 0;
    } else {
        sk_mtx_free(m);
    }
    free(start);
    free(sorted);
    return result;
}

void sk_mtx_free(sk_mtx *m)
{
    free(m->row);
    free(m->col);
    free(m->val);
    memset(m, 0, sizeof *m);
}

/* ---- the file ---- */

typedef enum mtx_field { REAL, INTEGER, PATTERN } mtx_field;
typedef enum mtx_symmetry { GENERAL, SYMMETRIC, SKEW } mtx_symmetry;

typedef struct mtx_reader {
    mtx_text text;
    mtx_field field;
    mtx_symmetry symmetry;
    int64_t nrows, ncols, announced;
    mtx_entry *entries;
    int64_t n, cap;
} mtx_reader;

/* The index of a word in a NULL-ended list, case ignored; -1: it is not in the list. */
static int find(const char *word, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (strcasecmp(word, list[i]) == 0)
            return i;
    return -1;
}

static int read_banner(mtx_reader *r)
{
    static const char *const fields[] = {"real", "integer", "pattern", NULL};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", NULL};
    mtx_text *t = &r->text;
    int got = next_line(t);
    if (got < 0)
        return -1;
    if (got == 0 || t->nwords == 0 || strcasecmp(t->word[0], "%%MatrixMarket") != 0) {
        t->line = 1;
        return wrong(t, "no Matrix Market file: it does not begin with %%%%MatrixMarket");
    }
    if (t->nwords != 5)
        return wrong(t, "%%%%MatrixMarket is followed by 4 words, not %d", t->nwords - 1);
    if (strcasecmp(t->word[1], "matrix") != 0)
        return wrong(t, "only a matrix can be read, not '%s'", t->word[1]);
    if (strcasecmp(t->word[2], "coordinate") != 0)
        return wrong(t, "only the format coordinate can be read, not '%s'", t->word[2]);
    int f = find(t->word[3], fields), s = find(t->word[4], symmetries);
    if (f < 0)
        return wrong(t, "values can be real, integer or pattern, not '%s'", t->word[3]);
    if (s < 0)
        return wrong(t, "the matrix can be general, symmetric or skew-symmetric, not '%s'",
                     t->word[4]);
    if (f == PATTERN && s == SKEW)
        return wrong(t, "a pattern cannot be skew-symmetric");
    r->field = (mtx_field)f;
    r->symmetry = (mtx_symmetry)s;
    return 0;
}

static int read_sizes(mtx_reader *r)
{
    mtx_text *t = &r->text;
    int got = next_data_line(t);
    if (got < 0)
        return -1;
    if (got == 0)
        return wrong(t, "the file ends before the line with rows, columns and entries");
    if (t->nwords != 3)
        return wrong(t, "rows, columns and entries are 3 numbers, not %d words", t->nwords);
    if (read_whole(t, 0, "the number of rows", 0, INT32_MAX, &r->nrows) ||
        read_whole(t, 1, "the number of columns", 0, INT32_MAX, &r->ncols) ||
        read_whole(t, 2, "the number of entries", 0, INT64_MAX, &r->announced))
        return -1;
    if (r->symmetry != GENERAL && r->nrows != r->ncols)
        return wrong(t, "a symmetric matrix has as many rows as columns");
    return 0;
}

/* The characters are checked first: strtod would also take inf, nan and hexadecimal digits. */
static int read_value(mtx_reader *r, double *out)
{
    const char *word = r->text.word[2];
    const char *may = r->field == INTEGER ? "+-0123456789" : "+-0123456789.eE";
    char *end;
    *out = strtod(word, &end);
    if (word[strspn(word, may)] || end == word || *end)
        return wrong(&r->text, "the value is %s number, not '%s'",
                     r->field == INTEGER ? "a whole" : "a", word);
    if (!isfinite(*out))
        return wrong(&r->text, "the value %s is too large", word);
    return 0;
}

static int append(mtx_reader *r, int64_t row, int64_t col, double val)
{
    if (r->n == r->cap) {
        int64_t cap = r->cap ? 2 * r->cap : 1024;
        mtx_entry *more = realloc(r->entries, (size_t)cap * sizeof *more);
        if (!more)
            return wrong(&r->text, "out of memory");
        r->entries = more;
        r->cap = cap;
    }
    r->entries[r->n++] =
        (mtx_entry){.row = (int32_t)(row - 1), .col = (int32_t)(col - 1), .val = val};
    return 0;
}

/* A symmetric matrix gives its lower half only. */
static int check_half(mtx_reader *r, int64_t row, int64_t col)
{
    if (col > row)
        return wrong(&r->text, "row %" PRId64 ", column %" PRId64 " is above the diagonal", row,
                     col);
    if (col == row && r->symmetry == SKEW)
        return wrong(&r->text,
                     "row %" PRId64 ", column %" PRId64
                     " is on the diagonal, which is zero in a skew-symmetric matrix",
                     row, col);
    return 0;
}

static int read_entry(mtx_reader *r)
{
    mtx_text *t = &r->text;
    int wanted = r->field == PATTERN ? 2 : 3;
    int64_t row, col;
    double val = 1;
    if (t->nwords != wanted)
        return wrong(t, "an entry has %d words here, not %d", wanted, t->nwords);
    if (read_whole(t, 0, "the row", 1, r->nrows, &row) ||
        read_whole(t, 1, "the column", 1, r->ncols, &col) ||
        (r->field != PATTERN && read_value(r, &val)) ||
        (r->symmetry != GENERAL && check_half(r, row, col)) || append(r, row, col, val))
        return -1;
    if (r->symmetry == GENERAL || row == col)
        return 0;
    return append(r, col, row, r->symmetry == SKEW ? -val : val);
}

static int read_entries(mtx_reader *r)
{
    mtx_text *t = &r->text;
    for (int64_t i = 0; i < r->announced; i++) {
        int got = next_data_line(t);
        if (got == 0)
            return wrong(t, "the file ends after %" PRId64 " of %" PRId64 " entries", i,
                         r->announced);
        if (got < 0 || read_entry(r))
            return -1;
    }
    int got = next_data_line(t);
    if (got > 0)
        return wrong(t, "more than the %" PRId64 " entries announced", r->announced);
    return got;
}

int sk_mtx_read(const char *file, sk_mtx *out, char *err, size_t size)
{
    mtx_reader r = {.text = {.file = file, .err = err, .size = size}};
    sk_mtx m = {0};
    int result = -1;
    r.text.stream = fopen(file, "r");
    if (!r.text.stream) {
        snprintf(err, size, "%s: %s", file, strerror(errno));
        return -1;
    }
    if (read_banner(&r) || read_sizes(&r) || read_entries(&r))
        goto out;
    m.nrows = r.nrows;
    m.ncols = r.ncols;
    if (make_rows(&m, r.entries, r.n)) {
        wrong(&r.text, "out of memory");
        goto out;
    }
    *out = m;
    result = 0;
out:
    free(r.entries);
    fclose(r.text.stream);
    return result;
}
