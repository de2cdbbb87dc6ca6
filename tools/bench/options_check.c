/* options_check.c: what cannot be seen option by option, and how a mistake is told. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/settings.h"
#include "bench/hosts.h"
#include "bench/options.h"
#include "coll/algo.h"
#include "lab/graph/spec.h"

bool sk_bench_bad(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("skein bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

bool sk_bench_unknown(const char *what, const char *word, const sk_strlist *valid)
{
    return sk_bench_bad("no %s %s; did you mean %s?", what, word,
                        sk_nearest(word, (const char *const *)valid->v));
}

/* An item COLLECTIVE=... whose collective is not measured. */
static bool names_absentee(sk_arena *a, const sk_bench_options *o, const char *item)
{
    const char *equals = strchr(item, '=');
    sk_coll coll =
        equals ? sk_coll_find(sk_format(a, "%.*s", (int)(equals - item), item)) : SK_NCOLLS;
    bool measured = coll == SK_NCOLLS;
    for (int k = 0; k < o->ncolls; k++)
        measured = measured || o->colls[k] == coll;
    return !measured;
}

/* Every item of --against must mean something for a collective and an MPI asked for. */
static bool check_against(sk_arena *a, const sk_bench_options *o)
{
    sk_strlist valid = sk_strlist_new(a);
    sk_strlist_add(&valid, "best");
    for (int i = 0; i < o->against.n; i++) {
        int n = 0;
        if (names_absentee(a, o, o->against.v[i]))
            return sk_bench_bad("--against %s: --collective leaves that collective out",
                                o->against.v[i]);
        for (int f = SK_MPI_OPENMPI; f <= SK_MPI_MPICH; f++)
            for (int k = 0; o->mpi[f] && k < o->ncolls; k++) {
                sk_strlist names = sk_host_algos(a, (sk_flavour)f, o->colls[k]);
                bool *want = sk_arena_need(a, (size_t)names.n + 1);
                n += sk_host_wanted(a, (sk_flavour)f, o->colls[k], o->against.v[i], want);
                for (int j = 0; j < names.n; j++)
                    sk_strlist_add(
                        &valid, strchr(o->against.v[i], '=')
                                    ? sk_format(a, "%s=%s", sk_coll_name(o->colls[k]), names.v[j])
                                    : names.v[j]);
            }
        if (n == 0)
            return sk_bench_unknown("host algorithm", o->against.v[i], &valid);
    }
    return true;
}

static bool check_algorithm(sk_arena *a, const sk_bench_options *o)
{
    sk_strlist valid = sk_strlist_new(a);
    for (const sk_algo *const *x = sk_algos(); *x; x++)
        for (int k = 0; k < o->ncolls; k++)
            if ((*x)->coll == o->colls[k])
                sk_strlist_add(&valid, (*x)->name);
    if (!o->algorithm || sk_strlist_has(&valid, o->algorithm))
        return true;
    if (valid.n == 0)
        return sk_bench_bad("these collectives have no algorithms");
    return sk_bench_unknown("algorithm", o->algorithm, &valid);
}

/* Graphs must exist for all numbers of ranks: before the first run, not in the middle. */
static bool check_graphs(const sk_bench_options *o)
{
    char err[512];
    if (o->graphs.n == 0)
        return sk_bench_bad("neighbor needs --graph: random:DELTA[,SEED], moore:D,R or "
                            "matrix:FILE");
    for (int i = 0; i < o->graphs.n; i++)
        for (int k = 0; k < o->nranks; k++) {
            sk_spec *spec = NULL;
            if (sk_spec_new(o->graphs.v[i], o->ranks[k], &spec, err, sizeof err) != SK_OK)
                return sk_bench_bad("%s", err);
            sk_spec_free(spec);
        }
    return true;
}

bool sk_bench_options_check(sk_arena *a, const sk_bench_options *o)
{
    if (o->all_algorithms && o->algorithm)
        return sk_bench_bad("--algorithm and --all-algorithms exclude each other");
    if (o->all_algorithms && o->against.n)
        return sk_bench_bad(
            "--against goes with Skein's own choice or --algorithm, not --all-algorithms");
    if (o->plain && (o->all_algorithms || o->algorithm))
        return sk_bench_bad("--plain runs without Skein: it has no algorithm to force");
    if (!o->neighbor && o->graphs.n)
        return sk_bench_bad("--graph goes with `skein bench neighbor`");
    if (o->neighbor && o->against.n)
        return sk_bench_bad("--against: hosts have one way only to serve neighbours");
    return check_against(a, o) && check_algorithm(a, o) && (!o->neighbor || check_graphs(o));
}
