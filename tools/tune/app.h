/* app.h: `skein tune --app`: the calls that a program really makes, from its report. */
#ifndef SK_TUNE_APP_H
#define SK_TUNE_APP_H

#include "tune/cells.h"

typedef struct sk_tune_app {
    sk_tune_cell
        *cells; /* global collectives, on up to all ranks; then neighbourhoods, on all of them */
    int *neighbours; /* of each cell; 0: a global collective */
    int n;
} sk_tune_app;

/* Reads a report (JSON). False: it cannot be read. */
bool sk_tune_app_read(sk_arena *a, const char *file, sk_tune_app *out);

#endif
