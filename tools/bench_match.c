/* bench_match.c: `skein bench match`: the matching engines. */
#include <stdio.h>

#include "bench/match/modes.h"
#include "commands.h"

static int run(sk_arena *a, const sk_match_options *o, FILE *csv)
{
    switch (o->mode) {
    case SK_MATCH_TRACES:
        return sk_mode_traces(o, csv);
    case SK_MATCH_STREAMS:
        return sk_mode_streams(o, csv);
    case SK_MATCH_THREADS:
        return sk_mode_threads(o, csv);
    case SK_MATCH_MPI:
        return sk_mode_mpi(a, o, csv);
    default:
        return sk_mode_synthetic(o, csv);
    }
}

int sk_cmd_bench_match(int argc, char **argv)
{
    sk_arena *a = sk_arena_new();
    sk_match_options o;
    FILE *csv = NULL;
    int status = 2;
    if (!a) {
        fputs("skein: out of memory\n", stderr);
        return 1;
    }
    if (!sk_match_options_parse(a, argc, argv, &o))
        goto out;
    if (o.help) {
        sk_match_help();
        status = 0;
        goto out;
    }
    if (o.csv && !(csv = fopen(o.csv, "w"))) {
        perror(o.csv);
        status = 1;
        goto out;
    }
    status = run(a, &o, csv);
out:
    if (csv && fclose(csv) != 0) {
        perror(o.csv);
        status = 1;
    }
    sk_arena_free(a);
    return status;
}
