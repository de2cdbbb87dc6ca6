/* model.h: what messages cost on a machine, and the price of a pattern: the distance-halving
 * paper's equations 4 to 8 with alpha and beta per level. */
#ifndef SK_MODEL_H
#define SK_MODEL_H

#include "neighbor/load.h"
#include "topo/machine.h"

typedef struct sk_model {
    double alpha[SK_NLEVELS]; /* seconds per message */
    double beta[SK_NLEVELS];  /* seconds per byte */
    double epoch;             /* seconds that one more stage costs each rank on a shared core */
} sk_model;

/* The default, or a text "socket:0.3us,10GB node:0.5us,8GB net:1.5us,12GB epoch:40us" in which any
 * part may be missing. On failure `err` says what is wrong and shows a right one. */
sk_status sk_model_parse(const char *text, sk_model *out, char *err, size_t size);

/* Seconds of one call with blocks of `bytes`: 2 SL (t_off + t_in) with what the pattern really
 * sends, plus an epoch per stage. `distinct`: alltoall, each block its own block. */
double sk_price(const sk_model *m, const sk_machine *on, const sk_load *load, bool distinct,
                int64_t bytes);

#endif
