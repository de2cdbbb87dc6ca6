/* model.c: the price of a pattern in seconds.
 *
 * The distance-halving paper (equations 4 to 8) takes messages per rank, times alpha and beta,
 * times the SL ranks of a node, since these share one port; and all that twice, for sends and
 * receives. A load counts both, so the 2 is inside, and it says how near the peers are, so each
 * level has an alpha and beta of its own. What shares what:
 *
 * - Off node, the R ranks of the fullest node take epochs at its port: R times, as in the paper.
 * - In a node, messages are copies that cores make: R ranks on R cores copy at the same time; on
 *   fewer cores they take epochs: R / cores times. With cores not known, each rank is taken to have
 *   one, which is how MPI programs are run.
 * - Blocks that are combined are copied into a message and out of it again, by the rank's core.
 * - A stage ends when its messages are there, and that time is in their alphas. But when ranks
 *   share cores, each has to run in each stage: epoch * R / cores. A switch of ranks takes a few us;
 *   but a rank is woken several times before all that it waits for is there: measured are 16 to
 *   41 us for the second stage of patterns with 8 to 22 messages.
 *
 * Only + * / in one order, so that all ranks come to the same price. */
#include "neighbor/cost/model.h"

/* Ranks that take epochs on one core; 1 when each has a core. */
static double crowd(const sk_machine *on)
{
    bool shared = on->cores > 0 && on->most_on_node > on->cores;
    return shared ? (double)on->most_on_node / on->cores : 1;
}

double sk_price(const sk_model *m, const sk_machine *on, const sk_load *load, bool distinct,
                int64_t bytes)
{
    double seconds = 0, crowded = crowd(on), moved = 0;
    for (int l = 0; l < SK_NLEVELS; l++) {
        int64_t blocks = distinct ? load->alltoall_blocks[l] : load->allgather_blocks[l];
        double all = (double)blocks * (double)bytes;
        double one = m->alpha[l] * (double)load->messages[l] + m->beta[l] * all;
        moved += all;
        seconds += one * (l == SK_NET ? on->most_on_node : crowded);
    }
    if (load->stages > 1)
        seconds += m->beta[SK_SOCKET] * moved * crowded;
    return crowded > 1 ? seconds + (double)load->stages * (m->epoch * crowded) : seconds;
}
