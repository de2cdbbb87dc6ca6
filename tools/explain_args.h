/* explain_args.h: the command line of `skein explain`. */
#ifndef SK_EXPLAIN_ARGS_H
#define SK_EXPLAIN_ARGS_H

#include "coll/algo.h"
#include "shape.h"

typedef struct sk_explain_args {
    sk_shape shape;
    int rank;            /* whose numbers and schedule are shown */
    bool print;          /* the schedule too */
    const sk_algo *algo; /* asked for by name, or NULL */
    const char *bytes_mean;
    const char *machine; /* its description, or NULL */
} sk_explain_args;

/* -1: go on; else the command ends with this exit status, its message printed. */
int sk_explain_args_read(int argc, char **argv, sk_explain_args *out);

#endif
