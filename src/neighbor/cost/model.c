/* model.c: the load of a pattern, its price in seconds, and models from text.
 *
 * The distance-halving paper (equations 4 to 8) counts the messages of a rank, times alpha and beta,
 * times the SL ranks of a node, since these share one port, and all that twice, for sends and receives.
 * A load counts both, so the factor 2 is inside. A load counts by level of the machine, so each level
 * has its own alpha and beta. Contention:
 *
 * - Off node, the R ranks of the fullest node share its port: factor R, as in the paper, but for bytes only.
 *   The alpha of a message is the time of a core, and R cores send at the same time; a port serves a hundred
 *   million messages per second.
 * - In a node, messages are copies by the cores. R ranks on R cores copy at the same time; on fewer
 *   cores they share them: factor R / cores. Where the number of cores is not known, each rank is
 *   assumed to have one, which is how MPI programs are run.
 * - The cores of a node share its memory, unless what they copy stays in caches.
 * - Combined blocks are copied into a message and out of it again, by the core of the rank, unless they are so
 *   long that they are not packed (tuning.h).
 * - A stage ends when its messages have arrived; that time is in their alphas. But when ranks share
 *   cores, each has to be scheduled in each stage: stage * R / cores. A context switch takes a few us,
 *   but a rank is woken several times before all that it waits for has arrived: 16 to 41 us were
 *   measured for the second stage of patterns with 8 to 22 messages.
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

sk_load sk_load_of(const sk_pattern *p, const sk_machine *m)
{
    const sk_pattern_view *v = sk_pattern_view_get(p);
    sk_load load = {.stages = v->nstages, .slot_places = slot_places(v, m)};
    int net_stage = -1; /* the last one; bundles are in the order of stages */
    for (size_t i = 0; i < v->nbundles; i++) {
        const sk_bundle *h = &v->bundles[i];
        const sk_block *block = &v->blocks[h->first];
        sk_level level = sk_machine_level(m, v->rank, h->peer);
        load.messages[level]++;
        int64_t blocks = 0;
        for (uint32_t k = 0; k < h->n; k++)
            blocks += k == 0 || block[k].src != block[k - 1].src;
        load.allgather_blocks[level] += blocks;
        load.alltoall_blocks[level] += h->n;
        if (level == SK_NET) {
            load.net_stages += h->stage != net_stage;
            net_stage = h->stage;
            continue;
        }
        load.max_intra_allgather_blocks =
            blocks > load.max_intra_allgather_blocks ? blocks : load.max_intra_allgather_blocks;
        load.max_intra_alltoall_blocks =
            h->n > load.max_intra_alltoall_blocks ? h->n : load.max_intra_alltoall_blocks;
    }
    return load;
}

void sk_load_max(sk_load *into, const sk_load *with)
{
    int64_t *a = (int64_t *)into;
    const int64_t *b = (const int64_t *)with;
    for (size_t i = 0; i < sizeof *into / sizeof *a; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
}

/* ---- price ---- */

/* Ranks per core; 1 when each rank has a core. */
static double ranks_per_core(const sk_machine *on)
{
    bool shared = on->cores > 0 && on->max_per_node > on->cores;
    return shared ? (double)on->max_per_node / on->cores : 1;
}

/* The memory of a node is shared by its cores, and as fast as eight of them. What a rank moves stays in caches
 * if it is little. */
static double memory_sharing(const sk_machine *on, double moved)
{
    enum { CORES = 8, CACHE = 2 << 20 };
    double ranks = on->max_per_node;
    return moved > CACHE && ranks > CORES ? ranks / CORES : 1;
}

/* Seconds of a core for the messages of a rank. The alpha of a message on a node is mostly the time that it is
 * under way; its software is a part of it at each end. Combined blocks between ranks of a node go through shared
 * memory: a flag. */
static double message_time(const sk_model *m, const sk_load *load)
{
    enum { NODE_PART = 3, FLAG_PART = 8 };
    int part = load->stages > 1 ? FLAG_PART : NODE_PART;
    return (m->alpha[SK_SOCKET] * (double)load->messages[SK_SOCKET] +
            m->alpha[SK_NODE] * (double)load->messages[SK_NODE]) /
               part +
           m->message * (double)load->messages[SK_NET];
}

double sk_price(const sk_model *m, const sk_machine *on, const sk_load *load, bool distinct,
                int64_t bytes)
{
    enum { LEAST = 128 }; /* bytes of the port's time that any message takes */
    const int64_t *blocks = distinct ? load->alltoall_blocks : load->allgather_blocks;
    double all[SK_NLEVELS], moved = 0;
    for (int l = 0; l < SK_NLEVELS; l++)
        moved += all[l] = (double)blocks[l] * (double)bytes;
    double copy = (m->beta[SK_SOCKET] * all[SK_SOCKET] + m->beta[SK_NODE] * all[SK_NODE]) *
                  memory_sharing(on, all[SK_SOCKET] + all[SK_NODE]);
    if (load->stages > 1 && bytes < SK_NEIGHBOR_SPLIT)
        copy += m->beta[SK_SOCKET] * moved;
    double port = m->beta[SK_NET] * (all[SK_NET] + LEAST * (double)load->messages[SK_NET]);
    double sharing = ranks_per_core(on), stages = (double)load->stages;
    double far = (double)load->net_stages,
           under_way = far * m->alpha[SK_NET] + (stages - far) * m->alpha[SK_SOCKET];
    double seconds = under_way + (message_time(m, load) + copy) * sharing + port * on->max_per_node;
    return sharing > 1 ? seconds + stages * (m->stage * sharing) : seconds;
}

/* ---- models from text ---- */

static const char example[] =
    "\"socket:0.3us,10GB node:0.5us,8GB net:1.5us,12GB message:0.25us stage:40us\"";

/* An ordinary cluster: a 100 Gb/s network, copies through shared memory in the node. `stage` was
 * measured with many ranks on one core. */
static const sk_model usual = {
    .alpha = {[SK_SOCKET] = 0.4e-6, [SK_NODE] = 0.6e-6, [SK_NET] = 1.5e-6},
    .beta = {[SK_SOCKET] = 1 / 10e9, [SK_NODE] = 1 / 8e9, [SK_NET] = 1 / 12.5e9},
    .stage = 40e-6,
};

enum { STAGE = SK_NLEVELS, MESSAGE, OLD_STAGE }; /* "turn" is the old name of "stage" */
static const char *const names[] = {[SK_SOCKET] = "socket",
                                    [SK_NODE] = "node",
                                    [SK_NET] = "net",
                                    [STAGE] = "stage",
                                    [MESSAGE] = "message",
                                    [OLD_STAGE] = "turn",
                                    NULL};
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
    if (u->rate && (k >= STAGE || number <= 0))
        return wrong(k == STAGE     ? "stage is a time"
                     : k == MESSAGE ? "message is a time"
                                    : "nothing would ever arrive",
                     w, err, size);
    unsigned bit = 1u << (2 * k + u->rate);
    if (*given & bit)
        return wrong("given twice", w, err, size);
    *given |= bit;
    if (k == STAGE)
        m->stage = number;
    else if (k == MESSAGE)
        m->message = number;
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

void sk_model_measured(sk_model *m, const sk_network *n)
{
    measured(&m->alpha[SK_NET], n->latency);
    measured(&m->beta[SK_NET], n->byte);
    measured(&m->message, n->message);
    measured(&m->stage, n->stage);
}

const char *sk_model_text(const sk_model *m, char *text, size_t size)
{
    snprintf(text, size, "net:%.4gus,%.4gGB message:%.4gus stage:%.4gus", m->alpha[SK_NET] * 1e6,
             1e-9 / m->beta[SK_NET], m->message * 1e6, m->stage * 1e6);
    return text;
}
