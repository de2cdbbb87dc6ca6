/* session.h: runs the measuring program under a launcher and keeps what it finds in the tuning file, from time to
 * time, so that little is lost when it is ended early. */
#ifndef SK_TUNE_SESSION_H
#define SK_TUNE_SESSION_H

#include "run/elf.h"
#include "select/tuning_file.h"
#include "tune/cells.h"

typedef struct sk_tune_session {
    sk_arena *arena;
    const char *path; /* of the tuning file */
    sk_tuning *tuning;
    double seconds, since; /* for all, and when it began */
    /* what the program last said */
    char machine[SK_TUNING_NAME];
    int ranks, nodes, neighbours;
    sk_tune_model model;
    int cell, ntimes; /* the present one of `cells`; times so far */
    const sk_tune_cell *cells;
    double saved; /* when */
    bool interrupted, failed;
} sk_tune_session;

/* Ctrl-C and SIGTERM end the program from now on, and what was found is kept. */
void sk_tune_session_start(sk_tune_session *s);

/* A launcher with its words, and the MPI of it. */
typedef struct sk_tune_launch {
    const sk_strlist *words;
    sk_flavour mpi;
    const char *graph; /* of neighbourhood collectives, or NULL */
} sk_tune_launch;

/* Asks for the machine, and measures prices. False after a message. */
bool sk_tune_describe(sk_tune_session *s, const sk_tune_launch *l);

/* Measures for so many seconds. False after a message, or if it was interrupted. */
bool sk_tune_measure(sk_tune_session *s, const sk_tune_launch *l, const sk_tune_cell *cells, int n,
                     double seconds);

/* Writes the file. False after a message. */
bool sk_tune_save(sk_tune_session *s);

#endif
