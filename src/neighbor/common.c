/* common.c: common neighbours: two friends, that is ranks with at least theta targets in common,
 * exchange their blocks and share those targets out: each sends both blocks to one half of them.
 *
 * Mirsadeghi, Traff, Balaji, Afsahi: Exploiting Common Neighborhoods to Optimize MPI Neighborhood
 * Collectives, HiPC 2017: Algorithm 1 (common_plan.c, common_negotiator.c) and 2 (common_mate.c).
 *
 * Algorithm 3 waits for an iteration before it begins the next. No data asks for that: what friends
 * exchange is their own, in whatever iteration they became friends. So here stages follow from what
 * depends on what: all exchanges and all direct messages are stage 0, all combined messages
 * stage 1. A block for the friend itself rides in the exchange.
 *
 * Two extensions. Groups of K friends (common_circle.c): each member delivers a K-th of the common
 * targets for all. Cumulative combining: what was combined once is combined again, with bundles in
 * the place of blocks: a level later, and a stage later.
 *
 * cost   per pair of friends with c common targets: c + 2 messages instead of 2c; a block travels
 *        1.5 times on average    good for  small blocks, many neighbours, any graph
 * setup  O(t (r F + D^2)) per rank for t iterations of r tries, F friends, D neighbours */
#include "neighbor/common_party.h"
#include "neighbor/common_plan.h"

const sk_method sk_by_common = {
    .name = "common",
    .about = "friends with common neighbours combine their blocks and share the neighbours out",
    .plan = sk_common_plan_make,
    .negotiator = sk_common_negotiator_new,
};
