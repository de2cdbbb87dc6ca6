#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "trail.h"

enum { GUARD = 40, GROWS_AHEAD = 4 << 20, UNWRITTEN = 0xa5 };

static void hook_move(void *ctx, void *to, const void *from, int64_t n)
{
    world *w = ctx;
    int64_t t = (unsigned char *)to - w->mem, f = (const unsigned char *)from - w->mem;
    if (w->trail)
        trail_move(w->trail, w->now, t, f, n);
    memmove(to, from, (size_t)n);
    memmove(w->now + t, w->now + f, (size_t)n * sizeof(shade));
}

/* A user's byte always equals the low byte of its shade, so bytes that went another way show. */
static void hook_reduce(void *ctx, const void *in, void *inout, int64_t n)
{
    world *w = ctx;
    int64_t t = (unsigned char *)inout - w->mem, f = (const unsigned char *)in - w->mem;
    if (w->trail)
        trail_reduce(w->trail, t, f, n);
    for (int64_t i = 0; i < n; i++) {
        w->now[t + i] = shade_join(w->alg, w->now[f + i], w->now[t + i]);
        w->mem[t + i] = (unsigned char)w->now[t + i];
    }
}

/* What a rank hears in a round it can pass on in the next one at the earliest. */
static void hook_match(void *ctx, int from, int to, int64_t len)
{
    world *w = ctx;
    if (w->trail)
        trail_message(w->trail, from, to, len);
    for (int i = 0; i < w->words; i++)
        w->news[to * w->words + i] |= w->heard[from * w->words + i];
}

static void hook_round_over(void *ctx, int rank)
{
    world *w = ctx;
    for (int i = 0; i < w->words; i++)
        w->heard[rank * w->words + i] |= w->news[rank * w->words + i];
}

/* Local ranks learn what the publisher knew then, not what it knows when they look. */
static void hook_post(void *ctx, int rank, uint32_t epoch)
{
    world *w = ctx;
    size_t set = (size_t)w->words;
    memcpy(w->said + ((size_t)epoch * (size_t)w->p + (size_t)rank) * set,
           w->heard + (size_t)rank * set, set * sizeof *w->said);
}

static void hook_hear(void *ctx, int from, int to, uint32_t epoch)
{
    world *w = ctx;
    for (int i = 0; i < w->words; i++)
        w->news[to * w->words + i] |=
            w->said[((size_t)epoch * (size_t)w->p + (size_t)from) * (size_t)w->words + (size_t)i];
}

world *world_new(void)
{
    return calloc(1, sizeof(world));
}

static void free_ranks(world *w)
{
    sk_inproc_free(w->local);
    free(w->at);
    free(w->heard);
    free(w->news);
    free(w->runs);
    w->local = NULL;
    w->at = NULL;
    w->heard = w->news = NULL;
    w->runs = NULL;
    w->p = 0;
}

void world_free(world *w)
{
    if (!w)
        return;
    free_ranks(w);
    free(w->mem);
    free(w->now);
    free(w->want);
    free(w->sums);
    free(w->packets);
    free(w->said);
    free(w);
}

static bool room_for_ranks(world *w, int p)
{
    if (w->p == p)
        return true;
    free_ranks(w);
    size_t n = (size_t)p;
    w->words = (p + 63) / 64;
    w->at = calloc(n, sizeof *w->at);
    w->heard = calloc(n * (size_t)w->words, sizeof *w->heard);
    w->news = calloc(n * (size_t)w->words, sizeof *w->news);
    w->runs = calloc(n, sizeof *w->runs);
    w->local = sk_inproc_new(p, &(sk_inproc_hooks){.ctx = w,
                                                   .move = hook_move,
                                                   .reduce = hook_reduce,
                                                   .match = hook_match,
                                                   .round_over = hook_round_over,
                                                   .post = hook_post,
                                                   .see = hook_hear});
    w->p = p;
    return w->at && w->heard && w->news && w->runs && w->local;
}

/* An array of at least `need` bytes, whose old contents are lost. Small ones grow ahead of need;
 * large ones do not, as they decide how much memory the program takes. */
static void *grown(void *old, int64_t *cap, int64_t need)
{
    if (need <= *cap)
        return old;
    int64_t bytes = need < GROWS_AHEAD ? 2 * need : need;
    bytes = (bytes + 63) / 64 * 64;
    free(old);
    void *p = aligned_alloc(64, (size_t)bytes);
    *cap = p ? bytes : 0;
    return p;
}

static bool room_for_bytes(world *w)
{
    int64_t each = (int64_t)sizeof(shade), vector = 0;
    for (int r = 0; r < w->p && coll_reduces(w->sc->k.coll); r++) {
        const side_map *sides[] = {&w->sc->send[r], &w->sc->recv[r]};
        for (int i = 0; i < 2; i++)
            if (sides[i]->n && sides[i]->block[0].len > vector)
                vector = sides[i]->block[0].len;
    }
    w->mem = grown(w->mem, &w->mem_cap, w->total + 1);
    w->now = grown(w->now, &w->now_cap, (w->total + 1) * each);
    w->want = grown(w->want, &w->want_cap, (w->users + 1) * each);
    w->sums = grown(w->sums, &w->sums_cap, (vector + 1) * each);
    return w->mem && w->now && w->want && w->sums && w->users < INT32_MAX;
}

/* Every byte of the users gets a shade of its own; scratch and slots get one that no user has. */
static void fill(world *w)
{
    for (int64_t i = 0; i < w->users; i++) {
        w->now[i] = shade_start(w->alg, w->salt, i);
        w->mem[i] = (unsigned char)w->now[i];
    }
    memcpy(w->want, w->now, (size_t)w->users * sizeof(shade));
    size_t rest = (size_t)(w->total - w->users);
    memset(w->now + w->users, UNWRITTEN, rest * sizeof(shade));
    memset(w->mem + w->users, UNWRITTEN, rest);
}

static bool room_for_epochs(world *w, sk_sched *const *scheds)
{
    uint32_t epochs = 0;
    for (int r = 0; r < w->p; r++)
        if (sk_sched_view(scheds[r])->nepochs > epochs)
            epochs = sk_sched_view(scheds[r])->nepochs;
    size_t need = (size_t)epochs * (size_t)w->p * (size_t)w->words;
    if (need <= w->said_cap)
        return true;
    free(w->said);
    w->said = malloc(need * sizeof *w->said);
    w->said_cap = w->said ? need : 0;
    return w->said != NULL;
}

static int64_t place_buffer(int64_t at, const side_map *m, int64_t *address)
{
    *address = at + GUARD - m->lo;
    return at + GUARD + m->hi - m->lo + GUARD;
}

bool world_lay(world *w, const scene *sc, sk_sched *const *scheds, algebra alg, unsigned epoch)
{
    int p = sc->k.p;
    if (!room_for_ranks(w, p))
        return false;
    w->sc = sc;
    w->scheds = scheds;
    w->alg = alg;
    w->salt = shade_mix(epoch + 1);
    int64_t at = epoch * 8;
    for (int r = 0; r < p; r++) {
        at = place_buffer(at, &sc->send[r], &w->at[r][SK_SEND]);
        at = place_buffer(at, &sc->recv[r], &w->at[r][SK_RECV]);
    }
    w->users = at;
    size_t packets = 0;
    for (int r = 0; r < p; r++) {
        at = (at + 63) / 64 * 64;
        w->at[r][SK_SCRATCH] = at;
        at += sk_sched_view(scheds[r])->scratch;
        packets += (size_t)sk_run_packet_bytes(scheds[r]);
    }
    w->slots = (at + 63) / 64 * 64;
    w->total = w->slots + sk_inproc_slot_bytes(sc->k.machine, scheds);
    if (!room_for_epochs(w, scheds))
        return false;
    if (packets > w->packet_cap) {
        free(w->packets);
        w->packets = malloc(packets);
        w->packet_cap = w->packets ? packets : 0;
        if (!w->packets)
            return false;
    }
    if (!room_for_bytes(w))
        return false;
    fill(w);
    size_t bits = (size_t)p * (size_t)w->words * sizeof *w->heard;
    memset(w->heard, 0, bits);
    memset(w->news, 0, bits);
    for (int r = 0; r < p; r++)
        w->heard[r * w->words + r / 64] |= 1ull << r % 64;
    return true;
}

sk_status world_run(world *w, sk_sched *const *scheds)
{
    char *packets = w->packets;
    for (int r = 0; r < w->p; r++) {
        unsigned char *buf[SK_NBUFS];
        for (int b = 0; b < SK_NBUFS; b++)
            buf[b] = w->mem + w->at[r][b];
        sk_run_init(&w->runs[r], scheds[r],
                    sk_inproc_wire(w->local, r, sk_sched_view(scheds[r])->types), buf[SK_SEND],
                    buf[SK_RECV], buf[SK_SCRATCH], packets);
        packets = packets ? packets + sk_run_packet_bytes(scheds[r]) : NULL;
    }
    sk_inproc_machine(w->local, w->sc->k.machine);
    sk_inproc_slots(w->local, w->mem + w->slots);
    return sk_inproc_run(w->local, w->runs);
}

int64_t world_stretch(const world *w, int rank, sk_span s, int64_t k, int64_t end, int64_t *offset)
{
    int64_t n = sk_inproc_stretch(&scene_types[s.type], k, end, offset);
    *offset += s.off;
    if (sk_buf_is_slot(s.buf))
        *offset += w->slots + sk_inproc_slot_offset(w->sc->k.machine, w->scheds, rank, s.buf);
    else
        *offset += w->at[rank][s.buf];
    return n;
}

void world_describe(const world *w, int64_t index, char *out, size_t size)
{
    static const char *const names[] = {"send", "recv", "scratch"};
    if (index < 0 || index >= w->total) {
        snprintf(out, size, "what no user has written");
        return;
    }
    if (index >= w->slots) {
        snprintf(out, size, "byte %lld of all bays", (long long)(index - w->slots));
        return;
    }
    int rank = 0, buf = 0;
    for (int r = 0; r < w->p; r++)
        for (int b = 0; b < SK_NBUFS; b++) {
            const side_map *m = b == SK_SEND ? &w->sc->send[r] : &w->sc->recv[r];
            int64_t start = w->at[r][b] + (b == SK_SCRATCH ? 0 : m->lo - GUARD);
            const side_map *best = buf == SK_SEND ? &w->sc->send[rank] : &w->sc->recv[rank];
            int64_t found = w->at[rank][buf] + (buf == SK_SCRATCH ? 0 : best->lo - GUARD);
            if (start <= index && start >= found) {
                rank = r;
                buf = b;
            }
        }
    snprintf(out, size, "rank %d %s[%lld]", rank, names[buf],
             (long long)(index - w->at[rank][buf]));
}

bool world_heard_all(const world *w, int rank)
{
    for (int r = 0; r < w->p; r++)
        if (!(w->heard[rank * w->words + r / 64] >> r % 64 & 1))
            return false;
    return true;
}

bool world_compare(const world *w, char *why, size_t size)
{
    bool same = memcmp(w->now, w->want, (size_t)w->users * sizeof(shade)) == 0;
    for (int64_t i = 0; i < w->users; i++) {
        char at[64], is[64], wanted[64];
        if (same && w->mem[i] == (unsigned char)w->now[i])
            continue;
        if (!same && w->now[i] == w->want[i])
            continue;
        world_describe(w, i, at, sizeof at);
        if (same)
            snprintf(why, size, "%s: the byte and its shade went different ways", at);
        else if (w->alg == SHADE_PLACE) {
            world_describe(w, (int64_t)w->now[i] - 1, is, sizeof is);
            world_describe(w, (int64_t)w->want[i] - 1, wanted, sizeof wanted);
            snprintf(why, size, "%s holds %s, wanted %s", at, is, wanted);
        } else {
            bool changed = w->now[i] != shade_start(w->alg, w->salt, i);
            bool due = w->want[i] != shade_start(w->alg, w->salt, i);
            snprintf(why, size, "%s %s", at,
                     !due      ? "was changed"
                     : changed ? "holds the wrong reduction"
                               : "was not written");
        }
        return false;
    }
    return true;
}

bool world_same_result(const world *w, char *why, size_t size)
{
    sk_span first = w->sc->recv[0].block[0];
    for (int r = 1; r < w->p; r++)
        for (int64_t k = 0; k < first.len; k++) {
            int64_t a, b;
            world_stretch(w, 0, first, k, k + 1, &a);
            world_stretch(w, r, w->sc->recv[r].block[0], k, k + 1, &b);
            if (w->now[a] != w->now[b]) {
                snprintf(why, size, "result byte %lld of rank %d was bracketed unlike rank 0's",
                         (long long)k, r);
                return false;
            }
        }
    return true;
}
