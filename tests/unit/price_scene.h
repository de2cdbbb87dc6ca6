/* price_scene.h: schedules by hand and what they cost, for the tests of prices. */
#ifndef SK_PRICE_SCENE_H
#define SK_PRICE_SCENE_H

#include "unit.h"

#include "price/walk.h"

typedef struct scene {
    const char *machine; /* NULL: not known */
    int nranks, root;
    int64_t bytes;
    void (*build)(sk_sched *s, const struct scene *x, int rank);
    const int *name_of; /* the ranks have other names; NULL: none */
    int cores;          /* of a node; 0: one for each rank */
    int odd;            /* a rank that does something of its own, which costs nothing; 0: none */
} scene;

static inline sk_status build_scene(const void *ctx, int rank, sk_sched **out)
{
    const scene *x = ctx;
    sk_sched *s = unit_sched();
    x->build(s, x, rank);
    sk_status st = sk_sched_freeze(s);
    assert_int_equal(st, SK_OK);
    *out = s;
    return st;
}

static inline sk_status try_price(const scene *x, const sk_prices *p, sk_priced *out)
{
    char err[256];
    sk_machine *m = NULL;
    if (x->machine)
        assert_int_equal(sk_machine_parse(x->machine, x->nranks, &m, err, sizeof err), SK_OK);
    if (m && x->cores)
        m->cores = x->cores;
    for (int i = 0; m && x->cores && i < x->nranks; i++)
        m->core[i] = -1;
    sk_price_case c = {.prices = p,
                       .machine = m,
                       .nranks = x->nranks,
                       .root = x->root,
                       .build = build_scene,
                       .ctx = x};
    sk_status st = sk_price_call(&c, out);
    sk_machine_free(m);
    return st;
}

static inline sk_priced price(const scene *x, const sk_prices *p)
{
    sk_priced out = {0};
    assert_int_equal(try_price(x, p, &out), SK_OK);
    assert_true(out.exact);
    return out;
}

/* Numbers of which every sum shows what it is made of. */
static inline sk_prices round_prices(void)
{
    sk_prices p = {.port_gap = 10, .port_byte = 1, .copy = 0.5, .reduce = 0.25, .read = 2};
    p.level[SK_AT_NET] =
        (sk_level_prices){.latency = 1000, .send = 100, .recv = 200, .eager = 4096};
    p.level[SK_AT_SOCKET] = (sk_level_prices){
        .latency = 50, .send = 20, .recv = 30, .in = 1, .out = 2, .flag = 7, .eager = 4096};
    p.level[SK_AT_NODE] = (sk_level_prices){
        .latency = 70, .send = 20, .recv = 30, .in = 1, .out = 3, .flag = 9, .eager = 4096};
    p.call = 5000;
    p.wake = 10000;
    return p;
}

#define assert_ns(got, want) assert_between((got)*1000 + 0.5, (want)*1000, (want)*1000 + 1)

static inline sk_span sent(const scene *x)
{
    return bytes_of(SK_SEND, 0, x->bytes);
}

static inline sk_span received(const scene *x)
{
    return bytes_of(SK_RECV, 0, x->bytes);
}

/* ---- schedules that several tests price ---- */

static inline void one_message(sk_sched *s, const scene *x, int rank)
{
    if (rank == 0)
        sk_send(s, sent(x), 1);
    else if (rank == 1)
        sk_recv(s, received(x), 0);
}

static inline void copy_alone(sk_sched *s, const scene *x, int rank)
{
    (void)rank;
    sk_copy(s, sent(x), received(x));
}

static inline void chain(sk_sched *s, const scene *x, int rank)
{
    if (rank > 0)
        sk_recv(s, received(x), rank - 1);
    sk_fence(s);
    if (rank + 1 < x->nranks)
        sk_send(s, rank ? received(x) : sent(x), rank + 1);
}

static inline void local_work(sk_sched *s, const scene *x, int rank)
{
    (void)rank;
    sk_copy(s, sent(x), received(x));
    sk_fence(s);
    sk_reduce(s, sent(x), received(x));
}

#endif
