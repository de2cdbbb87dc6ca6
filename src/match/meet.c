/* meet.c: the operations of a matcher. The short way, for short queues without threads and trace,
 * is all in line; where the engine has a queue, the long way costs little more; a matcher with
 * threads or a trace locks and records around it. */
#include "match/matcher.h"
#include "match/trace.h"

#define SHORT_WAY static inline __attribute__((always_inline))

static inline sk_match_side other_side(sk_match_side side)
{
    return side == SK_POSTED ? SK_UNEXPECTED : SK_POSTED;
}

SHORT_WAY sk_tally *tally_of(sk_matcher *m, const sk_item *item, sk_match_side searched)
{
    return &m->tally[item->kind < SK_STATS_KINDS ? item->kind : 0][searched];
}

/* The trace gets a record of an operation, before it is done. */
static void record(sk_matcher *m, const sk_item *item, sk_match_side searched, sk_trace_op op)
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
        .id = op == SK_TRACE_PEEK ? 0 : (uint32_t)(fresh ? m->age : item->age),
        .kind = item->kind,
        .size = item->size,
        .op = (uint8_t)op,
        .depth = (uint32_t)m->side[searched].length,
    };
    sk_trace_write(m->trace, &r);
}

SHORT_WAY void brief_add(sk_matcher *m, sk_item *item, sk_match_side side)
{
    sk_matcher_side *s = &m->side[side];
    item->side = (uint8_t)side;
    sk_queue_push(&s->brief, item);
    if (++s->length > s->most)
        sk_side_longer(m, s);
}

SHORT_WAY void brief_take(sk_matcher_side *s, sk_item *item)
{
    sk_queue_remove(&s->brief, item);
    s->length--;
    item->side = SK_NSIDES;
}

/* One look for a partner. Where the engine has the queue, `take` unqueues what is found. */
SHORT_WAY sk_item *side_find(sk_matcher *m, const sk_item *item, sk_match_side side, bool handed,
                             bool take)
{
    const sk_engine *e = m->engine;
    sk_matcher_side *s = &m->side[side];
    sk_tally *t = tally_of(m, item, side);
    t->searches++;
    s->sum += s->length;
    if (s->length == 0)
        return NULL;
    sk_item *found;
    if (!handed)
        found = sk_queue_find(s->brief.head, side, item, &t->looked);
    else if (take && e->grab[side])
        found = e->grab[side](m->self, item, &t->looked);
    else if ((found = e->find(m->self, side, item, &t->looked)) && take)
        e->take(m->self, found);
    if (found)
        t->found++;
    return found;
}

SHORT_WAY void side_add(sk_matcher *m, sk_item *item, sk_match_side side)
{
    sk_matcher_side *s = &m->side[side];
    if (!s->handed) {
        brief_add(m, item, side);
        return;
    }
    item->side = (uint8_t)side;
    s->length++;
    m->engine->add(m->self, item);
}

/* The engine has unqueued an item. The longest length is only noted here: while the queue grows it
 * need not be known. */
SHORT_WAY void side_shrink(sk_matcher_side *s, sk_item *item)
{
    if (s->length > s->longest)
        s->longest = s->length;
    s->length--;
    item->side = SK_NSIDES;
}

/* An item of `side` looks for its partner on the other one, or waits; whoever has the queues. */
SHORT_WAY sk_item *meet_handed(sk_matcher *m, sk_item *item, sk_match_side side)
{
    sk_match_side other = other_side(side);
    sk_matcher_side *s = &m->side[other];
    bool handed = s->handed;
    item->age = m->age++;
    sk_item *found = side_find(m, item, other, handed, true);
    if (!found) {
        side_add(m, item, side);
        return NULL;
    }
    item->side = SK_NSIDES;
    if (!handed) {
        brief_take(s, found);
        return found;
    }
    side_shrink(s, found);
    if (s->length <= SK_FEW && s->length < m->engine->brief)
        sk_side_take_back(m, s, other);
    return found;
}

static __attribute__((noinline)) sk_item *post_handed(sk_matcher *m, sk_item *recv)
{
    return meet_handed(m, recv, SK_POSTED);
}

static __attribute__((noinline)) sk_item *deliver_handed(sk_matcher *m, sk_item *msg)
{
    return meet_handed(m, msg, SK_UNEXPECTED);
}

static __attribute__((noinline)) sk_item *meet_watched(sk_matcher *m, sk_item *item,
                                                       sk_match_side side)
{
    sk_matcher_lock(m);
    record(m, item, other_side(side), side == SK_POSTED ? SK_TRACE_POST : SK_TRACE_DELIVER);
    sk_item *found = side == SK_POSTED ? post_handed(m, item) : deliver_handed(m, item);
    sk_matcher_unlock(m);
    return found;
}

/* While one queue is long the other is empty as a rule: then the item just waits. */
SHORT_WAY sk_item *meet_long(sk_matcher *m, sk_item *item, sk_match_side side)
{
    sk_match_side other = other_side(side);
    if (m->watched)
        return meet_watched(m, item, side);
    if (m->side[other].length)
        return side == SK_POSTED ? post_handed(m, item) : deliver_handed(m, item);
    item->age = m->age++;
    tally_of(m, item, other)->searches++;
    side_add(m, item, side);
    return NULL;
}

static __attribute__((noinline)) sk_item *post_long(sk_matcher *m, sk_item *recv)
{
    return meet_long(m, recv, SK_POSTED);
}

static __attribute__((noinline)) sk_item *deliver_long(sk_matcher *m, sk_item *msg)
{
    return meet_long(m, msg, SK_UNEXPECTED);
}

SHORT_WAY sk_item *meet(sk_matcher *m, sk_item *item, sk_match_side side)
{
    sk_match_side other = other_side(side);
    if (m->special)
        return side == SK_POSTED ? post_long(m, item) : deliver_long(m, item);
    item->age = m->age++;
    sk_item *found = side_find(m, item, other, false, true);
    if (!found) {
        brief_add(m, item, side);
        return NULL;
    }
    item->side = SK_NSIDES;
    brief_take(&m->side[other], found);
    return found;
}

sk_item *sk_matcher_post(sk_matcher *m, sk_item *recv)
{
    return meet(m, recv, SK_POSTED);
}

sk_item *sk_matcher_deliver(sk_matcher *m, sk_item *msg)
{
    return meet(m, msg, SK_UNEXPECTED);
}

void sk_matcher_glance(sk_matcher *m, const sk_item *msg)
{
    if (m->side[SK_POSTED].handed && m->engine->glance && !m->watched)
        m->engine->glance(m->self, msg);
}

sk_item *sk_matcher_peek(sk_matcher *m, const sk_item *recv)
{
    sk_matcher_lock(m);
    record(m, recv, SK_UNEXPECTED, SK_TRACE_PEEK);
    sk_item *found = side_find(m, recv, SK_UNEXPECTED, m->side[SK_UNEXPECTED].handed, false);
    if (!found)
        tally_of(m, recv, SK_UNEXPECTED)->missed++;
    sk_matcher_unlock(m);
    return found;
}

static bool side_remove(sk_matcher *m, sk_item *item, sk_match_side side, sk_trace_op op)
{
    sk_matcher_side *s = &m->side[side];
    sk_matcher_lock(m);
    bool queued = item->side == side;
    if (queued) {
        record(m, item, side, op);
        if (s->handed) {
            m->engine->take(m->self, item);
            side_shrink(s, item);
        } else {
            brief_take(s, item);
        }
    }
    sk_matcher_unlock(m);
    return queued;
}

void sk_matcher_claim(sk_matcher *m, sk_item *msg)
{
    side_remove(m, msg, SK_UNEXPECTED, SK_TRACE_CLAIM);
}

bool sk_matcher_cancel(sk_matcher *m, sk_item *recv)
{
    return side_remove(m, recv, SK_POSTED, SK_TRACE_CANCEL);
}

sk_item *sk_matcher_next(sk_matcher *m, sk_match_side side, sk_item *after)
{
    const sk_matcher_side *s = &m->side[side];
    sk_item *item;
    sk_matcher_lock(m);
    if (s->handed)
        item = m->engine->next(m->self, side, after);
    else
        item = after ? after->next : s->brief.head;
    sk_matcher_unlock(m);
    return item;
}
