#include "machines.h"

#include <stdio.h>
#include <stdlib.h>

#include "shade.h"

/* The next of several small numbers hidden in one lot. */
static int pick(uint64_t *lot, int n)
{
    int x = (int)(*lot % (uint64_t)n);
    *lot = shade_mix(*lot / (uint64_t)n + 0x9e3779b97f4a7c15u);
    return x;
}

/* Node i of n has i + 1 shares of the ranks, so some may be left without any. */
static sk_machine *uneven(int p, int nodes)
{
    sk_location *locations = calloc((size_t)p, sizeof *locations);
    sk_machine *m = NULL;
    int shares = nodes * (nodes + 1) / 2;
    if (!locations)
        abort();
    for (int r = 0, node = 0; r < p; r++) {
        while ((node + 1) * (node + 2) / 2 * p <= r * shares)
            node++;
        locations[r] = (sk_location){.node = node, .core = r};
    }
    if (sk_machine_new(p, locations, p, &m) != SK_OK)
        abort();
    free(locations);
    return m;
}

static sk_machine *by_words(int p, int nodes, int spare, const char *map)
{
    char text[96], err[256];
    sk_machine *m = NULL;
    snprintf(text, sizeof text, "node:%d core:%d map:%s", nodes, (p + nodes - 1) / nodes + spare,
             map);
    if (sk_machine_parse(text, p, &m, err, sizeof err) != SK_OK)
        abort();
    return m;
}

void machines_price(sk_machine *m)
{
    m->copy = (sk_copy_prices){.fs = {[SK_PRICE_IN] = 100,
                                      [SK_PRICE_OUT] = 100,
                                      [SK_PRICE_COPY] = 50,
                                      [SK_PRICE_READ] = 150,
                                      [SK_PRICE_REREAD] = 50,
                                      [SK_PRICE_CALL] = 250000}};
}

void machines_draw(kase *k, uint64_t lot)
{
    static const int some_nodes[] = {1, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8};
    static const char *const maps[] = {"seq", "rr", "shuffle:11", "shuffle:12"};
    static const int64_t slot_sizes[] = {192, 1024, 65536};
    lot = shade_mix(lot + 1);
    int nodes = some_nodes[pick(&lot, 12)], how = pick(&lot, 5), cores = pick(&lot, 3);
    nodes = nodes < k->p ? nodes : k->p;
    sk_machine *m =
        how == 4 ? uneven(k->p, nodes) : by_words(k->p, nodes, cores == 1 ? 2 : 0, maps[how]);
    if (cores == 2)
        m->cores = 1;
    k->machine = m;
    k->slot_bytes = slot_sizes[pick(&lot, 3)];
    k->direct = pick(&lot, 2);
    if (pick(&lot, 2))
        machines_price(m);
    if (nodes > 1) {
        k->leaders = pick(&lot, 4);
        k->slot_bytes = pick(&lot, 4) ? k->slot_bytes : 0;
        if (pick(&lot, 2)) /* a measured network, whose messages are dear */
            m->net = (sk_net_bytes){.message = 100000, .software = 20000, .way = 1000};
    }
}
