#include "pricing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "select/renames.h"

enum { MAX_BUILT = 1 << 23 }; /* steps, after which nothing more is tried */

void sk_pricing_init(sk_pricing *x, const sk_select *select, const sk_callspec *spec,
                     const sk_prices *prices)
{
    *x = (sk_pricing){.select = select, .spec = *spec, .prices = *prices};
    for (const sk_algo *const *a = sk_algos(); *a && x->n < SK_PRICING_ALGOS; a++)
        if ((*a)->coll == spec->coll)
            x->algo[x->n++] = *a;
}

bool sk_pricing_load(const char *file, sk_prices *p, char *err, size_t size)
{
    enum { LONGEST = 1 << 16 };
    char text[LONGEST];
    FILE *f = fopen(file, "r");
    if (!f) {
        snprintf(err, size, "%s", strerror(errno));
        return false;
    }
    size_t n = fread(text, 1, sizeof text - 1, f);
    bool whole = !ferror(f) && feof(f) && !memchr(text, 0, n);
    fclose(f);
    text[n] = '\0';
    if (!whole)
        snprintf(err, size, "too long, or no text");
    return whole && sk_prices_read(text, p, err, size) == SK_OK;
}

/* ---- one price ---- */

typedef struct priced_call {
    const sk_callspec_args *args;
    const sk_algo *algo;
    const sk_rename *rename; /* may be NULL */
} priced_call;

static sk_status build(const void *ctx, int rank, sk_sched **out)
{
    const priced_call *p = ctx;
    sk_call c = sk_callspec_call(p->args, rank);
    if (p->rename)
        c = sk_call_renamed(&c, p->rename);
    return sk_algo_build(p->algo, &c, out);
}

static sk_status price(const sk_pricing *x, const sk_callspec *spec, priced_call *p, sk_priced *out)
{
    sk_renames renames = {0};
    sk_call c = sk_callspec_call(p->args, spec->root);
    if (p->algo->fits && !p->algo->fits(&c))
        return SK_BADARG;
    sk_status st = sk_renames_choose(&renames, x->select, p->algo, &c, &p->rename);
    if (st == SK_OK) {
        sk_price_case k = {.prices = &x->prices,
                           .machine = spec->machine,
                           .nranks = spec->nranks,
                           .root = spec->root,
                           .rename = p->rename,
                           .build = build,
                           .ctx = p,
                           .calls = x->calls};
        st = sk_price_call(&k, out);
    }
    sk_renames_free(&renames);
    return st;
}

bool sk_pricing_of(sk_pricing *x, const sk_algo *a, int64_t elems, sk_priced *out)
{
    sk_callspec spec = x->spec;
    sk_arena *arena = sk_arena_new();
    priced_call p = {.algo = a};
    *out = (sk_priced){0};
    spec.elems = elems;
    sk_callspec_round(&spec);
    p.args = arena ? sk_callspec_args_new(arena, &spec) : NULL;
    bool known = p.args && price(x, &spec, &p, out) == SK_OK;
    sk_arena_free(arena);
    x->built += out->steps + (int64_t)out->ranks * spec.nranks / 64; /* blocks are gone over, too */
    return known;
}

/* The cheapest algorithm at a size; NULL: none has a price. */
static const sk_algo *cheapest(sk_pricing *x, int64_t elems)
{
    const sk_algo *best = NULL;
    double least = 0;
    for (int i = 0; i < x->n; i++) {
        sk_priced p;
        if (sk_pricing_of(x, x->algo[i], elems, &p) && (!best || p.ns < least)) {
            best = x->algo[i];
            least = p.ns;
        }
    }
    return best;
}

/* ---- where another one is cheaper ---- */

int64_t sk_pricing_largest(const sk_pricing *x)
{
    enum { BYTES = 1 << 26, LEAST = 4096 };
    bool vector =
        sk_coll_reduces(x->spec.coll) || x->spec.coll == SK_BCAST || x->spec.coll == SK_ALLGATHERV;
    int64_t bytes = vector ? BYTES : BYTES / x->spec.nranks;
    bytes = bytes > LEAST ? bytes : LEAST;
    return bytes > x->spec.elem_size ? bytes / x->spec.elem_size : 1;
}

/* Between *in, where `algo` is the cheapest, and `out`, where *next is: moves both together to within an
 * eighth. */
static void narrow(sk_pricing *x, const sk_algo *algo, int64_t *in, int64_t out,
                   const sk_algo **next)
{
    while (x->built < MAX_BUILT) {
        int64_t gap = *in < out ? out - *in : *in - out, less = *in < out ? *in : out;
        if (gap <= 1 || gap <= less / 8)
            return;
        int64_t middle = less + gap / 2;
        const sk_algo *a = cheapest(x, middle);
        if (a == algo) {
            *in = middle;
        } else {
            out = middle;
            *next = a;
        }
    }
}

/* Moves *to from the size at which `algo` is the cheapest towards `last`, as far as it is. Returns who is
 * beyond; NULL: nobody. */
static const sk_algo *reach(sk_pricing *x, const sk_algo *algo, int64_t *to, int64_t last)
{
    while (*to != last && x->built < MAX_BUILT) {
        int64_t e = last > *to ? 4 * *to : *to / 4;
        e = last > *to ? (e < last ? e : last) : (e > last ? e : last);
        const sk_algo *a = cheapest(x, e);
        if (a != algo) {
            narrow(x, algo, to, e, &a);
            return a;
        }
        *to = e;
    }
    return NULL;
}

sk_price_range sk_pricing_range(sk_pricing *x, int64_t elems)
{
    int64_t largest = sk_pricing_largest(x);
    sk_price_range r = {.algo = cheapest(x, elems), .from = elems, .to = elems};
    if (!r.algo || x->spec.coll == SK_BARRIER || elems < 1)
        return r;
    r.below = reach(x, r.algo, &r.from, 1);
    if (elems < largest)
        r.above = reach(x, r.algo, &r.to, largest);
    r.cut = x->built >= MAX_BUILT;
    return r;
}

void sk_pricing_print_range(const sk_price_range *r, int64_t elem_size)
{
    if (!r->algo)
        return;
    printf("  predicted cheapest: %s", r->algo->name);
    if (r->below)
        printf(", from about %" PRId64 " bytes on (below: %s)", r->from * elem_size,
               r->below->name);
    if (r->above)
        printf(", up to about %" PRId64 " bytes (above: %s)", r->to * elem_size, r->above->name);
    printf("%s\n", r->below || r->above ? "" : r->cut ? " near this size" : " at every size");
}
