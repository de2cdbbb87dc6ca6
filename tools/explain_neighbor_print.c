/* explain_neighbor_print.c: the tables. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain_neighbor.h"

static const char *time_text(double seconds, char *buf, size_t size)
{
    static const char *const units[] = {"us", "ms", "s"};
    double n = 1e6 * seconds;
    int u = 0;
    while (u < 2 && n >= 1000) {
        n /= 1000;
        u++;
    }
    snprintf(buf, size, "%.*f %s", n < 10 ? 2 : n < 100 ? 1 : 0, n, units[u]);
    return buf;
}

/* The method with the lowest price, of those from `first` on. */
static int cheapest(const sk_neighbor_scene *s, const sk_neighbor_tally *t, int first)
{
    int best = first;
    for (int i = first + 1; i < SK_NMETHODS; i++)
        if (sk_neighbor_price(s, &t[i].load, s->args.bytes) <
            sk_neighbor_price(s, &t[best].load, s->args.bytes))
            best = i;
    return best;
}

static void print_scene(const sk_neighbor_scene *s)
{
    const sk_machine *m = s->machine;
    const sk_model *c = &s->model;
    int64_t all = s->size.edges;
    int p = s->args.nranks;
    printf("%s on %d ranks, blocks of %" PRId64 " bytes\n", sk_coll_name(s->args.coll), p,
           s->args.bytes);
    printf("graph    %s: %" PRId64 " pairs, %.1f of a rank, %" PRId64 " at most;", s->args.graph,
           all, (double)all / p, s->size.most);
    for (int k = 0; k < SK_NLEVELS; k++)
        printf(" %s %.1f %%%s", sk_level_name((sk_level)k),
               all ? 100 * (double)s->size.intra[k] / (double)all : 0,
               k + 1 < SK_NLEVELS ? "," : "\n");
    printf("machine  %d nodes, %d sockets; up to %d ranks on a node, %d on a socket%s\n", m->nnodes,
           m->nsockets, m->most_on_node, m->most_on_socket,
           m->in_order ? "" : "; ranks are not in the order of places");
    printf("model   ");
    for (int k = 0; k < SK_NLEVELS; k++)
        printf(" %s:%.4gus,%.4gGB", sk_level_name((sk_level)k), 1e6 * c->alpha[k],
               1e-9 / c->beta[k]);
    printf(" turn:%.4gus\n", 1e6 * c->epoch);
}

/* One table: messages, or blocks in bytes. */
static void print_sent(const sk_neighbor_scene *s, const sk_neighbor_tally *t, int best, bool bytes)
{
    double unit = bytes ? (double)s->args.bytes : 1;
    printf("\n  %-24s", bytes ? "bytes sent by a rank" : "messages sent by a rank");
    for (int k = 0; k <= SK_NLEVELS; k++)
        printf(" %21s", k < SK_NLEVELS ? sk_level_name((sk_level)k) : "all");
    printf("\n  %-16s %7s", "", "stages");
    for (int k = 0; k <= SK_NLEVELS; k++)
        printf(" %10s %10s", "mean", "most");
    for (int i = 0; i < SK_NMETHODS; i++) {
        printf("\n%c %-16s %7" PRId64, i == best ? '*' : ' ', t[i].method->name, t[i].load.stages);
        for (int k = 0; k <= SK_NLEVELS; k++) {
            const sk_sent *sum = &t[i].total, *most = &t[i].most;
            printf(" %10.1f %10.0f",
                   unit * (double)(bytes ? sum->blocks[k] : sum->messages[k]) / s->args.nranks,
                   unit * (double)(bytes ? most->blocks[k] : most->messages[k]));
        }
    }
    printf("\n");
}

static void print_times(const sk_neighbor_scene *s, const sk_neighbor_tally *t, int best)
{
    char a[32], b[32], c[32];
    printf("\n  %-24s %21s %21s %21s\n", "predicted time of a call", "from the pattern",
           "before planning", "planning all ranks");
    for (int i = 0; i < SK_NMETHODS; i++)
        printf("%c %-24s %21s %21s %21s\n", i == best ? '*' : ' ', t[i].method->name,
               time_text(sk_neighbor_price(s, &t[i].load, s->args.bytes), a, sizeof a),
               time_text(sk_neighbor_price(s, &t[i].guess, s->args.bytes), b, sizeof b),
               time_text(t[i].planning, c, sizeof c));
}

/* How far the patterns are from what the paper expects of them; it does so for random graphs. */
static void print_equations(const sk_neighbor_scene *s, const sk_neighbor_tally *t)
{
    static const char random[] = "random:";
    if (strncmp(s->args.graph, random, sizeof random - 1) != 0)
        return;
    double delta = strtod(s->args.graph + sizeof random - 1, NULL);
    int p = s->args.nranks, per_socket = s->machine->most_on_socket;
    const sk_sent *sum = &t[SK_BY_HALVING].total;
    double in = (double)sum->messages[SK_SOCKET] / p;
    printf("paper    distance halving sends off the socket and in it (equations 1 and 2): "
           "%.1f, %.1f; here %.1f, %.1f\n",
           sk_equation_off(p, per_socket, delta), sk_equation_in(p, per_socket, delta),
           (double)sum->messages[SK_NLEVELS] / p - in, in);
}

/* The size at which `other` stops being cheaper than direct (*other_below) or begins to be; -1 when
 * one of them is cheaper at all sizes. */
static int64_t break_even(const sk_neighbor_scene *s, const sk_load *direct, const sk_load *other,
                          bool *other_below)
{
    const int64_t most = (int64_t)1 << 32;
    int64_t low = 0, high = 1;
    *other_below = sk_neighbor_price(s, other, 0) < sk_neighbor_price(s, direct, 0);
    for (; high <= most; low = high, high *= 2)
        if ((sk_neighbor_price(s, other, high) < sk_neighbor_price(s, direct, high)) !=
            *other_below)
            break;
    if (high > most)
        return -1;
    while (high - low > 1) {
        int64_t mid = low + (high - low) / 2;
        if ((sk_neighbor_price(s, other, mid) < sk_neighbor_price(s, direct, mid)) == *other_below)
            low = mid;
        else
            high = mid;
    }
    return high;
}

static void print_break_even(const sk_neighbor_scene *s, const sk_neighbor_tally *t)
{
    bool below;
    int other = cheapest(s, t, SK_BY_DIRECT + 1);
    const char *name = t[other].method->name;
    int64_t at = break_even(s, &t[SK_BY_DIRECT].load, &t[other].load, &below);
    if (at >= 0)
        printf("even     %s is cheaper than direct for blocks %s %" PRId64 " bytes\n", name,
               below ? "below" : "from", at);
    else
        printf("even     nowhere: %s is cheaper for blocks of any size\n", below ? name : "direct");
}

void sk_neighbor_print(const sk_neighbor_scene *s, const sk_neighbor_tally *t)
{
    int best = cheapest(s, t, 0);
    print_scene(s);
    print_sent(s, t, best, false);
    print_sent(s, t, best, true);
    print_times(s, t, best);
    printf("\n");
    print_break_even(s, t);
    print_equations(s, t);
}
