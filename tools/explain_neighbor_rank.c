/* explain_neighbor_rank.c: the messages of one rank, stage by stage. */
#include <inttypes.h>
#include <stdio.h>

#include "explain_neighbor.h"

enum { SHOWN = 8 }; /* peers of a stage; a dense graph has hundreds */

/* The hauls of a stage in one direction stand together: prints them and returns how many. */
static size_t print_hauls(const sk_pattern_view *v, size_t i, const sk_machine *m)
{
    const sk_haul *h = &v->hauls[i];
    size_t n = 0;
    while (i + n < v->nhauls && h[n].stage == h->stage && h[n].out == h->out)
        n++;
    printf("  stage %-4" PRId32 " %s %4zu:", h->stage, h->out ? "sends to   " : "hears from ", n);
    for (size_t k = 0; k < n && k < SHOWN; k++)
        printf("%s %" PRId32 " (%s, %" PRIu32 ")", k ? "," : "", h[k].peer,
               sk_level_name(sk_machine_level(m, v->rank, h[k].peer)), h[k].n);
    printf("%s\n", n > SHOWN ? ", ..." : "");
    return n;
}

void sk_neighbor_print_rank(const sk_neighbor_scene *s, const sk_neighbor_tally *t)
{
    printf("\nrank %d: peer (how near, parcels in the message)\n", s->args.rank);
    for (int i = 0; i < SK_NMETHODS; i++) {
        const sk_pattern_view *v = sk_pattern_view_get(t[i].shown);
        printf("%s%s\n", t[i].method->name, v->nhauls ? "" : ": no messages");
        for (size_t k = 0; k < v->nhauls;)
            k += print_hauls(v, k, s->machine);
    }
}
