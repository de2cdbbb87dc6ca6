/* halving_split.h: the rules of distance halving that every rank works out alike: how the places of
 * a machine are cut into halves, which pair of ranks goes first, and who stands in when no agent is
 * found. Only for the files halving*.c. */
#ifndef SK_HALVING_SPLIT_H
#define SK_HALVING_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "neighbor/method.h"
#include "topo/machine.h"

typedef struct sk_halving {
    const sk_machine *machine;
    int steps;   /* after so many every group is one socket */
    int *busy;   /* places of the ranks that are not idle, ascending */
    int *before; /* nranks + 1: how many of them stand before a place */
} sk_halving;

sk_status sk_halving_init(sk_halving *h, const sk_machine *m, const bool *idle);
void sk_halving_free(sk_halving *h);

typedef struct sk_group { /* sockets first to last - 1 */
    int first, last;
} sk_group;

typedef struct sk_half { /* places lo to hi - 1 */
    int lo, hi;
} sk_half;

/* The first socket of the upper half; of a group of at least two. */
int sk_group_cut(const sk_machine *m, sk_group g);

static inline sk_half sk_group_places(const sk_machine *m, sk_group g)
{
    return (sk_half){m->socket_first[g.first], m->socket_first[g.last]};
}

static inline bool sk_half_has(sk_half h, int place)
{
    return h.lo <= place && place < h.hi;
}

static inline bool sk_halving_busy(const sk_halving *h, int place)
{
    return h->before[place] < h->before[place + 1];
}

/* The place in `to` that stands in for an agent of a busy place in `from`: its mirror image among
 * the busy ones; -1 when there are none. */
int sk_halving_mirror(const sk_halving *h, sk_half from, sk_half to, int place);
/* And the other way round: busy[lo] to busy[hi - 1] have this busy place as their mirror. */
sk_half sk_halving_mirrored(const sk_halving *h, sk_half from, sk_half to, int place);

/* A rank as the other end of a pair. Pairs with more in common go first; ties go by chance, but
 * both ends see the same chance. */
typedef struct sk_choice {
    uint64_t key;
    int who;
} sk_choice;

static inline sk_choice sk_choice_of(int common, int me, int who)
{
    return (sk_choice){(uint64_t)(UINT32_MAX - (uint32_t)common) << 32 | sk_pair_mix(me, who), who};
}

static inline bool sk_choice_before(sk_choice a, sk_choice b)
{
    return a.key != b.key ? a.key < b.key : a.who < b.who;
}

#endif
