/* machines.h: machines on which algorithms are tried that know where ranks sit.
 *
 * A scene with a machine is drawn by lot, the same in every run of the verifier. The lot decides
 *   the machine   one node, in a third of all scenes; or 2 to 8 nodes (never more than ranks), the
 *                 ranks on them in sequence, round-robin, shuffled, or unevenly: node i has i + 1
 *                 shares. Nodes have as many cores as ranks, spare ones, or a single core, so that
 *                 ranks share it (sk_machine_oversubscribed)
 *   slot_bytes    192 bytes, 1 KB or 64 KB of a slot: long data must be cut for the first two
 *   direct        on or off
 *   prices        of copies, known or not
 * and on several nodes
 *   leaders       0 to 3 of each node
 *   slot_bytes    none in a quarter of these scenes: local ranks send messages
 * beside the kind of call: layout, size, root, MPI_IN_PLACE, order, spread of sizes. `builtin` is
 * set for operations that commute, except on types that run backwards.
 * Algorithms declare nothing: where `fits` says no, the next lot is drawn. One that also fits
 * without a machine is taken to ignore it, and gets fewer scenes. */
#ifndef VERIFY_MACHINES_H
#define VERIFY_MACHINES_H

#include "scene.h"

/* What copies cost there: blocks of more than 5000 bytes are better read in place, on shared cores of 15000. */
void machines_price(sk_machine *m);

/* Sets machine, slot_bytes, direct and leaders of the case; the caller frees the machine. */
void machines_draw(kase *k, uint64_t lot);

#endif
