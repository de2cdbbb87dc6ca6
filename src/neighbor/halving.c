/* halving.c: distance halving. Ranks, in the order of their places, are cut into halves again and
 * again until a group is one socket. In each step a rank picks one agent in the opposite half,
 * which takes over all that the rank holds for that half; at the end everything lies in the socket
 * where it belongs and is handed out there. So a rank sends one message per step, however many
 * targets it has, and distant links are crossed in the first step only.
 *
 * cost   at most ceil(log2(sockets)) messages out of the socket, and one to each rank of it;
 *        blocks: up to 2^t sources per message in step t
 * good   many targets spread over the machine, small blocks
 * paper  "A Topology- and Load-Aware Design for Neighborhood Allgather" (Distance Halving),
 *        Algorithms 1 to 4. Beyond it: only blocks with targets in the other half travel, not the
 *        whole buffer; halves are cut by places, not ranks; blocks, so alltoall combines too; and
 *        a rank that finds no agent in two passes hands over to its mirror image rather than
 *        sending itself, which makes the bound hold on every graph.
 *
 * The files: _split the rules, _near and _match agents from the whole graph, _plan the patterns
 * from it; _weigh and _deal the same by messages, _party and _hand the patterns.
 *
 * On random graphs the messages within the socket agree with the paper's equation 2 from a density
 * of 0.3 on. Below, there are more: the equation lets a rank hold blocks of one source per step,
 * while it gets those of up to 2^steps - 1, because origins bring those of their own origins. */
#include "neighbor/halving_form.h"

const sk_method sk_by_halving = {
    .name = "halving",
    .about = "one agent in the other half of the machine per step, down to the socket",
    .plan = sk_halving_plan,
    .negotiator = sk_halving_negotiator,
};
