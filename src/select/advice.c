/* advice.c: what measured times advise for a call: see tuning.h. */
#include "select/tuning.h"

/* The logarithm to base 2, by straight lines between powers of two, and its inverse. Not those of the C library:
 * it has other code for other processors, and all ranks must find the same. */
static double log_of(double x)
{
    double e = 0;
    for (; x >= 2; x /= 2)
        e++;
    for (; x < 1; x *= 2)
        e--;
    return e + (x - 1);
}

static double power_of_two(double y)
{
    double x = 1;
    for (; y >= 1; y--)
        x *= 2;
    for (; y < 0; y++)
        x /= 2;
    return x * (1 + y);
}

/* Where something was measured: the number of ranks and the size. */
typedef struct corner {
    int ranks;
    int64_t bytes;
    double weight;
} corner;

enum { SIZES = 32 }; /* most that count for one number of ranks, where all of them do */

typedef struct advising {
    const sk_tuned *v; /* of the collective and form */
    int n;
    const sk_tuned *call;
    corner corner[2 * SIZES];
    int ncorners;
} advising;

static int power_of(int n)
{
    int p = 0;
    while (n >>= 1)
        p++;
    return p;
}

static int per_node(const sk_tuned *e)
{
    return (e->ranks + e->nodes - 1) / e->nodes;
}

static bool same_kind(const sk_tuned *a, const sk_tuned *b)
{
    return (a->nodes > 1) == (b->nodes > 1) && (a->nodes == 1 || per_node(a) == per_node(b)) &&
           power_of(a->neighbours) == power_of(b->neighbours);
}

/* The measured values next to `want`, among those that count; false: none is near enough. */
typedef struct bounds {
    int64_t lo, hi; /* -1: none */
} bounds;

static void take_bound(bounds *b, int64_t value, int64_t want)
{
    if (value <= want && value > b->lo)
        b->lo = value;
    if (value >= want && (b->hi < 0 || value < b->hi))
        b->hi = value;
}

static bool close_bounds(bounds *b, int64_t want, int64_t free_to)
{
    if (b->lo < 0 && b->hi > 2 * want && b->hi > free_to)
        b->hi = -1;
    if (b->hi < 0 && b->lo >= 0 && want > 2 * b->lo && want > free_to)
        b->lo = -1;
    if (b->lo < 0)
        b->lo = b->hi;
    if (b->hi < 0)
        b->hi = b->lo;
    return b->lo >= 0;
}

/* The weight of `hi`. */
static double part(const bounds *b, int64_t want)
{
    double lo = log_of((double)b->lo + 1), hi = log_of((double)b->hi + 1);
    return b->lo < b->hi ? (log_of((double)want + 1) - lo) / (hi - lo) : 0;
}

static void add_corner(advising *x, int ranks, int64_t bytes, double weight)
{
    if (weight > 0)
        x->corner[x->ncorners++] = (corner){ranks, bytes, weight};
}

/* All sizes on so many ranks; they are in order. */
static bool add_all_sizes(advising *x, int ranks, double weight)
{
    int first = x->ncorners;
    if (weight <= 0)
        return true;
    for (int i = 0; i < x->n && x->ncorners - first < SIZES; i++)
        if (x->v[i].ranks == ranks && same_kind(&x->v[i], x->call) &&
            (x->ncorners == first || x->corner[x->ncorners - 1].bytes != x->v[i].bytes))
            add_corner(x, ranks, x->v[i].bytes, weight);
    for (int i = first; i < x->ncorners; i++)
        x->corner[i].weight /= x->ncorners - first;
    return x->ncorners > first;
}

/* The sizes next to that of the call on so many ranks. */
static bool add_sizes(advising *x, int ranks, double weight)
{
    enum { CACHE_LINE = 64 };
    bounds b = {-1, -1};
    if (x->call->bytes == SK_TUNED_ANY_SIZE)
        return add_all_sizes(x, ranks, weight);
    for (int i = 0; i < x->n; i++)
        if (x->v[i].ranks == ranks && same_kind(&x->v[i], x->call))
            take_bound(&b, x->v[i].bytes, x->call->bytes);
    if (!close_bounds(&b, x->call->bytes, CACHE_LINE))
        return false;
    double hi = part(&b, x->call->bytes);
    add_corner(x, ranks, b.lo, weight * (1 - hi));
    add_corner(x, ranks, b.hi, weight * hi);
    return true;
}

static bool find_corners(advising *x)
{
    bounds b = {-1, -1};
    for (int i = 0; i < x->n; i++)
        if (same_kind(&x->v[i], x->call))
            take_bound(&b, x->v[i].ranks, x->call->ranks);
    if (!close_bounds(&b, x->call->ranks, 0))
        return false;
    double hi = part(&b, x->call->ranks);
    bool low = add_sizes(x, (int)b.lo, 1 - hi);
    return b.lo == b.hi ? low : add_sizes(x, (int)b.hi, hi) && low;
}

static double time_at(const advising *x, const corner *at, const sk_algo *a)
{
    for (int i = 0; i < x->n; i++)
        if (x->v[i].ranks == at->ranks && x->v[i].bytes == at->bytes && x->v[i].algo == a &&
            same_kind(&x->v[i], x->call))
            return x->v[i].us;
    return 0;
}

/* By the weights of the corners; 0: it was not measured at all of them. */
static double time_of(const advising *x, const sk_algo *a)
{
    double sum = 0;
    for (int i = 0; i < x->ncorners; i++) {
        double us = time_at(x, &x->corner[i], a);
        if (us <= 0)
            return 0;
        sum += x->corner[i].weight * log_of(us);
    }
    return x->ncorners ? power_of_two(sum) : 0;
}

/* Below this part of the other's time one is clearly faster, as in select/guard.c. */
static const double clearly = 0.95;

static bool host_is_faster(const advising *x, const sk_advice *than)
{
    if (!(than->host_us > 0 && than->host_us < clearly * than->us))
        return false;
    for (int i = 0; x->call->bytes == SK_TUNED_ANY_SIZE && i < x->ncorners; i++)
        if (time_at(x, &x->corner[i], NULL) >= clearly * time_at(x, &x->corner[i], than->algo))
            return false;
    return true;
}

static bool choose(const advising *x, sk_tuning_able *able, const void *ctx, sk_advice *out)
{
    *out = (sk_advice){.host_us = time_of(x, NULL)};
    for (const sk_algo *const *a = sk_algos(); *a; a++) {
        double us = (*a)->coll == x->call->coll ? time_of(x, *a) : 0;
        if (us > 0 && (!out->algo || us < out->us) && able(ctx, *a)) {
            out->algo = *a;
            out->us = us;
        }
    }
    out->host = host_is_faster(x, out);
    out->measured = x->ncorners == 1 && x->corner[0].ranks == x->call->ranks &&
                    x->corner[0].bytes == x->call->bytes;
    return out->algo;
}

/* Only what was measured at the nearest corner. */
static void keep_nearest(advising *x)
{
    for (int i = 1; i < x->ncorners; i++)
        if (x->corner[i].weight > x->corner[0].weight)
            x->corner[0] = x->corner[i];
    x->corner[0].weight = 1;
    x->ncorners = 1;
}

static bool find_rows(advising *x, const sk_tuned *v, int n, sk_form form)
{
    int first = 0;
    while (first < n && (v[first].coll != x->call->coll || v[first].form != form))
        first++;
    if (first == n)
        return false;
    x->v = v + first;
    x->n = 0;
    while (first + x->n < n && x->v[x->n].coll == x->call->coll && x->v[x->n].form == form)
        x->n++;
    x->ncorners = 0;
    return find_corners(x);
}

bool sk_tuning_advise(sk_tuning *t, int machine, const sk_tuned *call, sk_tuning_able *able,
                      const void *ctx, sk_advice *out)
{
    advising x = {.call = call};
    int n;
    const sk_tuned *v = sk_tuning_times(t, machine, &n);
    if (call->ranks < 2 || call->nodes < 1)
        return false;
    bool own = find_rows(&x, v, n, call->form);
    if (!own && (call->form == SK_BLOCKING || !find_rows(&x, v, n, SK_BLOCKING)))
        return false;
    bool found = choose(&x, able, ctx, out);
    if (!found) {
        keep_nearest(&x);
        found = choose(&x, able, ctx, out);
    }
    out->host = out->host && own;
    return found;
}
