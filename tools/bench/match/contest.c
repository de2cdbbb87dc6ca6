#include "bench/match/contest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const sk_contestant *sk_contest_find(const sk_contest *k, const char *engine)
{
    for (int i = 0; i < k->n; i++)
        if (strcmp(k->c[i].engine, engine) == 0)
            return &k->c[i];
    return NULL;
}

const sk_contestant *sk_contest_any(const sk_contest *k)
{
    const sk_contestant *best = NULL;
    for (int i = 0; i < k->n; i++)
        if (k->c[i].fate == SK_FATE_RAN && (!best || k->c[i].played.seconds < best->played.seconds))
            best = &k->c[i];
    return best;
}

/* Every engine once; who differs from the first that ran to the end is wrong. */
static sk_status check(sk_contest *k, sk_player *p)
{
    const sk_contestant *first = NULL;
    for (int i = 0; i < k->n; i++) {
        sk_contestant *c = &k->c[i];
        c->fate = SK_FATE_TOO_LONG;
        c->ns = c->ratio.lo = c->ratio.mid = c->ratio.hi = NAN;
        c->rounds = 0;
        if (c->left_out)
            continue;
        sk_status st = sk_player_run(p, c->engine, &k->config, k->limit, &c->played);
        if (st != SK_OK)
            return st;
        if (!c->played.complete)
            continue;
        if (!first)
            first = c;
        c->fate = c->played.result == first->played.result ? SK_FATE_RAN : SK_FATE_WRONG;
    }
    return SK_OK;
}

bool sk_contest_wrong(const sk_contest *k)
{
    for (int i = 0; i < k->n; i++)
        if (k->c[i].fate == SK_FATE_WRONG)
            return true;
    return false;
}

static int rounds_that_fit(const sk_contest *k)
{
    double once = 0;
    for (int i = 0; i < k->n; i++)
        once += k->c[i].fate == SK_FATE_RAN ? k->c[i].played.seconds : 0;
    double fit = once > 0 ? k->seconds / once : k->rounds;
    return fit >= k->rounds ? k->rounds : fit < 1 ? 1 : (int)fit;
}

/* One play of each, starting with another one every round. They must agree here too: an engine that
 * looks at items which have gone may only now be wrong, when others have taken their places. */
static sk_status play_round(sk_contest *k, sk_player *p, int round, double *seconds)
{
    bool first = true;
    uint64_t want = 0;
    for (int i = 0; i < k->n; i++) {
        int at = (i + round) % k->n;
        sk_contestant *c = &k->c[at];
        sk_played played;
        if (c->fate != SK_FATE_RAN)
            continue;
        sk_status st = sk_player_run(p, c->engine, &k->config, INFINITY, &played);
        if (st != SK_OK)
            return st;
        seconds[at] = played.seconds;
        if (first)
            want = played.result;
        first = false;
        if (played.result != want)
            c->fate = SK_FATE_WRONG;
    }
    return SK_OK;
}

/* `seconds` holds k->n times for every round. */
static void evaluate(sk_contest *k, const double *seconds, double *v, int rounds)
{
    const sk_contestant *list = sk_contest_find(k, "list");
    bool base = list && list->fate == SK_FATE_RAN;
    for (int i = 0; i < k->n; i++) {
        sk_contestant *c = &k->c[i];
        if (c->fate != SK_FATE_RAN)
            continue;
        uint64_t matches = c->played.matches ? c->played.matches : 1;
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

static sk_status time_rounds(sk_contest *k, sk_player *p)
{
    int rounds = rounds_that_fit(k);
    double *seconds = calloc((size_t)rounds * (size_t)(k->n + 1), sizeof *seconds);
    if (!seconds)
        return SK_NOMEM;
    sk_status st = SK_OK;
    for (int r = 0; r < rounds && st == SK_OK && !sk_contest_wrong(k); r++)
        st = play_round(k, p, r, seconds + r * k->n);
    if (st == SK_OK && !sk_contest_wrong(k))
        evaluate(k, seconds, seconds + rounds * k->n, rounds);
    free(seconds);
    return st;
}

sk_status sk_contest_run(sk_contest *k, const sk_stream *s, char *err, size_t size)
{
    sk_player *p = NULL;
    sk_played again;
    sk_status st = sk_player_new(s, &p);
    if (st == SK_OK)
        st = check(k, p);
    const sk_contestant *best = sk_contest_any(k);
    if (st != SK_OK || !best || sk_contest_wrong(k))
        goto out;
    /* The places are those of the last play, which may have been given up. */
    st = sk_player_run(p, best->engine, &k->config, INFINITY, &again);
    if (st == SK_OK)
        st = sk_player_pack(p);
    if (st == SK_OK)
        st = time_rounds(k, p);
out:
    sk_player_free(p);
    if (st == SK_BADARG)
        snprintf(err, size, "it claims or cancels an item that has gone");
    else if (st != SK_OK)
        snprintf(err, size, "%s", sk_status_text(st));
    return st;
}
