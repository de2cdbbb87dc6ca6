#include "mpi/state/kept.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/state/world.h"

/* A program that makes communicators again and again has few sets of ranks at a time. */
enum { KEPT = 8 };

void sk_kept_free(sk_kept *k)
{
    if (!k)
        return;
    sk_machine_free(k->machine);
    sk_plans_free(k->plans);
    free(k->peers);
    free(k);
}

/* The last one first; what follows the first KEPT is returned. */
static sk_kept *push(struct sk_world *w, sk_kept *k)
{
    pthread_mutex_lock(&w->kept_lock);
    k->next = w->kept;
    w->kept = k;
    sk_kept *last = k, *surplus;
    for (int i = 1; i < KEPT && last->next; i++)
        last = last->next;
    surplus = last->next;
    last->next = NULL;
    pthread_mutex_unlock(&w->kept_lock);
    return surplus;
}

void sk_kept_put(sk_comm *c)
{
    sk_kept *k = malloc(sizeof *k);
    if (!k)
        return;
    *k = (sk_kept){.machine = c->machine,
                   .plans = c->plans,
                   .slot_capacity = c->slot_capacity,
                   .direct = c->direct,
                   .nranks = c->nranks,
                   .peers = c->peers};
    c->machine = NULL;
    c->plans = NULL;
    c->peers = NULL;
    sk_kept_free(push(sk_proc.world, k));
}

static bool same_ranks(const sk_kept *k, const sk_comm *c)
{
    return k->nranks == c->nranks && !k->peers == !c->peers &&
           (!k->peers || memcmp(k->peers, c->peers, (size_t)c->nranks * sizeof *c->peers) == 0);
}

sk_kept *sk_kept_take(const sk_comm *c)
{
    struct sk_world *w = sk_proc.world;
    sk_kept *found = NULL;
    pthread_mutex_lock(&w->kept_lock);
    sk_kept **at = &w->kept;
    while (*at && !same_ranks(*at, c))
        at = &(*at)->next;
    if (*at) {
        found = *at;
        *at = found->next;
    }
    pthread_mutex_unlock(&w->kept_lock);
    return found;
}

void sk_kept_free_all(void)
{
    struct sk_world *w = sk_proc.world;
    for (sk_kept *k = w ? w->kept : NULL, *next; k; k = next) {
        next = k->next;
        sk_kept_free(k);
    }
    if (w)
        w->kept = NULL;
}
