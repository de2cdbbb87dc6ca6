/* options.h: what `skein bench` was asked to do. */
#ifndef SK_BENCH_OPTIONS_H
#define SK_BENCH_OPTIONS_H

#include "bench/conditions.h"
#include "cli.h"
#include "coll/call.h"
#include "run/elf.h"

typedef struct sk_bench_options {
    sk_arena *arena;
    bool neighbor;     /* neighbourhood collectives on `graphs`, else global ones */
    sk_strlist graphs; /* as sk_spec_new takes them */
    sk_coll colls[SK_NCOLLS];
    int ncolls;
    sk_numbers bytes, ranks;
    bool ranks_given;
    bool mpi[SK_MPI_OTHER]; /* by flavour */
    bool forms[SK_NFORMS];
    sk_conditions conditions; /* of all forms */
    int64_t busy;             /* busy loops beside */
    int64_t rounds;
    int64_t again;         /* how often points that look slow are measured once more */
    int64_t seconds;       /* for all points together; 0: a default for each */
    const char *algorithm; /* of Skein, forced; NULL: as it chooses */
    bool all_algorithms;
    sk_strlist against;     /* items of --against */
    const char *csv, *from; /* to write, to read instead of measuring */
    bool plot;
    const char *plot_file; /* NULL: in the terminal */
    bool plain;
} sk_bench_options;

/* SK_CLI_OK, or the exit status: after --help, or after a message. */
int sk_bench_options_parse(sk_arena *a, int argc, char **argv, sk_bench_options *out);

/* The value of --form. False after a message. */
bool sk_forms_choose(const sk_cli *command, sk_arena *a, const char *text, bool forms[SK_NFORMS]);

#endif
