/* matcher.c: the operations of a matcher. There are three paths:
 *
 *   fast     short queues, no threads, no trace: a plain list per side, all inline
 *   engine   a queue has been handed over to the engine: costs little more
 *   guarded  threads or a trace: takes the lock and writes the trace around the engine path
 *
 * The second half of the file creates and destroys matchers, reports their counts and finds engines
 * by name. */
#include "match/matcher.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "match/engine.h"
#include "match/queue.h"
#include "match/trace.h"

/* The matcher takes a queue back from the engine when at most this many items are left. */
enum { TAKE_BACK_MAX = 4 };

typedef struct matcher_side {
    sk_match_queue list; /* the queue, unless the engine has it */
    uint64_t length;
    uint64_t longest;    /* so far; while the engine's queue grows, this is not kept up to date */
    uint64_t list_limit; /* list_grown is called when the list gets longer */
    uint64_t length_sum; /* of the lengths that searches met */
    bool in_engine;      /* the engine has the queue */
} matcher_side;

/* What the searches of one kind in one queue did. */
typedef struct search_counts {
    uint64_t searches, traversed, found;
    uint64_t
        missed; /* probes that found nothing; every other search without a match adds an item */
} search_counts;

struct sk_matcher {
    bool off_fast_path; /* guarded, or the engine has a queue */
    bool guarded;       /* threads or a trace */
    bool threads;
    uint64_t next_seq; /* also the number of the next item in the trace */
    matcher_side side[SK_NSIDES];
    const sk_engine *engine;
    void *self; /* of the engine; NULL: the matcher keeps all queues */
    sk_trace *trace;
    uint64_t contended;
    pthread_mutex_t lock;
    /* By kind of the searching item and by side searched. */
    search_counts counts[SK_STATS_KINDS][SK_NSIDES];
};

#define NOINLINE static __attribute__((noinline))
#define COLD     static __attribute__((noinline, cold))

static inline void matcher_lock(sk_matcher *m)
{
    if (!m->threads || pthread_mutex_trylock(&m->lock) == 0)
        return;
    pthread_mutex_lock(&m->lock);
    m->contended++;
}

static inline void matcher_unlock(sk_matcher *m)
{
    if (m->threads)
        pthread_mutex_unlock(&m->lock);
}

static inline sk_match_side other_side(sk_match_side side)
{
    return side == SK_POSTED ? SK_UNEXPECTED : SK_POSTED;
}

static SK_INLINED search_counts *counts_of(sk_matcher *m, const sk_match_item *item,
                                           sk_match_side searched)
{
    return &m->counts[item->kind < SK_STATS_KINDS ? item->kind : 0][searched];
}

/* Writes an operation to the trace, before it is carried out. */
static void record(sk_matcher *m, const sk_match_item *item, sk_match_side searched, sk_trace_op op)
{
    bool fresh = op == SK_TRACE_POST || op == SK_TRACE_DELIVER;
    if (!m->trace)
        return;
    sk_trace_record r = {
        .tag = item->tag,
        .ignore = item->ignore,
        .source = item->source,
        .nranks = item->nranks,
        .call = item->call,
        .id = op == SK_TRACE_PROBE ? 0 : (uint32_t)(fresh ? m->next_seq : item->seq),
        .kind = item->kind,
        .size = item->size,
        .op = (uint8_t)op,
        .depth = (uint32_t)m->side[searched].length,
    };
    sk_trace_write(m->trace, &r);
}

/* Handover of a queue between the matcher and its engine. */

/* Call it when a queue was handed over or taken back, or when its longest length has changed. */
static void side_update(sk_matcher *m, matcher_side *s)
{
    uint64_t limit = m->engine->short_limit;
    s->list_limit = s->longest < limit ? s->longest : limit;
    if (!m->guarded) /* a guarded matcher never leaves that path; threads read this unlocked */
        m->off_fast_path = m->side[SK_POSTED].in_engine || m->side[SK_UNEXPECTED].in_engine;
}

static void hand_over(sk_matcher *m, matcher_side *s)
{
    for (sk_match_item *item = s->list.head, *next; item; item = next) {
        next = item->next;
        m->engine->add(m->self, item);
    }
    s->list = (sk_match_queue){0};
    s->in_engine = true;
}

/* Takes the last items back from the engine and sorts them by sequence number. */
COLD void take_back(sk_matcher *m, matcher_side *s, sk_match_side side)
{
    sk_match_item *items[TAKE_BACK_MAX];
    int n = 0;
    for (sk_match_item *item; (item = m->engine->next(m->self, side, NULL)); n++) {
        int at = n;
        m->engine->remove(m->self, item);
        for (; at > 0 && items[at - 1]->seq > item->seq; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
    for (int i = 0; i < n; i++)
        sk_match_queue_push(&s->list, items[i]);
    s->in_engine = false;
    side_update(m, s);
}

/* The list is longer than list_limit: it is the longest so far, or too long for the matcher. */
COLD void list_grown(sk_matcher *m, matcher_side *s)
{
    if (s->length > s->longest)
        s->longest = s->length;
    if (s->length > m->engine->short_limit)
        hand_over(m, s);
    side_update(m, s);
}

/* Operations on one side. */

static SK_INLINED void list_add(sk_matcher *m, sk_match_item *item, sk_match_side side)
{
    matcher_side *s = &m->side[side];
    item->side = (uint8_t)side;
    sk_match_queue_push(&s->list, item);
    if (++s->length > s->list_limit)
        list_grown(m, s);
}

static SK_INLINED void list_remove(matcher_side *s, sk_match_item *item)
{
    sk_match_queue_remove(&s->list, item);
    s->length--;
    item->side = SK_NSIDES;
}

/* One search. If the engine has the queue, `remove` also removes the item found. */
static SK_INLINED sk_match_item *side_find(sk_matcher *m, const sk_match_item *item,
                                           sk_match_side side, bool in_engine, bool remove)
{
    const sk_engine *e = m->engine;
    matcher_side *s = &m->side[side];
    search_counts *c = counts_of(m, item, side);
    c->searches++;
    s->length_sum += s->length;
    if (s->length == 0)
        return NULL;
    sk_match_item *found;
    if (!in_engine)
        found = sk_match_queue_find(s->list.head, side, item, &c->traversed);
    else if (remove && e->extract[side])
        found = e->extract[side](m->self, item, &c->traversed);
    else if ((found = e->find(m->self, side, item, &c->traversed)) && remove)
        e->remove(m->self, found);
    if (found)
        c->found++;
    return found;
}

static SK_INLINED void side_add(sk_matcher *m, sk_match_item *item, sk_match_side side)
{
    matcher_side *s = &m->side[side];
    if (!s->in_engine) {
        list_add(m, item, side);
        return;
    }
    item->side = (uint8_t)side;
    s->length++;
    m->engine->add(m->self, item);
}

/* The engine has removed an item. The longest length is noted only here, not while the queue
 * grows. */
static SK_INLINED void side_removed(matcher_side *s, sk_match_item *item)
{
    if (s->length > s->longest)
        s->longest = s->length;
    s->length--;
    item->side = SK_NSIDES;
}

/* The engine path: either side may be in the engine. */
static SK_INLINED sk_match_item *match_in_engine(sk_matcher *m, sk_match_item *item,
                                                 sk_match_side side)
{
    sk_match_side other = other_side(side);
    matcher_side *s = &m->side[other];
    bool in_engine = s->in_engine;
    item->seq = m->next_seq++;
    sk_match_item *found = side_find(m, item, other, in_engine, true);
    if (!found) {
        side_add(m, item, side);
        return NULL;
    }
    item->side = SK_NSIDES;
    if (!in_engine) {
        list_remove(s, found);
        return found;
    }
    side_removed(s, found);
    if (s->length <= TAKE_BACK_MAX && s->length < m->engine->short_limit)
        take_back(m, s, other);
    return found;
}

NOINLINE sk_match_item *post_in_engine(sk_matcher *m, sk_match_item *recv)
{
    return match_in_engine(m, recv, SK_POSTED);
}

NOINLINE sk_match_item *deliver_in_engine(sk_matcher *m, sk_match_item *msg)
{
    return match_in_engine(m, msg, SK_UNEXPECTED);
}

NOINLINE sk_match_item *match_guarded(sk_matcher *m, sk_match_item *item, sk_match_side side)
{
    matcher_lock(m);
    record(m, item, other_side(side), side == SK_POSTED ? SK_TRACE_POST : SK_TRACE_DELIVER);
    sk_match_item *found = side == SK_POSTED ? post_in_engine(m, item) : deliver_in_engine(m, item);
    matcher_unlock(m);
    return found;
}

/* While one queue is long, the other one is usually empty. Then the item is queued at once. */
static SK_INLINED sk_match_item *match_slow(sk_matcher *m, sk_match_item *item, sk_match_side side)
{
    sk_match_side other = other_side(side);
    if (m->guarded)
        return match_guarded(m, item, side);
    if (m->side[other].length)
        return side == SK_POSTED ? post_in_engine(m, item) : deliver_in_engine(m, item);
    item->seq = m->next_seq++;
    counts_of(m, item, other)->searches++;
    side_add(m, item, side);
    return NULL;
}

NOINLINE sk_match_item *post_slow(sk_matcher *m, sk_match_item *recv)
{
    return match_slow(m, recv, SK_POSTED);
}

NOINLINE sk_match_item *deliver_slow(sk_matcher *m, sk_match_item *msg)
{
    return match_slow(m, msg, SK_UNEXPECTED);
}

/* An item of `side` gets the oldest matching item of the other side, or is queued. */
static SK_INLINED sk_match_item *match(sk_matcher *m, sk_match_item *item, sk_match_side side)
{
    sk_match_side other = other_side(side);
    if (m->off_fast_path)
        return side == SK_POSTED ? post_slow(m, item) : deliver_slow(m, item);
    item->seq = m->next_seq++;
    sk_match_item *found = side_find(m, item, other, false, true);
    if (!found) {
        list_add(m, item, side);
        return NULL;
    }
    item->side = SK_NSIDES;
    list_remove(&m->side[other], found);
    return found;
}

sk_match_item *sk_matcher_post(sk_matcher *m, sk_match_item *recv)
{
    return match(m, recv, SK_POSTED);
}

sk_match_item *sk_matcher_deliver(sk_matcher *m, sk_match_item *msg)
{
    return match(m, msg, SK_UNEXPECTED);
}

void sk_matcher_prefetch(sk_matcher *m, const sk_match_item *msg)
{
    if (m->side[SK_POSTED].in_engine && m->engine->prefetch && !m->guarded)
        m->engine->prefetch(m->self, msg);
}

sk_match_item *sk_matcher_probe(sk_matcher *m, const sk_match_item *recv)
{
    matcher_lock(m);
    record(m, recv, SK_UNEXPECTED, SK_TRACE_PROBE);
    sk_match_item *found =
        side_find(m, recv, SK_UNEXPECTED, m->side[SK_UNEXPECTED].in_engine, false);
    if (!found)
        counts_of(m, recv, SK_UNEXPECTED)->missed++;
    matcher_unlock(m);
    return found;
}

static bool side_remove(sk_matcher *m, sk_match_item *item, sk_match_side side, sk_trace_op op)
{
    matcher_side *s = &m->side[side];
    matcher_lock(m);
    bool queued = item->side == side;
    if (queued) {
        record(m, item, side, op);
        if (s->in_engine) {
            m->engine->remove(m->self, item);
            side_removed(s, item);
        } else {
            list_remove(s, item);
        }
    }
    matcher_unlock(m);
    return queued;
}

void sk_matcher_claim(sk_matcher *m, sk_match_item *msg)
{
    side_remove(m, msg, SK_UNEXPECTED, SK_TRACE_CLAIM);
}

bool sk_matcher_cancel(sk_matcher *m, sk_match_item *recv)
{
    return side_remove(m, recv, SK_POSTED, SK_TRACE_CANCEL);
}

sk_match_item *sk_matcher_next(sk_matcher *m, sk_match_side side, sk_match_item *after)
{
    const matcher_side *s = &m->side[side];
    sk_match_item *item;
    matcher_lock(m);
    if (s->in_engine)
        item = m->engine->next(m->self, side, after);
    else
        item = after ? after->next : s->list.head;
    matcher_unlock(m);
    return item;
}

/* The engines by name and number. */

static const sk_engine *const engines[] = {
#define ENGINE(id) &sk_engine_##id,
#include "match/engines.def"
#undef ENGINE
};
static const int nengines = sizeof engines / sizeof engines[0];

const char *sk_engine_name(int i)
{
    return i >= 0 && i < nengines ? engines[i]->name : NULL;
}

const char *sk_engine_help(int i)
{
    return i >= 0 && i < nengines ? engines[i]->help : NULL;
}

const char *sk_engine_default(void)
{
    return sk_engine_flat.name;
}

/* NULL or "" is the default. Returns NULL if there is no such engine. */
static const sk_engine *engine_find(const char *name)
{
    if (!name || !*name)
        name = sk_engine_default();
    for (int i = 0; i < nengines; i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}

/* Creation, destruction, statistics. */

sk_status sk_matcher_new(const char *engine, const sk_match_config *config, sk_matcher **out)
{
    const sk_engine *e = engine_find(engine);
    if (!e)
        return SK_BADARG;
    sk_matcher *m = calloc(1, sizeof *m);
    if (!m)
        return SK_NOMEM;
    m->engine = e;
    m->threads = config->threads;
    m->trace = config->trace;
    for (int side = 0; side < SK_NSIDES; side++)
        m->side[side].in_engine = e->short_limit == 0;
    m->guarded = m->threads || m->trace;
    m->off_fast_path = m->guarded || e->short_limit == 0;
    if (e->create && !(m->self = e->create(config)))
        goto out;
    if (pthread_mutex_init(&m->lock, NULL) != 0)
        goto out;
    *out = m;
    return SK_OK;
out:
    if (m->self)
        e->destroy(m->self);
    free(m);
    return SK_NOMEM;
}

void sk_matcher_free(sk_matcher *m)
{
    if (!m)
        return;
    if (m->self)
        m->engine->destroy(m->self);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

const char *sk_matcher_engine(const sk_matcher *m)
{
    return m->engine->name;
}

static void stats_of_side(const sk_matcher *m, sk_match_side side, sk_match_stats *out)
{
    const matcher_side *s = &m->side[side];
    sk_match_side other = other_side(side);
    uint64_t searches = 0;
    for (int kind = 0; kind < SK_STATS_KINDS; kind++) {
        const search_counts *c = &m->counts[kind][side], *from = &m->counts[kind][other];
        out->kind[kind][side] = (sk_side_stats){
            .searches = c->searches,
            .traversals = c->traversed,
            .found = c->found,
            .added = from->searches - from->found - from->missed,
        };
        searches += c->searches;
    }
    out->length[side] = s->length;
    out->max_length[side] = s->length > s->longest ? s->length : s->longest;
    out->mean_length[side] = searches ? (double)s->length_sum / (double)searches : 0;
}

void sk_matcher_stats(const sk_matcher *m, sk_match_stats *out)
{
    sk_matcher *locked = (sk_matcher *)m; /* only the lock is written */
    *out = (sk_match_stats){0};
    matcher_lock(locked);
    stats_of_side(m, SK_POSTED, out);
    stats_of_side(m, SK_UNEXPECTED, out);
    if (m->self)
        m->engine->stats(m->self, out);
    out->bytes += sizeof *m;
    out->contended = m->contended;
    matcher_unlock(locked);
}
