/* match.c: the life of a matcher, and its counts. */
#include "match/match.h"

#include <stdlib.h>

#include "match/matcher.h"

sk_status sk_matcher_new(const char *engine, const sk_match_config *config, sk_matcher **out)
{
    const sk_engine *e = sk_engine_find(engine);
    if (!e)
        return SK_BADARG;
    sk_matcher *m = calloc(1, sizeof *m);
    if (!m)
        return SK_NOMEM;
    m->engine = e;
    m->threads = config->threads;
    m->trace = config->trace;
    for (int side = 0; side < SK_NSIDES; side++)
        m->side[side].handed = e->brief == 0;
    m->watched = m->threads || m->trace;
    m->special = m->watched || e->brief == 0;
    if (e->make && !(m->self = e->make(config)))
        goto out;
    if (pthread_mutex_init(&m->lock, NULL) != 0)
        goto out;
    *out = m;
    return SK_OK;
out:
    if (m->self)
        e->drop(m->self);
    free(m);
    return SK_NOMEM;
}

void sk_matcher_free(sk_matcher *m)
{
    if (!m)
        return;
    if (m->self)
        m->engine->drop(m->self);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

const char *sk_matcher_engine(const sk_matcher *m)
{
    return m->engine->name;
}

static void stats_of_side(const sk_matcher *m, sk_match_side side, sk_match_stats *out)
{
    const sk_matcher_side *s = &m->side[side];
    sk_match_side other = side == SK_POSTED ? SK_UNEXPECTED : SK_POSTED;
    uint64_t searches = 0;
    for (int kind = 0; kind < SK_STATS_KINDS; kind++) {
        const sk_tally *t = &m->tally[kind][side], *from = &m->tally[kind][other];
        out->kind[kind][side] = (sk_side_stats){
            .searches = t->searches,
            .traversals = t->looked,
            .found = t->found,
            .added = from->searches - from->found - from->missed,
        };
        searches += t->searches;
    }
    out->length[side] = s->length;
    out->max_length[side] = s->length > s->longest ? s->length : s->longest;
    out->mean_length[side] = searches ? (double)s->sum / (double)searches : 0;
}

void sk_matcher_stats(const sk_matcher *m, sk_match_stats *out)
{
    sk_matcher *locked = (sk_matcher *)m; /* only the lock is written */
    *out = (sk_match_stats){0};
    sk_matcher_lock(locked);
    stats_of_side(m, SK_POSTED, out);
    stats_of_side(m, SK_UNEXPECTED, out);
    if (m->self)
        m->engine->count(m->self, out);
    out->bytes += sizeof *m;
    out->contended = m->contended;
    sk_matcher_unlock(locked);
}
