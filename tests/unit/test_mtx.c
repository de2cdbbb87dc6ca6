/* Matrix Market files: what is read, and how malformed ones are answered. */
#include "unit.h"

#include <string.h>

#include "file.h"
#include "lab/graph/mtx.h"

static sk_mtx read_text(const unit_file *f, const char *text)
{
    char err[256] = "";
    sk_mtx m = {0};
    unit_file_write(f, text, strlen(text));
    int result = sk_mtx_read(f->path, &m, err, sizeof err);
    assert_string_equal(err, "");
    assert_int_equal(result, 0);
    return m;
}

typedef struct entry {
    int row, col;
    double val;
} entry;

/* Rows one after the other, columns ascending in each: as the entries stand here. */
static void assert_entries(const sk_mtx *m, const entry *want, int n)
{
    int at = 0;
    assert_int_equal(m->nnz, n);
    assert_int_equal(m->row[0], 0);
    assert_int_equal(m->row[m->nrows], n);
    for (int i = 0; i < m->nrows; i++)
        for (int64_t k = m->row[i]; k < m->row[i + 1]; k++, at++) {
            assert_int_equal(want[at].row, i + 1);
            assert_int_equal(want[at].col, m->col[k] + 1);
            assert_true(want[at].val == m->val[k]);
        }
}

static void entries_in_any_order_become_rows(void **state)
{
    sk_mtx m = read_text(*state, "%%MatrixMarket matrix coordinate real general\n"
                                 "% a comment\n"
                                 "\n"
                                 "4 5 6\n"
                                 "4 1 1.5\n"
                                 "1 5 -2e1\n"
                                 "  1\t2   .25 \n"
                                 "% between entries\n"
                                 "\n"
                                 "4 5 7\n"
                                 "1 1 0\n"
                                 "3 3 +1E-2\n");
    assert_int_equal(m.nrows, 4);
    assert_int_equal(m.ncols, 5);
    const entry want[] = {{1, 1, 0},    {1, 2, .25}, {1, 5, -20},
                          {3, 3, 0.01}, {4, 1, 1.5}, {4, 5, 7}};
    assert_entries(&m, want, 6);
    sk_mtx_free(&m);
    assert_null(m.row);
    sk_mtx_free(&m);
}

static void entries_given_twice_are_added_up(void **state)
{
    sk_mtx m = read_text(*state, "%%MatrixMarket matrix coordinate integer general\n"
                                 "2 2 5\n2 2 1\n1 1 4\n2 2 10\n2 1 -3\n2 2 100\n");
    const entry want[] = {{1, 1, 4}, {2, 1, -3}, {2, 2, 111}};
    assert_entries(&m, want, 3);
    sk_mtx_free(&m);
}

static void symmetric_ones_are_unfolded(void **state)
{
    sk_mtx m = read_text(*state, "%%matrixmarket MATRIX Coordinate REAL Symmetric\n"
                                 "3 3 3\n3 1 5\n2 2 6\n3 2 7\n");
    const entry want[] = {{1, 3, 5}, {2, 2, 6}, {2, 3, 7}, {3, 1, 5}, {3, 2, 7}};
    assert_entries(&m, want, 5);
    sk_mtx_free(&m);
}

static void skew_ones_change_the_sign(void **state)
{
    sk_mtx m = read_text(*state, "%%MatrixMarket matrix coordinate real skew-symmetric\n"
                                 "3 3 2\n3 1 5\n2 1 -6\n");
    const entry want[] = {{1, 2, 6}, {1, 3, -5}, {2, 1, -6}, {3, 1, 5}};
    assert_entries(&m, want, 4);
    sk_mtx_free(&m);
}

static void patterns_count_as_one(void **state)
{
    sk_mtx m = read_text(*state, "%%MatrixMarket matrix coordinate pattern symmetric\r\n"
                                 "2 2 2\r\n1 1\r\n2 1"); /* and no end of the last line */
    const entry want[] = {{1, 1, 1}, {1, 2, 1}, {2, 1, 1}};
    assert_entries(&m, want, 3);
    sk_mtx_free(&m);
}

static void empty_matrices_are_matrices(void **state)
{
    sk_mtx m = read_text(*state, "%%MatrixMarket matrix coordinate real general\n3 2 0\n\n% end\n");
    assert_entries(&m, NULL, 0);
    assert_int_equal(m.nrows, 3);
    sk_mtx_free(&m);
    m = read_text(*state, "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    assert_entries(&m, NULL, 0);
    sk_mtx_free(&m);
}

static void comments_may_be_long_but_lines_may_not(void **state)
{
    char text[4096], pad[2001];
    memset(pad, '-', sizeof pad - 1);
    pad[sizeof pad - 1] = '\0';
    snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate pattern general\n%%%s\n1 1 0\n",
             pad);
    sk_mtx m = read_text(*state, text);
    sk_mtx_free(&m);
}

/* `text` is what follows the banner's "coordinate", unless it begins with %%. */
static void refuses_bytes(const unit_file *f, const char *text, size_t n, const char *message)
{
    char err[256] = "", want[256];
    sk_mtx m = {.nrows = -7};
    unit_file_write(f, text, n);
    assert_int_equal(sk_mtx_read(f->path, &m, err, sizeof err), -1);
    snprintf(want, sizeof want, "%s:%s", f->path, message);
    assert_string_equal(err, want);
    assert_int_equal(m.nrows, -7);
}

static void refuses(const unit_file *f, const char *text, const char *message)
{
    char whole[2048];
    snprintf(whole, sizeof whole, "%s%s",
             strncmp(text, "%%", 2) == 0 ? "" : "%%MatrixMarket matrix coordinate ", text);
    refuses_bytes(f, whole, strlen(whole), message);
}

static void bad_banners_are_refused(void **state)
{
    const unit_file *f = *state;
    static const char none[] = "1: no Matrix Market file: it does not begin with %%MatrixMarket";
    refuses_bytes(f, "", 0, none);
    refuses_bytes(f, "\n", 1, none);
    refuses_bytes(f, "1 1 1\n1 1 1\n", 12, none);
    refuses(f, "%%MatrixMarkt matrix coordinate real general\n", none);
    refuses(f, "%%MatrixMarket matrix coordinate real\n",
            "1: %%MatrixMarket is followed by 4 words, not 3");
    refuses(f, "real general and more than that\n",
            "1: %%MatrixMarket is followed by 4 words, not 8");
    refuses(f, "%%MatrixMarket vector coordinate real general\n",
            "1: only a matrix can be read, not 'vector'");
    refuses(f, "%%MatrixMarket matrix array real general\n",
            "1: only the format coordinate can be read, not 'array'");
    refuses(f, "complex general\n", "1: values can be real, integer or pattern, not 'complex'");
    refuses(f, "real hermitian\n",
            "1: the matrix can be general, symmetric or skew-symmetric, not 'hermitian'");
    refuses(f, "pattern skew-symmetric\n", "1: a pattern cannot be skew-symmetric");
}

static void bad_sizes_are_refused(void **state)
{
    const unit_file *f = *state;
    refuses(f, "real general\n% nothing\n",
            "2: the file ends before the line with rows, columns and entries");
    refuses(f, "real general\n2 2\n", "2: rows, columns and entries are 3 numbers, not 2 words");
    refuses(f, "real general\n2 2 1 1 1 1 1 1\n",
            "2: rows, columns and entries are 3 numbers, not 8 words");
    refuses(f, "real general\n\n-2 2 1\n", "3: the number of rows is from 0 to 2147483647, not -2");
    refuses(f, "real general\n2 2147483648 1\n",
            "2: the number of columns is from 0 to 2147483647, not 2147483648");
    refuses(f, "real general\n2 2 99999999999999999999\n",
            "2: the number of entries is from 0 to 9223372036854775807, not "
            "99999999999999999999");
    refuses(f, "real general\n2 x 1\n", "2: the number of columns is a whole number, not 'x'");
    refuses(f, "real general\n2.0 2 1\n", "2: the number of rows is a whole number, not '2.0'");
    refuses(f, "real symmetric\n2 3 0\n", "2: a symmetric matrix has as many rows as columns");
    refuses(f, "real skew-symmetric\n3 2 0\n", "2: a symmetric matrix has as many rows as columns");
}

static void bad_entries_are_refused(void **state)
{
    const unit_file *f = *state;
    refuses(f, "real general\n2 2 2\n1 1 1\n", "3: the file ends after 1 of 2 entries");
    refuses(f, "real general\n2 2 9223372036854775807\n1 1 1\n",
            "3: the file ends after 1 of 9223372036854775807 entries");
    refuses(f, "real general\n2 2 1\n1 1 1\n% more\n1 2 1\n",
            "5: more than the 1 entries announced");
    refuses(f, "real general\n2 2 1\n1 1\n", "3: an entry has 3 words here, not 2");
    refuses(f, "real general\n2 2 1\n1 1 1 junk\n", "3: an entry has 3 words here, not 4");
    refuses(f, "pattern general\n2 2 1\n1 1 1\n", "3: an entry has 2 words here, not 3");
    refuses(f, "real general\n2 2 1\n0 1 1\n", "3: the row is from 1 to 2, not 0");
    refuses(f, "real general\n2 3 1\n1 4 1\n", "3: the column is from 1 to 3, not 4");
    refuses(f, "real general\n2 2 1\n1 -1 1\n", "3: the column is from 1 to 2, not -1");
    refuses(f, "real general\n2 2 1\n4294967297 1 1\n",
            "3: the row is from 1 to 2, not 4294967297");
    refuses(f, "real general\n2 2 1\n1,1 1 1\n", "3: the row is a whole number, not '1,1'");
    refuses(f, "real general\n2 2 1\n1 1 nan\n", "3: the value is a number, not 'nan'");
    refuses(f, "real general\n2 2 1\n1 1 inf\n", "3: the value is a number, not 'inf'");
    refuses(f, "real general\n2 2 1\n1 1 0x10\n", "3: the value is a number, not '0x10'");
    refuses(f, "real general\n2 2 1\n1 1 1.5f\n", "3: the value is a number, not '1.5f'");
    refuses(f, "real general\n2 2 1\n1 1 1e\n", "3: the value is a number, not '1e'");
    refuses(f, "real general\n2 2 1\n1 1 -\n", "3: the value is a number, not '-'");
    refuses(f, "real general\n2 2 1\n1 1 1e999\n", "3: the value 1e999 is too large");
    refuses(f, "integer general\n2 2 1\n1 1 1.5\n", "3: the value is a whole number, not '1.5'");
    refuses(f, "real symmetric\n2 2 1\n1 2 1\n", "3: row 1, column 2 is above the diagonal");
    refuses(f, "real skew-symmetric\n2 2 1\n1 2 1\n", "3: row 1, column 2 is above the diagonal");
    refuses(f, "real skew-symmetric\n2 2 1\n2 2 1\n",
            "3: row 2, column 2 is on the diagonal, which is zero in a skew-symmetric matrix");
    refuses(f, "real general\n0 0 1\n1 1 1\n", "3: the row is from 1 to 0, not 1");
}

static void odd_bytes_are_refused(void **state)
{
    static const char zero[] = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 \0001\n";
    refuses_bytes(*state, zero, sizeof zero - 1, "3: a zero byte");

    char wide[1200];
    int n = snprintf(wide, sizeof wide, "real general\n2 2 1\n1 1 1%*s\n", 1100, "");
    assert_between(n, 1100, sizeof wide - 1);
    refuses(*state, wide, "3: longer than 1024 characters");
}

static void missing_files_are_named(void **state)
{
    const unit_file *f = *state;
    char err[256] = "", want[256];
    sk_mtx m;
    snprintf(want, sizeof want, "%s: No such file or directory", f->path);
    assert_int_equal(sk_mtx_read(f->path, &m, err, sizeof err), -1);
    assert_string_equal(err, want);
    snprintf(want, sizeof want, "%s:1: Is a directory", f->dir);
    assert_int_equal(sk_mtx_read(f->dir, &m, err, sizeof err), -1);
    assert_string_equal(err, want);
    assert_int_equal(sk_mtx_read(f->path, &m, err, 8), -1); /* little room for the message */
    assert_int_equal(strlen(err), 7);
}

static void assert_sound(const sk_mtx *m)
{
    assert_int_equal(m->row[0], 0);
    assert_int_equal(m->row[m->nrows], m->nnz);
    for (int64_t i = 0; i < m->nrows; i++) {
        assert_true(m->row[i] <= m->row[i + 1]);
        for (int64_t k = m->row[i]; k < m->row[i + 1]; k++) {
            assert_true(m->col[k] >= 0 && m->col[k] < m->ncols);
            assert_true(k == m->row[i] || m->col[k - 1] < m->col[k]);
        }
    }
}

/* Bytes replaced by others, most of them such as stand in these files, cut out or doubled; most of
 * them behind the banner, which allows little. */
static size_t mutate(char *text, size_t n)
{
    static const char likely[] = "0123456789 .-+eE%\n\tnaxsy";
    for (int changes = 1 + rand() % 3; changes > 0 && n > 1; changes--) {
        size_t banner = rand() % 4 && n > 60 ? 48 : 0, at = banner + (size_t)rand() % (n - banner);
        switch (rand() % 4) {
        case 0:
            text[at] = (char)rand();
            break;
        case 1:
            memmove(text + at, text + at + 1, --n - at);
            break;
        case 2:
            memmove(text + at + 1, text + at, n++ - at);
            break;
        default:
            text[at] = likely[(size_t)rand() % (sizeof likely - 1)];
        }
    }
    return n;
}

static void mutated_files_are_read_or_refused(void **state)
{
    static const char *const seeds[] = {
        "%%MatrixMarket matrix coordinate real general\n% c\n4 5 5\n4 1 1.5\n1 5 -2e1\n1 2 .25\n"
        "4 5 7\n3 3 1e-2\n",
        "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n3 1 5\n2 2 6\n3 2 7\n",
        "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n3 1 5\n2 1 -6\n",
        "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n3 1\n2 2\n3 2\n",
    };
    const unit_file *f = *state;
    char prefix[128];
    int nread = 0, nrefused = 0;
    snprintf(prefix, sizeof prefix, "%s:", f->path);
    srand(11);
    for (int round = 0; round < 6000; round++) {
        char text[256], err[256] = "";
        sk_mtx m;
        size_t n = strlen(seeds[round % 4]);
        memcpy(text, seeds[round % 4], n);
        n = mutate(text, n);
        unit_file_write(f, text, n);
        if (sk_mtx_read(f->path, &m, err, sizeof err) == 0) {
            assert_sound(&m);
            sk_mtx_free(&m);
            nread++;
        } else {
            assert_int_equal(strncmp(err, prefix, strlen(prefix)), 0);
            assert_between(atoi(err + strlen(prefix)), 1, 20);
            nrefused++;
        }
    }
    assert_true(nread > 200 && nrefused > 2000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, unit_file_setup, unit_file_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(entries_in_any_order_become_rows),
        TEST(entries_given_twice_are_added_up),
        TEST(symmetric_ones_are_unfolded),
        TEST(skew_ones_change_the_sign),
        TEST(patterns_count_as_one),
        TEST(empty_matrices_are_matrices),
        TEST(comments_may_be_long_but_lines_may_not),
        TEST(bad_banners_are_refused),
        TEST(bad_sizes_are_refused),
        TEST(bad_entries_are_refused),
        TEST(odd_bytes_are_refused),
        TEST(missing_files_are_named),
        TEST(mutated_files_are_read_or_refused),
    };
    return RUN(tests);
}
