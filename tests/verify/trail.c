#include "trail.h"

#include <stdlib.h>
#include <string.h>

enum { CHANGED = 2 }; /* beside TRAIL_READ, one flag byte for each byte moved */

typedef struct event {
    int64_t to, from, n;
    int64_t flags; /* where this event's flags start */
    bool reduce;
} event;

typedef struct message {
    int from, to;
    int64_t flags, len;
} message;

struct trail {
    event *events;
    message *messages;
    unsigned char *flags;
    int64_t nevents, nmessages, nflags;
    int64_t events_cap, messages_cap, flags_cap;
    bool failed;
};

trail *trail_new(void)
{
    return calloc(1, sizeof(trail));
}

void trail_free(trail *t)
{
    if (!t)
        return;
    free(t->events);
    free(t->messages);
    free(t->flags);
    free(t);
}

static bool grow(trail *t, void **array, size_t size, int64_t need, int64_t *cap)
{
    if (need <= *cap)
        return true;
    void *p = realloc(*array, (size_t)need * 2 * size);
    if (!p) {
        t->failed = true;
        return false;
    }
    *array = p;
    *cap = need * 2;
    return true;
}

static event *add(trail *t, event e)
{
    void *events = t->events, *flags = t->flags;
    bool ok = grow(t, &events, sizeof e, t->nevents + 1, &t->events_cap);
    t->events = events;
    ok = ok && grow(t, &flags, 1, t->nflags + e.n, &t->flags_cap);
    t->flags = flags;
    if (!ok)
        return NULL;
    e.flags = t->nflags;
    memset(t->flags + e.flags, 0, (size_t)e.n);
    t->nflags += e.n;
    t->events[t->nevents] = e;
    return &t->events[t->nevents++];
}

/* The flags of its moves are the ones that come next. */
void trail_message(trail *t, int from, int to, int64_t len)
{
    void *messages = t->messages;
    bool ok = grow(t, &messages, sizeof *t->messages, t->nmessages + 1, &t->messages_cap);
    t->messages = messages;
    if (ok)
        t->messages[t->nmessages++] = (message){from, to, t->nflags, len};
}

void trail_move(trail *t, const shade *now, int64_t to, int64_t from, int64_t n)
{
    event *e = add(t, (event){.to = to, .from = from, .n = n});
    for (int64_t i = 0; e && i < n; i++)
        t->flags[e->flags + i] = now[to + i] != now[from + i] ? CHANGED : 0;
}

void trail_reduce(trail *t, int64_t to, int64_t from, int64_t n)
{
    add(t, (event){.to = to, .from = from, .n = n, .reduce = true});
}

bool trail_close(trail *t, int64_t users, int64_t total)
{
    bool *wanted = calloc((size_t)total + 1, sizeof *wanted);
    if (!wanted || t->failed) {
        free(wanted);
        return false;
    }
    memset(wanted, true, (size_t)users);
    for (int64_t k = t->nevents - 1; k >= 0; k--) {
        const event *e = &t->events[k];
        for (int64_t i = 0; i < e->n; i++) {
            bool read = wanted[e->to + i];
            t->flags[e->flags + i] |= read ? TRAIL_READ : 0;
            wanted[e->to + i] = read && e->reduce;
            wanted[e->from + i] |= read;
        }
    }
    free(wanted);
    return true;
}

bool trail_matters(const trail *t, int from, int to, int nth, int64_t n, unsigned how)
{
    for (int64_t k = 0; k < t->nmessages; k++) {
        const message *m = &t->messages[k];
        if (m->from != from || m->to != to || nth-- > 0)
            continue;
        for (int64_t i = n < m->len ? m->len - n : 0; i < m->len; i++)
            if ((t->flags[m->flags + i] & how) == how)
                return true;
        return false;
    }
    return false;
}

bool trail_matters_at(const trail *t, int64_t to, int64_t from, int64_t n, unsigned how)
{
    for (int64_t k = 0; k < t->nevents; k++) {
        const event *e = &t->events[k];
        int64_t lo = to > e->to ? to : e->to, hi = to + n < e->to + e->n ? to + n : e->to + e->n;
        if (from >= 0 && from - to != e->from - e->to)
            continue;
        unsigned asked = e->reduce ? how & TRAIL_READ : how; /* what is reduced is always news */
        for (int64_t i = lo - e->to; i < hi - e->to; i++)
            if ((t->flags[e->flags + i] & asked) == asked)
                return true;
    }
    return false;
}
