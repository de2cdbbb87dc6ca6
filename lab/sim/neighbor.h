/* neighbor.h: neighbourhood collectives on simulated clusters: every rank's schedule is the one that it would run,
 * and the walker (price/walk.h) brings all of them together in time. */
#ifndef SK_LAB_SIM_NEIGHBOR_H
#define SK_LAB_SIM_NEIGHBOR_H

#include "neighbor/cost/predict.h"
#include "neighbor/neighborhood.h"
#include "price/walk.h"

typedef struct sk_sim {
    const sk_machine *machine;
    const sk_prices *prices;
    sk_global_graph *graph;
    sk_graph **graphs; /* by rank */
    bool *idle;
    int most; /* neighbours of the busiest rank, one way */
    sk_graph_size size;
    sk_coll coll;
    int64_t slot_bytes;
} sk_sim;

/* `graph`: a word of sk_spec_new. On failure `err` says what is wrong. */
sk_status sk_sim_new(const char *graph, const sk_machine *m, const sk_prices *p, sk_sim *out,
                     char *err, size_t size);
void sk_sim_free(sk_sim *s);

/* The patterns of all ranks by one method, and what the busiest rank has to do. */
typedef struct sk_sim_method {
    sk_method_id id;
    sk_pattern **patterns; /* by rank */
    sk_load load;
    int64_t off_node; /* messages between nodes, of all ranks */
} sk_sim_method;

sk_status sk_sim_method_new(const sk_sim *s, sk_method_id id, const sk_pattern_opts *o,
                            sk_sim_method *out);
void sk_sim_method_free(const sk_sim *s, sk_sim_method *m);

/* Measured: CPU time in ns that a rank needs from its pattern to its schedule, on average, with blocks of `bytes`. */
sk_status sk_sim_schedule(const sk_sim *s, const sk_sim_method *m, int64_t bytes, double *ns);

/* The time of a call with blocks of `bytes`. */
sk_status sk_sim_call(const sk_sim *s, const sk_sim_method *m, int64_t bytes, sk_priced *out);

#endif
