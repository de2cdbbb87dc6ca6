/* launcher.h: the command lines of mpirun, mpiexec, srun and others: which MPI a launcher belongs to, and
 * where its options end and the programs begin. */
#ifndef SK_LAUNCHER_H
#define SK_LAUNCHER_H

#include "run/elf.h"

typedef enum sk_launcher_kind {
    SK_LAUNCHER_OPENMPI, /* mpirun of Open MPI: orterun, prterun */
    SK_LAUNCHER_HYDRA,   /* mpiexec of MPICH and its family */
    /* These start programs of any MPI; variables are set by `env` in front of the program. */
    SK_LAUNCHER_SRUN,  /* Slurm */
    SK_LAUNCHER_JSRUN, /* IBM JSM */
    SK_LAUNCHER_APRUN, /* Cray ALPS */
    SK_LAUNCHER_FLUX,  /* flux run */
    SK_LAUNCHER_PRUN,  /* PRRTE's prun, or a site's wrapper: options of Open MPI's mpirun */
    SK_NLAUNCHERS,
} sk_launcher_kind;

/* Whether a word's file name is a launcher's: mpirun, mpiexec.hydra, srun ... */
bool sk_launcher_named(const char *word);

/* Which launcher the file is; false when nothing in it tells. */
bool sk_launcher_kind_of(sk_arena *a, const char *path, sk_launcher_kind *kind);

/* For launchers that are not supported: what to do instead. NULL for any other word. */
const char *sk_launcher_unsupported(const char *word);

/* How many words the option at v[0] takes, itself included; 0 when v[0] is not an option. n >= 1
 * words are left. *known (may be NULL) tells whether the launcher's table has the option. */
int sk_launcher_option(sk_launcher_kind kind, char *const *v, int n, bool *known);

/* The name of an option without its dashes and value, "" for a word that is none. */
const char *sk_launcher_option_name(sk_arena *a, const char *word);

/* One program of the command line: words[first..program) are its options, words[program..end) the
 * program and its arguments. A ":" separates sections. */
typedef struct sk_section {
    int first, program, end;
    const char *dir; /* its working directory, NULL when not set */
} sk_section;

/* How many words name the launcher: `flux run` has two. 0: it is `flux` with a command that starts no
 * program. */
int sk_launcher_words(sk_launcher_kind kind, char *const *words, int n);

/* Splits the words behind the launcher into sections and returns how many. `program` equals `end` in a section that
 * has none. *sections lives in the arena. */
int sk_launcher_sections(sk_arena *a, sk_launcher_kind kind, char *const *words, int n,
                         sk_section **sections);

#endif
