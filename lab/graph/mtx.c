/* mtx.c: read Matrix Market files (Boisvert, Pozo, Remington: The Matrix Market exchange formats,
 * NISTIR 5935). Stricter than most readers: what is not understood is refused with its line. Memory
 * grows with the entries that are there, not with the number that the file announces. */
#include "lab/graph/mtx.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lab/graph/mtx_rows.h"
#include "lab/graph/mtx_text.h"

typedef enum field { REAL, INTEGER, PATTERN } field;
typedef enum symmetry { GENERAL, SYMMETRIC, SKEW } symmetry;

typedef struct reader {
    sk_mtx_text text;
    field field;
    symmetry symmetry;
    int64_t nrows, ncols, announced;
    sk_mtx_entry *entries;
    int64_t n, room;
} reader;

/* The place of a word in a NULL-ended list, case ignored; -1: not there. */
static int find(const char *word, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (strcasecmp(word, list[i]) == 0)
            return i;
    return -1;
}

static int read_banner(reader *r)
{
    static const char *const fields[] = {"real", "integer", "pattern", NULL};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", NULL};
    sk_mtx_text *t = &r->text;
    int got = sk_mtx_line(t);
    if (got < 0)
        return -1;
    if (got == 0 || t->nwords == 0 || strcasecmp(t->word[0], "%%MatrixMarket") != 0) {
        t->line = 1;
        return sk_mtx_wrong(t, "no Matrix Market file: it does not begin with %%%%MatrixMarket");
    }
    if (t->nwords != 5)
        return sk_mtx_wrong(t, "%%%%MatrixMarket is followed by 4 words, not %d", t->nwords - 1);
    if (strcasecmp(t->word[1], "matrix") != 0)
        return sk_mtx_wrong(t, "only a matrix can be read, not '%s'", t->word[1]);
    if (strcasecmp(t->word[2], "coordinate") != 0)
        return sk_mtx_wrong(t, "only the format coordinate can be read, not '%s'", t->word[2]);
    int f = find(t->word[3], fields), s = find(t->word[4], symmetries);
    if (f < 0)
        return sk_mtx_wrong(t, "values can be real, integer or pattern, not '%s'", t->word[3]);
    if (s < 0)
        return sk_mtx_wrong(t, "the matrix can be general, symmetric or skew-symmetric, not '%s'",
                            t->word[4]);
    if (f == PATTERN && s == SKEW)
        return sk_mtx_wrong(t, "a pattern cannot be skew-symmetric");
    r->field = (field)f;
    r->symmetry = (symmetry)s;
    return 0;
}

static int read_sizes(reader *r)
{
    sk_mtx_text *t = &r->text;
    int got = sk_mtx_data_line(t);
    if (got < 0)
        return -1;
    if (got == 0)
        return sk_mtx_wrong(t, "the file ends before the line with rows, columns and entries");
    if (t->nwords != 3)
        return sk_mtx_wrong(t, "rows, columns and entries are 3 numbers, not %d words", t->nwords);
    if (sk_mtx_whole(t, 0, "the number of rows", 0, INT32_MAX, &r->nrows) ||
        sk_mtx_whole(t, 1, "the number of columns", 0, INT32_MAX, &r->ncols) ||
        sk_mtx_whole(t, 2, "the number of entries", 0, INT64_MAX, &r->announced))
        return -1;
    if (r->symmetry != GENERAL && r->nrows != r->ncols)
        return sk_mtx_wrong(t, "a symmetric matrix has as many rows as columns");
    return 0;
}

/* The characters are checked first: strtod would also take inf, nan and hexadecimal digits. */
static int read_value(reader *r, double *out)
{
    const char *word = r->text.word[2];
    const char *may = r->field == INTEGER ? "+-0123456789" : "+-0123456789.eE";
    char *end;
    *out = strtod(word, &end);
    if (word[strspn(word, may)] || end == word || *end)
        return sk_mtx_wrong(&r->text, "the value is %s number, not '%s'",
                            r->field == INTEGER ? "a whole" : "a", word);
    if (!isfinite(*out))
        return sk_mtx_wrong(&r->text, "the value %s is too large", word);
    return 0;
}

static int append(reader *r, int64_t row, int64_t col, double val)
{
    if (r->n == r->room) {
        int64_t room = r->room ? 2 * r->room : 1024;
        sk_mtx_entry *more = realloc(r->entries, (size_t)room * sizeof *more);
        if (!more)
            return sk_mtx_wrong(&r->text, "out of memory");
        r->entries = more;
        r->room = room;
    }
    r->entries[r->n++] =
        (sk_mtx_entry){.row = (int32_t)(row - 1), .col = (int32_t)(col - 1), .val = val};
    return 0;
}

/* A half matrix gives its lower half only. */
static int check_half(reader *r, int64_t row, int64_t col)
{
    if (col > row)
        return sk_mtx_wrong(&r->text, "row %" PRId64 ", column %" PRId64 " is above the diagonal",
                            row, col);
    if (col == row && r->symmetry == SKEW)
        return sk_mtx_wrong(&r->text,
                            "row %" PRId64 ", column %" PRId64
                            " is on the diagonal, which is zero in a skew-symmetric matrix",
                            row, col);
    return 0;
}

static int read_entry(reader *r)
{
    sk_mtx_text *t = &r->text;
    int wanted = r->field == PATTERN ? 2 : 3;
    int64_t row, col;
    double val = 1;
    if (t->nwords != wanted)
        return sk_mtx_wrong(t, "an entry has %d words here, not %d", wanted, t->nwords);
    if (sk_mtx_whole(t, 0, "the row", 1, r->nrows, &row) ||
        sk_mtx_whole(t, 1, "the column", 1, r->ncols, &col) ||
        (r->field != PATTERN && read_value(r, &val)) ||
        (r->symmetry != GENERAL && check_half(r, row, col)) || append(r, row, col, val))
        return -1;
    if (r->symmetry == GENERAL || row == col)
        return 0;
    return append(r, col, row, r->symmetry == SKEW ? -val : val);
}

static int read_entries(reader *r)
{
    sk_mtx_text *t = &r->text;
    for (int64_t i = 0; i < r->announced; i++) {
        int got = sk_mtx_data_line(t);
        if (got == 0)
            return sk_mtx_wrong(t, "the file ends after %" PRId64 " of %" PRId64 " entries", i,
                                r->announced);
        if (got < 0 || read_entry(r))
            return -1;
    }
    int got = sk_mtx_data_line(t);
    if (got > 0)
        return sk_mtx_wrong(t, "more than the %" PRId64 " entries announced", r->announced);
    return got;
}

int sk_mtx_read(const char *file, sk_mtx *out, char *err, size_t size)
{
    reader r = {.text = {.file = file, .err = err, .size = size}};
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
    if (sk_mtx_rows(&m, r.entries, r.n)) {
        sk_mtx_wrong(&r.text, "out of memory");
        goto out;
    }
    *out = m;
    result = 0;
out:
    free(r.entries);
    fclose(r.text.stream);
    return result;
}
