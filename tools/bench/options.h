/* options.h: what `skein bench` was asked to do. */
#ifndef SK_OPTIONS_H
#define SK_OPTIONS_H

#include "coll/call.h"
#include "run/elf.h"
#include "strlist.h"

enum { SK_BENCH_LIST = 32 };

typedef struct sk_bench_options {
    bool neighbor;     /* neighbourhood collectives on `graphs`, else global ones */
    sk_strlist graphs; /* as sk_spec_new takes them */
    sk_coll colls[SK_NCOLLS];
    int ncolls;
    int64_t bytes[SK_BENCH_LIST];
    int nbytes;
    int ranks[SK_BENCH_LIST];
    int nranks;
    bool ranks_given;
    bool mpi[SK_MPI_OTHER]; /* by flavour */
    int rounds;
    double seconds;        /* for everything; 0: as many as it takes */
    const char *algorithm; /* of Skein, forced; NULL: as it chooses */
    bool all_algorithms;
    sk_strlist against; /* items of --against */
    const char *csv;
    bool plain, help;
} sk_bench_options;

/* False: not understood; a message was written to standard error. */
bool sk_bench_options_parse(sk_arena *a, int argc, char **argv, sk_bench_options *out);

void sk_bench_help(const sk_bench_options *o);

/* Its parts. Whether the options go together and name things that exist. */
bool sk_bench_options_check(sk_arena *a, const sk_bench_options *o);

/* Messages; both return false. */
bool sk_bench_bad(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool sk_bench_unknown(const char *what, const char *word, const sk_strlist *valid);

#endif
