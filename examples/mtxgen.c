/* mtxgen.c: make up a sparse square matrix and write it as a Matrix Market file, for spmm.c.
 *
 * Exactly NNZ nonzeros, drawn without replacement in one pass over the places where one may stand
 * (selection sampling; Knuth, TAOCP 2, 3.4.2, algorithm S): no memory, and the same file for the
 * same arguments everywhere.
 *
 *   cc mtxgen.c -o mtxgen && ./mtxgen 193 1843 symmetric 1 >dwt_193.mtx */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 100000 };

typedef struct sampler {
    uint64_t state;   /* of the random numbers */
    int64_t draw, of; /* still to be drawn, among this many remaining entries */
} sampler;

/* SplitMix64. */
static uint64_t next(sampler *s)
{
    uint64_t x = s->state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Values from -1 to 1 in steps of a thousandth, without 0. */
static void put(sampler *s, int64_t row, int64_t col)
{
    int value = (int)(next(s) % 2000) - 1000;
    printf("%lld %lld %.3f\n", (long long)row + 1, (long long)col + 1,
           (value < 0 ? value : value + 1) / 1000.0);
}

static void visit(sampler *s, int64_t row, int64_t col)
{
    if (next(s) % (uint64_t)s->of < (uint64_t)s->draw) {
        put(s, row, col);
        s->draw--;
    }
    s->of--;
}

static void head(const char *symmetry, int64_t n, int64_t entries)
{
    printf("%%%%MatrixMarket matrix coordinate real %s\n", symmetry);
    printf("%% made up by mtxgen\n%lld %lld %lld\n", (long long)n, (long long)n,
           (long long)entries);
}

/* Entries at most `half` away from the diagonal. */
static int64_t in_band(int64_t n, int64_t half)
{
    return n * n - (n - half) * (n - half - 1);
}

static void make_general(int64_t n, int64_t nnz, int64_t half, uint64_t seed)
{
    sampler s = {.state = seed, .draw = nnz, .of = in_band(n, half)};
    head("general", n, nnz);
    for (int64_t i = 0; i < n; i++) {
        int64_t last = i + half < n - 1 ? i + half : n - 1;
        for (int64_t j = i > half ? i - half : 0; j <= last; j++)
            visit(&s, i, j);
    }
}

/* About every second entry of the band is used. */
static void make_banded(int64_t n, int64_t nnz, uint64_t seed)
{
    int64_t half = 0;
    while (half < n - 1 && in_band(n, half) < 2 * nnz)
        half++;
    make_general(n, nnz, half, seed);
}

static void make_random(int64_t n, int64_t nnz, uint64_t seed)
{
    make_general(n, nnz, n - 1, seed);
}

/* Fills the diagonal as far as the nonzeros suffice (one less where the rest would be odd), and below
 * it half of the rest. The other half is its mirror image. */
static void make_symmetric(int64_t n, int64_t nnz, uint64_t seed)
{
    int64_t diagonal = nnz < n ? nnz : n;
    diagonal -= (nnz - diagonal) % 2;
    int64_t below = (nnz - diagonal) / 2;
    sampler s = {.state = seed, .draw = below, .of = n * (n - 1) / 2};
    head("symmetric", n, diagonal + below);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++)
            visit(&s, i, j);
        if (i < diagonal)
            put(&s, i, i);
    }
}

static const struct {
    const char *name;
    void (*make)(int64_t n, int64_t nnz, uint64_t seed);
} kinds[] = {{"banded", make_banded}, {"random", make_random}, {"symmetric", make_symmetric}};

static int read_number(const char *text, long long least, long long most, long long *value)
{
    char *end;
    *value = strtoll(text, &end, 10);
    return end != text && !*end && *value >= least && *value <= most;
}

int main(int argc, char **argv)
{
    long long n, nnz, seed = 1;
    if ((argc == 4 || argc == 5) && read_number(argv[1], 1, MAX_ROWS, &n) &&
        read_number(argv[2], 0, n * n, &nnz) &&
        (argc == 4 || read_number(argv[4], 0, INT64_MAX, &seed)))
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (strcmp(argv[3], kinds[i].name) == 0) {
                kinds[i].make(n, nnz, (uint64_t)seed);
                return fflush(stdout) || ferror(stdout);
            }
    fprintf(stderr,
            "usage: mtxgen ROWS NNZ KIND [SEED]\n"
            "ROWS  rows and columns, 1 to %d\n"
            "NNZ   nonzeros, 0 to ROWS x ROWS\n"
            "KIND  banded: near the diagonal; random: anywhere; symmetric: anywhere, mirrored\n"
            "SEED  of the random numbers (1)\n",
            MAX_ROWS);
    return 2;
}
