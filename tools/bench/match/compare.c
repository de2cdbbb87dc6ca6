/* compare.c: see compare.h. */
#include "bench/match/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const sk_engine_result *sk_compare_find(const sk_comparison *k, const char *engine)
{
    for (int i = 0; i < k->n; i++)
        if (strcmp(k->c[i].engine, engine) == 0)
            return &k->c[i];
    return NULL;
}

const sk_engine_result *sk_compare_fastest(const sk_comparison *k)
{
    const sk_engine_result *best = NULL;
    for (int i = 0; i < k->n; i++)
        if (k->c[i].state == SK_COMPARE_OK &&
            (!best || k->c[i].first.seconds < best->first.seconds))
            best = &k->c[i];
    return best;
}

/* Runs every engine once. An engine that differs from the first complete run is wrong. */
static sk_status check(sk_comparison *k, sk_replay *p)
{
    const sk_engine_result *reference = NULL;
    for (int i = 0; i < k->n; i++) {
        sk_engine_result *c = &k->c[i];
        c->state = SK_COMPARE_TOO_LONG;
        c->ns = c->ratio.lo = c->ratio.mid = c->ratio.hi = NAN;
        c->rounds = 0;
        if (c->left_out)
            continue;
        sk_status st = sk_replay_run(p, c->engine, &k->config, k->limit, &c->first);
        if (st != SK_OK)
            return st;
        if (!c->first.complete)
            continue;
        if (!reference)
            reference = c;
        c->state = c->first.result == reference->first.result ? SK_COMPARE_OK : SK_COMPARE_WRONG;
    }
    return SK_OK;
}

bool sk_compare_wrong(const sk_comparison *k)
{
    for (int i = 0; i < k->n; i++)
        if (k->c[i].state == SK_COMPARE_WRONG)
            return true;
    return false;
}

static int rounds_that_fit(const sk_comparison *k)
{
    double once = 0;
    for (int i = 0; i < k->n; i++)
        once += k->c[i].state == SK_COMPARE_OK ? k->c[i].first.seconds : 0;
    double fit = once > 0 ? k->seconds / once : k->rounds;
    return fit >= k->rounds ? k->rounds : fit < 1 ? 1 : (int)fit;
}

/* Runs each engine once, starting with another one every round. They must agree here, too: an
 * engine that reads items which are gone may show it only now, when others use their memory. */
static sk_status run_round(sk_comparison *k, sk_replay *p, int round, double *seconds)
{
    bool first = true;
    uint64_t want = 0;
    for (int i = 0; i < k->n; i++) {
        int at = (i + round) % k->n;
        sk_engine_result *c = &k->c[at];
        sk_replay_result result;
        if (c->state != SK_COMPARE_OK)
            continue;
        sk_status st = sk_replay_run(p, c->engine, &k->config, INFINITY, &result);
        if (st != SK_OK)
            return st;
        seconds[at] = result.seconds;
        if (first)
            want = result.result;
        first = false;
        if (result.result != want)
            c->state = SK_COMPARE_WRONG;
    }
    return SK_OK;
}

/* `seconds` holds k->n times for every round. */
static void evaluate(sk_comparison *k, const double *seconds, double *v, int rounds)
{
    const sk_engine_result *list = sk_compare_find(k, "list");
    bool base = list && list->state == SK_COMPARE_OK;
    for (int i = 0; i < k->n; i++) {
        sk_engine_result *c = &k->c[i];
        if (c->state != SK_COMPARE_OK)
            continue;
        uint64_t matches = c->first.matches ? c->first.matches : 1;
        for (int r = 0; r < rounds; r++)
            v[r] = seconds[r * k->n + i];
        c->ns = 1e9 * sk_median(v, rounds) / (double)matches;
        c->rounds = rounds;
        for (int r = 0; base && r < rounds; r++)
            v[r] = seconds[r * k->n + (list - k->c)] / seconds[r * k->n + i];
        if (base)
            c->ratio = sk_spread_of(v, rounds);
    }
}

static sk_status time_rounds(sk_comparison *k, sk_replay *p)
{
    int rounds = rounds_that_fit(k);
    double *seconds = calloc((size_t)rounds * (size_t)(k->n + 1), sizeof *seconds);
    if (!seconds)
        return SK_NOMEM;
    sk_status st = SK_OK;
    for (int r = 0; r < rounds && st == SK_OK && !sk_compare_wrong(k); r++)
        st = run_round(k, p, r, seconds + r * k->n);
    if (st == SK_OK && !sk_compare_wrong(k))
        evaluate(k, seconds, seconds + rounds * k->n, rounds);
    free(seconds);
    return st;
}

sk_status sk_compare_run(sk_comparison *k, const sk_stream *s, char *err, size_t size)
{
    sk_replay *p = NULL;
    sk_replay_result again;
    sk_status st = sk_replay_new(s, &p);
    if (st == SK_OK)
        st = check(k, p);
    const sk_engine_result *best = sk_compare_fastest(k);
    if (st != SK_OK || !best || sk_compare_wrong(k))
        goto out;
    /* sk_replay_reuse_items needs a complete run; the last one may have stopped at the limit. */
    st = sk_replay_run(p, best->engine, &k->config, INFINITY, &again);
    if (st == SK_OK)
        st = sk_replay_reuse_items(p);
    if (st == SK_OK)
        st = time_rounds(k, p);
out:
    sk_replay_free(p);
    if (st == SK_BADARG)
        snprintf(err, size, "it claims or cancels an item that has gone");
    else if (st != SK_OK)
        snprintf(err, size, "%s", sk_status_text(st));
    return st;
}
