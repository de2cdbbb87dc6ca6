#include "bench/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = 4096, MAX_ROUNDS = 1000 };

static const struct option {
    const char *name;
    char key;
    bool value;
} table[] = {{"--collective", 'c', true},
             {"--bytes", 'b', true},
             {"--ranks", 'r', true},
             {"--rounds", 'n', true},
             {"--mpi", 'm', true},
             {"--algorithm", 'a', true},
             {"--all-algorithms", 'A', false},
             {"--against", 'g', true},
             {"--seconds", 's', true},
             {"--csv", 'o', true},
             {"--plain", 'p', false},
             {"--help", 'h', false}};
enum { NOPTIONS = sizeof table / sizeof *table };

/* A whole number, also with K, M or G (of 1024), between lo and hi. */
static bool number(const char *option, const char *text, int64_t lo, int64_t hi, int64_t *out)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (end == text || end[shift > 0] || errno || n < lo || n > hi >> shift)
        return sk_bench_bad("%s takes numbers from %lld to %lld, not %s", option, (long long)lo,
                            (long long)hi, text);
    *out = (int64_t)n << shift;
    return true;
}

static bool numbers(sk_arena *a, const char *option, const char *text, int64_t lo, int64_t hi,
                    int64_t *list, int *n)
{
    sk_words w = sk_words_new(a);
    sk_words_split(&w, text, ",");
    if (w.n == 0 || w.n > SK_BENCH_LIST)
        return sk_bench_bad("%s takes 1 to %d numbers, separated by commas", option, SK_BENCH_LIST);
    *n = w.n;
    for (int i = 0; i < w.n; i++)
        if (!number(option, w.v[i], lo, hi, &list[i]))
            return false;
    return true;
}

static bool collectives(sk_arena *a, const char *text, sk_bench_options *o)
{
    bool chosen[SK_NCOLLS] = {false};
    sk_words w = sk_words_new(a), valid = sk_words_new(a);
    sk_words_split(&w, text, ",");
    sk_words_add(&valid, "all");
    for (int i = 0; i < SK_NCOLLS; i++)
        sk_words_add(&valid, sk_coll_name((sk_coll)i));
    for (int i = 0; i < w.n; i++) {
        sk_coll coll = sk_coll_find(w.v[i]);
        bool all = strcmp(w.v[i], "all") == 0;
        if (coll == SK_NCOLLS && !all)
            return sk_bench_unknown("collective", w.v[i], &valid);
        for (int k = 0; k < SK_NCOLLS; k++)
            if (all || (sk_coll)k == coll)
                chosen[k] = true;
    }
    o->ncolls = 0;
    for (int k = 0; k < SK_NCOLLS; k++)
        if (chosen[k])
            o->colls[o->ncolls++] = (sk_coll)k;
    return o->ncolls > 0 || sk_bench_bad("--collective takes names, separated by commas");
}

static bool mpis(sk_arena *a, const char *text, sk_bench_options *o)
{
    sk_words valid = sk_words_new(a);
    sk_words_split(&valid, "openmpi mpich both", " ");
    if (!sk_words_has(&valid, text))
        return sk_bench_unknown("MPI", text, &valid);
    for (int f = SK_MPI_OPENMPI; f <= SK_MPI_MPICH; f++)
        o->mpi[f] = strcmp(text, "both") == 0 || sk_flavour_of_name(text) == (sk_flavour)f;
    return true;
}

static bool take(sk_arena *a, const struct option *opt, const char *value, sk_bench_options *o)
{
    int64_t n = 0, list[SK_BENCH_LIST] = {0};
    switch (opt->key) {
    case 'c':
        return collectives(a, value, o);
    case 'b':
        return numbers(a, opt->name, value, 1, (int64_t)1 << 30, o->bytes, &o->nbytes);
    case 'r':
        if (!numbers(a, opt->name, value, 1, MAX_RANKS, list, &o->nranks))
            return false;
        for (int i = 0; i < o->nranks; i++)
            o->ranks[i] = (int)list[i];
        o->ranks_given = true;
        return true;
    case 'n':
        if (!number(opt->name, value, 1, MAX_ROUNDS, &n))
            return false;
        o->rounds = (int)n;
        return true;
    case 's':
        if (!number(opt->name, value, 1, 1000000, &n))
            return false;
        o->seconds = (double)n;
        return true;
    case 'm':
        return mpis(a, value, o);
    case 'a':
        o->algorithm = value;
        return true;
    case 'g':
        sk_words_split(&o->against, value, ",");
        return true;
    case 'o':
        o->csv = value;
        return true;
    case 'A':
        o->all_algorithms = true;
        return true;
    case 'p':
        o->plain = true;
        return true;
    default:
        o->help = true;
        return true;
    }
}

static const struct option *find(const char *word, size_t n)
{
    for (int i = 0; i < NOPTIONS; i++)
        if (strlen(table[i].name) == n && strncmp(table[i].name, word, n) == 0)
            return &table[i];
    return NULL;
}

bool sk_bench_options_parse(sk_arena *a, int argc, char **argv, sk_bench_options *out)
{
    sk_bench_options o = {.nbytes = 5, .bytes = {8, 1024, 16384, 131072, 1048576}, .rounds = 21};
    o.nranks = 4;
    memcpy(o.ranks, (int[]){2, 4, 8, 16}, 4 * sizeof(int));
    o.against = sk_words_new(a);
    collectives(a, "all", &o);
    mpis(a, "both", &o);

    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *equals = strchr(word, '=');
        const struct option *opt = find(word, equals ? (size_t)(equals - word) : strlen(word));
        if (!opt) {
            sk_words valid = sk_words_new(a);
            for (int k = 0; k < NOPTIONS; k++)
                sk_words_add(&valid, table[k].name);
            return sk_bench_unknown("option", word, &valid);
        }
        if (!opt->value && equals)
            return sk_bench_bad("%s takes no value", opt->name);
        const char *value = equals ? equals + 1 : "";
        if (opt->value && !equals) {
            if (i + 1 == argc)
                return sk_bench_bad("%s needs a value", opt->name);
            value = argv[++i];
        }
        if (!take(a, opt, value, &o))
            return false;
    }
    if (!sk_bench_options_check(a, &o))
        return false;
    *out = o;
    return true;
}
