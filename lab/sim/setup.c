/* setup.c: negotiators in simulated time. */
#include "lab/sim/setup.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "neighbor/gather.h"
#include "price/events.h"

typedef struct setup_message {
    int from, to;
    bool sent; /* it has passed the ports, and arrives */
    int32_t *words;
    size_t n;
    int next; /* in the list of unused ones */
} setup_message;

typedef struct setup_rank {
    sk_channel channel; /* first: the negotiator gets its address */
    struct setup_run *run;
    int rank;
    sk_negotiator *negotiator;
    double clock, work; /* ns */
} setup_rank;

typedef struct setup_run {
    const sk_sim *s;
    setup_rank *ranks;
    double *out, *in; /* of each node: its ports are free from then on */
    sk_events events; /* indices of messages */
    setup_message *messages;
    int n, cap, unused; /* unused: index + 1 */
    size_t heap;        /* bytes allocated at the start, and the most since */
    sk_sim_agreed result;
} setup_run;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int new_message(setup_run *x)
{
    int i = x->unused - 1;
    if (i >= 0) {
        x->unused = x->messages[i].next;
        return i;
    }
    if (x->n == x->cap) {
        int cap = x->cap ? 2 * x->cap : 1024;
        setup_message *more = realloc(x->messages, (size_t)cap * sizeof *more);
        if (!more)
            return -1;
        x->messages = more;
        x->cap = cap;
    }
    return x->n++;
}

static const sk_level_prices *level_of(const setup_run *x, const setup_message *e, bool *net)
{
    sk_at at = sk_at_of(x->s->machine, e->from, e->to);
    *net = at == SK_AT_NET;
    return &x->s->prices->level[at];
}

/* The sender pays at the time that its clock shows; its work up to now is added afterwards. */
static sk_status setup_send(sk_channel *ch, int to, const int32_t *words, size_t n)
{
    setup_rank *r = (setup_rank *)ch;
    setup_run *x = r->run;
    int i = new_message(x);
    if (i < 0)
        return SK_NOMEM;
    setup_message *e = &x->messages[i];
    *e = (setup_message){.from = r->rank, .to = to, .words = malloc(n * sizeof *words), .n = n};
    if (!e->words)
        return SK_NOMEM;
    memcpy(e->words, words, n * sizeof *words);
    bool net;
    const sk_level_prices *l = level_of(x, e, &net);
    double bytes = 4 * (double)n;
    r->clock += l->send + bytes * l->in;
    e->sent = !net;
    x->result.messages++;
    x->result.bytes += (int64_t)(4 * n);
    return sk_events_push(&x->events, r->clock + (net ? 0 : l->latency), i) ? SK_OK : SK_NOMEM;
}

/* Runs a step of a negotiator: NULL: its start. */
static sk_status step(setup_rank *r, const setup_message *e)
{
    double begin = now();
    sk_status st = e ? sk_negotiator_receive(r->negotiator, &r->channel, e->from, e->words, e->n)
                     : sk_negotiator_start(r->negotiator, &r->channel);
    double work = now() - begin;
    r->clock += work;
    r->work += work;
    return st;
}

static void pass_ports(setup_run *x, int i, double at)
{
    setup_message *e = &x->messages[i];
    const int *node = x->s->machine->node;
    double *out = &x->out[node[e->from]], *in = &x->in[node[e->to]];
    double busy = x->s->prices->port_gap + 4 * (double)e->n * x->s->prices->port_byte;
    double start = larger(at, *out);
    *out = start + busy;
    *in = larger(start + x->s->prices->level[SK_AT_NET].latency, *in) + busy;
    e->sent = true;
}

static void watch_memory(setup_run *x)
{
    size_t used = mallinfo2().uordblks;
    double each = used > x->heap ? (double)(used - x->heap) / x->s->machine->nranks : 0;
    x->result.memory = larger(x->result.memory, each);
}

static sk_status deliver(setup_run *x, int i, double at)
{
    setup_message e = x->messages[i];
    bool net;
    const sk_level_prices *l = level_of(x, &e, &net);
    setup_rank *r = &x->ranks[e.to];
    r->clock = larger(r->clock, at) + l->recv + 4 * (double)e.n * l->out;
    sk_status st = step(r, &e);
    free(e.words);
    x->messages[i] = (setup_message){.next = x->unused};
    x->unused = i + 1;
    return st;
}

static sk_status run(setup_run *x)
{
    int n = x->s->machine->nranks;
    sk_status st = SK_OK;
    sk_event e;
    for (int i = 0; i < n && st == SK_OK; i++)
        st = step(&x->ranks[i], NULL);
    for (int64_t k = 0; st == SK_OK && sk_events_pop(&x->events, &e); k++) {
        if (x->messages[e.what].sent) {
            st = deliver(x, e.what, e.at);
        } else {
            pass_ports(x, e.what, e.at);
            int node = x->s->machine->node[x->messages[e.what].to];
            st = sk_events_push(&x->events, x->in[node], e.what) ? SK_OK : SK_NOMEM;
        }
        if (k % n == 0) /* looking takes time */
            watch_memory(x);
    }
    for (int i = 0; i < n && st == SK_OK; i++) {
        const setup_rank *r = &x->ranks[i];
        st = r->negotiator->done ? SK_OK : SK_DEADLOCK;
        x->result.ns = larger(x->result.ns, r->clock);
        x->result.work = larger(x->result.work, r->work);
    }
    return st;
}

static void setup_free(setup_run *x)
{
    for (int i = 0; i < x->s->machine->nranks && x->ranks; i++)
        sk_negotiator_free(x->ranks[i].negotiator);
    for (int i = 0; i < x->n; i++)
        free(x->messages[i].words);
    free(x->messages);
    free(x->ranks);
    free(x->out);
    free(x->in);
    sk_events_free(&x->events);
}

sk_status sk_sim_setup(const sk_sim *s, sk_method_id id, sk_method_id planned,
                       const sk_pattern_opts *o, sk_sim_agreed *out)
{
    size_t n = (size_t)s->machine->nranks, nodes = (size_t)s->machine->nnodes;
    sk_pattern_opts opts = *o;
    opts.idle = s->idle;
    setup_run x = {.s = s,
                   .ranks = calloc(n, sizeof *x.ranks),
                   .out = calloc(nodes, sizeof *x.out),
                   .in = calloc(nodes, sizeof *x.in),
                   .heap = mallinfo2().uordblks};
    sk_status st = x.ranks && x.out && x.in ? SK_OK : SK_NOMEM;
    for (int i = 0; i < (int)n && st == SK_OK; i++) {
        setup_rank *r = &x.ranks[i];
        *r = (setup_rank){.channel.send = setup_send, .run = &x, .rank = i};
        r->negotiator = id == SK_NMETHODS
                            ? sk_gather_negotiator(s->graphs[i], s->machine, &opts, 1u << planned,
                                                   sk_global_graph_edges(s->graph))
                            : sk_method_get(id)->negotiator(s->graphs[i], s->machine, &opts);
        st = r->negotiator ? SK_OK : SK_NOMEM;
    }
    if (st == SK_OK)
        st = run(&x);
    if (st == SK_OK)
        *out = x.result;
    setup_free(&x);
    return st;
}
