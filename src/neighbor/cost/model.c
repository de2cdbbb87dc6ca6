/* model.c: the load of a pattern, its price in seconds, and models from text.
 *
 * The distance-halving paper (equations 4 to 8) counts the messages of a rank, times alpha and beta,
 * times the SL ranks of a node, since these share one port. Here each resource has its own time:
 *
 * - The way through the network, once for each stage with messages between nodes.
 * - The core of the busiest rank: the software of its messages, flags and copies on the node, and what is packed
 *   into messages and out of them. R ranks on fewer cores share them: factor R / cores. Where the number of
 *   cores is not known, each rank is assumed to have one, which is how MPI programs are run.
 * - The port of a node, which sends and receives at the same time. Over TCP its bytes are the work of the node's cores, so
 *   its rate is measured while all ranks send. It serves what the ranks of a node send together: the mean of all nodes, or what the busiest rank sends alone if that is more. A rank that carries for
 *   all others has the port for itself.
 * - The memory of a node, which its cores share, unless what they copy stays in caches.
 *
 * In a stage they work at the same time. What a rank does inside its node in stages of their own comes on top
 * of the port's time; what it does while it also waits for the network does not.
 * When ranks share cores, each has to be scheduled in each stage: stage * R / cores. A context switch takes a few us,
 * but a rank is woken several times before all that it waits for has arrived: 16 to 41 us were
 * measured for the second stage of patterns with 8 to 22 messages.
 *
 * Only + * / in one order, so that all ranks compute the same price. */
#include "neighbor/cost/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/word.h"
#include "neighbor/tuning.h"

/* ---- load ---- */

int sk_slot_place(const sk_machine *m, int node, int src)
{
    int here = m->node_first[node + 1] - m->node_first[node];
    int distance = (node - m->node[src] + m->nnodes) % m->nnodes;
    return (distance > 0 ? (distance - 1) / here : 0) * m->max_per_node + m->local_rank[src];
}

typedef struct place_user { /* the last source for a place, and its stage + 1 */
    int32_t src, stage;
} place_user;

/* The blocks of a bundle between ranks of the node. False: two sources have one place in this rank's slot. */
static bool take_places(const sk_pattern_view *v, const sk_machine *m, const sk_bundle *h,
                        place_user *users, int64_t *places)
{
    for (uint32_t k = h->first; k < h->first + h->n; k++) {
        int src = v->blocks[k].src, at = sk_slot_place(m, m->node[v->rank], src);
        place_user *u = at < v->nranks ? &users[at] : NULL;
        if (!u || (h->out && u->stage == h->stage + 1 && u->src != src))
            return false;
        if (h->out)
            *u = (place_user){src, h->stage + 1};
        *places = at + 1 > *places ? at + 1 : *places;
    }
    return true;
}

static int64_t slot_places(const sk_pattern_view *v, const sk_machine *m)
{
    place_user *users = calloc((size_t)v->nranks, sizeof *users);
    int64_t places = 0;
    bool apart = users != NULL;
    for (size_t i = 0; i < v->nbundles && apart; i++) {
        const sk_bundle *h = &v->bundles[i];
        if (m->node[h->peer] == m->node[v->rank])
            apart = take_places(v, m, h, users, &places);
    }
    free(users);
    return apart ? places : v->nranks;
}

/* Blocks of a bundle for allgather: those of one source are one. */
static int64_t count_sources(const sk_pattern_view *v, const sk_bundle *h)
{
    int64_t n = 0;
    for (uint32_t k = h->first; k < h->first + h->n; k++)
        n += k == h->first || v->blocks[k].src != v->blocks[k - 1].src;
    return n;
}

static int64_t larger_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void count_bundle(const sk_pattern_view *v, const sk_machine *m, const sk_bundle *h,
                         sk_load *load)
{
    sk_level level = sk_machine_level(m, v->rank, h->peer);
    int64_t sources = count_sources(v, h);
    load->messages[level]++;
    load->most_messages++;
    load->allgather_blocks[level] += sources;
    load->alltoall_blocks[level] += h->n;
    if (level == SK_NET) {
        load->all.messages += h->out;
        load->all.allgather_blocks += h->out ? sources : 0;
        load->all.alltoall_blocks += h->out ? h->n : 0;
        return;
    }
    load->allgather_copies += h->out ? 0 : sources;
    load->alltoall_copies += h->n;
    load->max_intra_allgather_blocks = larger_of(sources, load->max_intra_allgather_blocks);
    load->max_intra_alltoall_blocks = larger_of(h->n, load->max_intra_alltoall_blocks);
}

/* Stages by what is sent in them, and the sources that each puts into shared memory, once for all its readers. */
static void count_stages(const sk_pattern_view *v, const sk_machine *m, sk_load *load)
{
    int *seen = calloc((size_t)v->nranks, sizeof *seen); /* by source: the last stage + 1 */
    for (size_t i = 0; i < v->nbundles;) {
        bool net = false, intra = false;
        int stage = v->bundles[i].stage;
        for (; i < v->nbundles && v->bundles[i].stage == stage; i++) {
            const sk_bundle *h = &v->bundles[i];
            bool far = m->node[h->peer] != m->node[v->rank];
            net |= far;
            intra |= !far;
            for (uint32_t k = h->first; k < h->first + h->n && seen && h->out && !far; k++) {
                load->allgather_copies += seen[v->blocks[k].src] != stage + 1;
                seen[v->blocks[k].src] = stage + 1;
            }
        }
        load->net_stages += net;
        load->intra_stages += intra;
    }
    free(seen);
}

sk_load sk_load_of(const sk_pattern *p, const sk_machine *m)
{
    const sk_pattern_view *v = sk_pattern_view_get(p);
    sk_load load = {.stages = v->nstages, .slot_places = slot_places(v, m)};
    for (size_t i = 0; i < v->nbundles; i++)
        count_bundle(v, m, &v->bundles[i], &load);
    count_stages(v, m, &load);
    load.all.allgather_copies = load.allgather_copies;
    load.all.alltoall_copies = load.alltoall_copies;
    return load;
}

void sk_load_join(sk_load *into, const sk_load *with)
{
    int64_t *a = (int64_t *)into, *all = (int64_t *)&into->all;
    const int64_t *b = (const int64_t *)with;
    for (size_t i = 0; i < sizeof *into / sizeof *a; i++)
        a[i] = &a[i] < all ? larger_of(a[i], b[i]) : a[i] + b[i];
}

/* ---- price ---- */

/* Shares of the customary prices (price/prices.def) in an alpha or a beta. */
enum {
    NODE_PART = 3,       /* the software of a message between ranks of a node, at each end */
    FLAG_PART = 12,      /* half a flag in shared memory: the receiver looks at it */
    STEP_PART = 40,      /* a copy, of however few bytes */
    CACHE_PART = 2,      /* a byte within the caches of a core */
    MEMORY_PART = 8,     /* a node's memory is as fast as so many cores */
    GAP = 128,           /* bytes of a port's time that any message takes */
    EAGER = 4 << 10,     /* a longer message on a node is copied once, not twice */
    NET_EAGER = 8 << 10, /* a longer message between nodes may wait for its receiver */
    CACHE = 1 << 20,     /* what a rank copies stays in caches if it is not more */
    SLOT = 512 << 10     /* what a slot of shared memory takes */
};

/* A call, and what follows from it for all resources. */
typedef struct price_call {
    const sk_model *m;
    const sk_load *load;
    const int64_t *blocks; /* by level */
    double bytes, nodes;   /* of a block; of the machine */
    double intra;          /* blocks from and to ranks of the node */
    double copies, all_copies,
        sent;           /* on the node: of a rank, of a node; and what passes a node's port */
    double alpha, beta; /* of the levels inside a node, by their blocks */
    bool direct, whole, shared; /* one stage; blocks are not packed; the node's memory is used */
} price_call;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static price_call call_of(const sk_model *m, const sk_machine *on, const sk_load *load,
                          bool distinct, int64_t bytes)
{
    price_call c = {.m = m, .load = load, .bytes = (double)bytes, .nodes = on->nnodes};
    c.blocks = distinct ? load->alltoall_blocks : load->allgather_blocks;
    c.copies = (double)(distinct ? load->alltoall_copies : load->allgather_copies);
    c.all_copies = (double)(distinct ? load->all.alltoall_copies : load->all.allgather_copies);
    c.sent = (double)(distinct ? load->all.alltoall_blocks : load->all.allgather_blocks);
    c.intra = (double)(c.blocks[SK_SOCKET] + c.blocks[SK_NODE]);
    double far = c.intra > 0 ? (double)c.blocks[SK_NODE] / c.intra : 0;
    c.alpha = m->alpha[SK_SOCKET] * (1 - far) + m->alpha[SK_NODE] * far;
    c.beta = m->beta[SK_SOCKET] * (1 - far) + m->beta[SK_NODE] * far;
    c.direct = load->stages == 1;
    c.whole = c.direct || bytes >= SK_NEIGHBOR_SPLIT;
    int64_t most = distinct ? load->max_intra_alltoall_blocks : load->max_intra_allgather_blocks;
    double slot = c.bytes * (double)most * on->max_per_node;
    if (!distinct && c.bytes * (double)load->slot_places < slot)
        slot = c.bytes * (double)load->slot_places;
    c.shared = !c.direct && slot <= SLOT;
    return c;
}

/* Seconds of the busiest rank's core for messages between nodes. Those of all levels are not more than it has
 * in all. */
static double net_work(const price_call *c)
{
    const sk_model *m = c->m;
    double blocks = (double)c->blocks[SK_NET], messages = (double)c->load->messages[SK_NET];
    double step = m->alpha[SK_SOCKET] / STEP_PART, pack = m->copy;
    if (c->whole)
        return m->message * blocks;
    return m->message * messages + blocks * (step + pack * c->bytes);
}

/* The same for what goes to ranks of its node: by flags and copies, or by messages. */
static double intra_work(const price_call *c)
{
    double messages = (double)(c->load->messages[SK_SOCKET] + c->load->messages[SK_NODE]);
    double step = c->m->alpha[SK_SOCKET] / STEP_PART;
    if (c->shared)
        return c->alpha / FLAG_PART * messages + c->copies * (step + c->beta * c->bytes);
    double each = c->direct ? c->bytes : c->bytes * c->intra / larger(messages, 1);
    double work = c->beta * c->bytes * (each > EAGER ? c->intra / 2 : c->intra);
    if (c->whole)
        return work + c->alpha / NODE_PART * c->intra;
    return work + c->alpha / NODE_PART * messages + c->intra * (step + c->m->copy * c->bytes);
}

/* Seconds of a port, in one direction. */
static double port_time(const price_call *c)
{
    double messages = (double)c->load->messages[SK_NET] / 2, blocks = (double)c->blocks[SK_NET] / 2;
    messages = larger(messages, (double)c->load->all.messages / c->nodes);
    double byte = c->m->port > 0 ? c->m->port : c->m->beta[SK_NET];
    return byte * (c->bytes * larger(blocks, c->sent / c->nodes) + GAP * messages);
}

/* Seconds of a node's memory; none for what stays in caches. */
static double memory_time(const price_call *c)
{
    double times = c->shared || c->whole ? 1 : 2, packed = c->whole ? 0 : 1;
    double mine = times * c->copies + packed * (double)c->blocks[SK_NET];
    double all = times * c->all_copies + packed * 2 * c->sent;
    return mine * c->bytes > CACHE
               ? c->m->beta[SK_SOCKET] / MEMORY_PART * c->bytes * (all / c->nodes)
               : 0;
}

/* The way through the network, of all stages that have one. A long message may ask first whether its receiver is
 * there, and passes two ports one after the other. */
static double way(const price_call *c)
{
    double latency = larger(0, c->m->alpha[SK_NET] - 2 * c->m->message),
           each =
               c->bytes * (double)c->blocks[SK_NET] / larger((double)c->load->messages[SK_NET], 1);
    double asks = c->m->handshake > 0 ? c->m->handshake : 2 * latency;
    each = c->whole ? c->bytes : each;
    return (double)c->load->net_stages *
           (each > NET_EAGER ? latency + asks + c->m->beta[SK_NET] * each : latency);
}

/* Stages inside the node: their last flag, or message. */
static double way_inside(const price_call *c)
{
    int64_t stages = c->load->stages - c->load->net_stages;
    return (double)(stages > 0 ? stages : 0) * (c->m->alpha[SK_NODE] / 2);
}

/* The time in which ports and `work` of a core for the network are over. A rank sends, and handles the first arrivals while the
 * last ones are under way. */
static double net_time(const price_call *c, double work)
{
    double under_way = way(c), waits = larger(0, under_way - work / 2);
    return larger(port_time(c) + under_way, work + waits);
}

/* Ranks per core; 1 when each rank has a core. */
static double ranks_per_core(const sk_machine *on)
{
    return sk_machine_oversubscribed(on) ? (double)on->max_per_node / on->cores : 1;
}

double sk_price(const sk_model *m, const sk_machine *on, const sk_load *load, bool distinct,
                int64_t bytes)
{
    price_call c = call_of(m, on, load, distinct, bytes);
    double sharing = ranks_per_core(on), stages = (double)load->stages;
    double net = net_work(&c) * sharing, intra = intra_work(&c) * sharing;
    if (c.direct && load->most_messages > 0) { /* no rank has the most messages on each level */
        double sum =
            (double)(load->messages[SK_SOCKET] + load->messages[SK_NODE] + load->messages[SK_NET]);
        net *= (double)load->most_messages / sum;
        intra *= (double)load->most_messages / sum;
    }
    /* Inside the node, in stages that also wait for the network. */
    double both = (double)(load->net_stages + load->intra_stages - load->stages),
           hidden = both > 0 ? intra * both / (double)load->intra_stages : 0;
    double busy = net_time(&c, net + hidden) + (intra - hidden) + way_inside(&c);
    double seconds = larger(busy, memory_time(&c));
    return sharing > 1 ? seconds + stages * (m->stage * sharing) : seconds;
}

/* ---- models from text ---- */

static const char example[] =
    "\"socket:0.3us,10GB node:0.5us,8GB net:1.5us,12GB message:0.25us stage:40us port:12GB\"";

/* An ordinary cluster: a 100 Gb/s network, copies through shared memory in the node. `stage` was
 * measured with many ranks on one core. */
static const sk_model usual = {
    .alpha = {[SK_SOCKET] = 0.4e-6, [SK_NODE] = 0.6e-6, [SK_NET] = 1.5e-6},
    .beta = {[SK_SOCKET] = 1 / 10e9, [SK_NODE] = 1 / 8e9, [SK_NET] = 1 / 12.5e9},
    .stage = 40e-6,
};

enum { STAGE = SK_NLEVELS, MESSAGE, OLD_STAGE, PORT }; /* "turn" is the old name of "stage" */
static const char *const names[] = {
    [SK_SOCKET] = "socket", [SK_NODE] = "node",   [SK_NET] = "net", [STAGE] = "stage",
    [MESSAGE] = "message",  [OLD_STAGE] = "turn", [PORT] = "port",  NULL};
enum { MESSAGE_PART = 6 }; /* of the time from node to node is a core's, at each end */

typedef struct quantity_unit {
    const char *name;
    bool rate; /* bytes per second, else seconds */
    double times, parts;
} quantity_unit;
static const quantity_unit units[] = {
    {"s", false, 1, 1}, {"ms", false, 1, 1e3}, {"us", false, 1, 1e6}, {"ns", false, 1, 1e9},
    {"B", true, 1, 1},  {"KB", true, 1e3, 1},  {"MB", true, 1e6, 1},  {"GB", true, 1e9, 1},
};

/* Reads "1.5us": returns the unit, and in *out seconds or bytes per second; NULL: malformed. */
static const quantity_unit *read_quantity(const char *text, double *out)
{
    const char *unit;
    double number = sk_read_decimal(text, &unit);
    for (size_t i = 0; unit > text && i < sizeof units / sizeof *units; i++)
        if (!strcmp(unit, units[i].name)) {
            *out = number * units[i].times / units[i].parts;
            return &units[i];
        }
    return NULL;
}

static sk_status wrong(const char *why, const sk_word *w, char *err, size_t size)
{
    snprintf(err, size, "\"%s\": %s; a model is written like %s", w->text, why, example);
    return SK_BADARG;
}

/* One quantity of the level `k`, of the stage or of a message; `given` has a bit for each that came before. */
static sk_status put(sk_model *m, int k, const sk_word *w, unsigned *given, char *err, size_t size)
{
    double number;
    const quantity_unit *u = read_quantity(w->value, &number);
    if (!u)
        return wrong("wanted is a time in s, ms, us or ns, or bytes per second in B, KB, MB or GB",
                     w, err, size);
    if (u->rate && (k == STAGE || k == MESSAGE || number <= 0))
        return wrong(k == STAGE     ? "stage is a time"
                     : k == MESSAGE ? "message is a time"
                                    : "nothing would ever arrive",
                     w, err, size);
    if (k == PORT && !u->rate)
        return wrong("port is bytes per second", w, err, size);
    unsigned bit = 1u << (2 * k + u->rate);
    if (*given & bit)
        return wrong("given twice", w, err, size);
    *given |= bit;
    if (k == STAGE)
        m->stage = number;
    else if (k == MESSAGE)
        m->message = number;
    else if (k == PORT)
        m->port = 1 / number;
    else if (u->rate)
        m->beta[k] = 1 / number;
    else
        m->alpha[k] = number;
    return SK_OK;
}

sk_status sk_model_parse(const char *text, sk_model *out, char *err, size_t size)
{
    sk_model m = usual;
    const char *left = text ? text : "";
    unsigned given = 0;
    int k =
        -1; /* in "net:1.5us,12GB" the second word has no name: it belongs to the first word's */
    for (sk_word w; sk_word_next(&left, &w);) {
        if (w.name[0] || k < 0)
            k = sk_word_find(w.name, names);
        k = k == OLD_STAGE ? STAGE : k;
        if (k < 0) {
            char why[64];
            snprintf(why, sizeof why, "unknown; did you mean %s?",
                     sk_nearest(w.name[0] ? w.name : w.value, names));
            return wrong(why, &w, err, size);
        }
        sk_status st = put(&m, k, &w, &given, err, size);
        if (st != SK_OK)
            return st;
    }
    m.copy = m.beta[SK_SOCKET] / CACHE_PART;
    if (!(given >> 2 * MESSAGE & 1))
        m.message = m.alpha[SK_NET] / MESSAGE_PART;
    *out = m;
    return SK_OK;
}

/* ---- measured ---- */

static void measured(double *quantity, int64_t ps)
{
    if (ps > 0)
        *quantity = (double)ps * 1e-12;
}

void sk_model_measured(sk_model *m, const sk_network *n, const sk_copy_prices *p)
{
    const double fs = 1e-15;
    double in = fs * (double)p->fs[SK_PRICE_IN], out = fs * (double)p->fs[SK_PRICE_OUT];
    measured(&m->alpha[SK_NET], n->latency);
    measured(&m->beta[SK_NET], n->byte);
    measured(&m->message, n->message);
    measured(&m->stage, n->stage);
    measured(&m->handshake, n->handshake);
    measured(&m->port, n->port);
    if (in > 0 && out > 0) { /* as far from the other socket as before */
        m->beta[SK_NODE] *= (in + out) / 2 / m->beta[SK_SOCKET];
        m->beta[SK_SOCKET] = (in + out) / 2;
    }
    if (p->fs[SK_PRICE_COPY] > 0)
        m->copy = fs * (double)p->fs[SK_PRICE_COPY];
}

sk_net_bytes sk_model_net_bytes(const sk_model *m, const sk_machine *on)
{
    double beta = m->beta[SK_NET], software = m->message * ranks_per_core(on);
    return (sk_net_bytes){
        .message = (int64_t)((m->alpha[SK_NET] + 2 * software) / beta),
        .software = (int64_t)(software / beta),
        .way = (int64_t)(larger(0, m->alpha[SK_NET] - 2 * m->message) / beta),
    };
}

const char *sk_model_text(const sk_model *m, char *text, size_t size)
{
    int n =
        snprintf(text, size, "net:%.4gus,%.4gGB message:%.4gus stage:%.4gus",
                 m->alpha[SK_NET] * 1e6, 1e-9 / m->beta[SK_NET], m->message * 1e6, m->stage * 1e6);
    if (m->port > 0 && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, " port:%.4gGB", 1e-9 / m->port);
    return text;
}
