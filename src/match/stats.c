/* stats.c: prints the statistics of a matcher as a table. */
#include "match/matcher.h"

#include <inttypes.h>

static const char *const side_names[SK_STATS_SIDES] = {"posted", "unexpected"};

static void print_kind(const char *name, const sk_side_stats *side, FILE *to)
{
    for (int i = 0; i < SK_STATS_SIDES; i++) {
        if (side[i].searches == 0 && side[i].added == 0)
            continue;
        double per = side[i].searches ? (double)side[i].traversals / (double)side[i].searches : 0;
        fprintf(to,
                "  %-24s %-10s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %14" PRIu64 " %10.2f\n",
                name, side_names[i], side[i].added, side[i].searches, side[i].found,
                side[i].traversals, per);
    }
}

void sk_match_stats_print(const sk_match_stats *s, const char *engine,
                          const char *(*kind_name)(unsigned kind), FILE *to)
{
    fprintf(to,
            "skein matching, engine %s: %" PRIu64 " queues, %" PRIu64 " bytes, %" PRIu64
            " waits for the lock\n",
            engine, s->queues, s->bytes, s->contended);
    for (int i = 0; i < SK_STATS_SIDES; i++)
        fprintf(to,
                "  %-10s length now %" PRIu64 ", longest %" PRIu64
                ", mean %.2f; queues for collectives %" PRIu64 ", for point-to-point %" PRIu64 "\n",
                side_names[i], s->length[i], s->max_length[i], s->mean_length[i], s->queues_coll[i],
                s->queues_p2p[i]);
    fprintf(to, "  %-24s %-10s %12s %12s %12s %14s %10s\n", "kind", "queue", "added", "searches",
            "found", "traversals", "each");
    for (unsigned kind = 0; kind < SK_STATS_KINDS; kind++) {
        char number[24];
        const char *name = kind_name ? kind_name(kind) : NULL;
        if (!name && kind == 0)
            name = "point-to-point";
        if (!name) {
            snprintf(number, sizeof number, "kind %u", kind);
            name = number;
        }
        print_kind(name, s->kind[kind], to);
    }
}
