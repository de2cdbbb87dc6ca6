/* run.h: `skein run` and what `skein trace` shares with it: from the command that the user typed to
 * the command that is run. */
#ifndef SK_RUN_H
#define SK_RUN_H

#include "cli.h"
#include "run/elf.h"
#include "run/job.h"

enum { SK_RUN_OK = 0, SK_RUN_REFUSED = 2 };

typedef struct sk_run_options {
    sk_arena *arena;
    const char *report; /* value of SKEIN_REPORT, NULL when not asked for */
    const char *page;   /* to be made from it, NULL when not asked for */
    const char *lib;    /* directory of the libraries, NULL when not given */
    sk_flavour mpi;     /* by --mpi, SK_MPI_NONE when not given */
    const char *match;  /* matching engine, "" for the default; NULL when not asked for */
    const char *trace;  /* how the names of trace files begin; NULL: nothing is recorded */
    bool dry_run;
    bool or_plain; /* a command that would be refused runs without Skein */
} sk_run_options;

/* How launchers of a script are run: the start of a command line for a shell. */
#define SK_RUN_AGAIN_VAR "_SKEIN_RUN_AGAIN"

/* The options of both commands, for an sk_cli whose context is an sk_run_options. The first row is
 * -o of `skein trace`; `skein run` starts at the second. */
extern const struct argp_option sk_run_option_table[];
bool sk_run_take(void *ctx, int key, const char *value);

/* Prints a message after the name of the command (program_invocation_name, as error(3) does) and
 * returns SK_RUN_REFUSED. */
int sk_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a message that stops nothing. */
void sk_run_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The absolute name of a file that is to be written. Refuses one that cannot be: `what` it is. */
int sk_run_file(sk_arena *a, const char *what, const char *file, const char **out);

/* Runs the command `words` under Skein. True: it ran, and `end` says how it ended. False: *status is the
 * exit status after a refusal, a failed start or a dry run. */
bool sk_run_job(const sk_run_options *o, char **words, int n, sk_job_end *end, int *status);

/* The part of it that finds the launcher and the programs. Without a launcher the preload goes into
 * the environment, or for a dry run into the command. */
int sk_run_plan(sk_strlist *command, const sk_run_options *o, char **words, int n);

#endif
