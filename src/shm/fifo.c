/* fifo.c: see fifo.h. */
#include "shm/fifo.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "shm/cma.h"
#include "shm/tuning.h"

enum {
    LINE = 64,
    ENTRIES = 32,   /* of a fifo; more than there are chunks and exported messages */
    EXPORTED = 255, /* an entry that is no chunk: the message is to be read in place */
};
_Static_assert((int)ENTRIES > SK_FIFO_CHUNKS + 1, "a chunk and an exported message have entries");

/* ---- in shared memory ---- */

/* From one local rank to another. The first line is written by the sender, the second by the
 * receiver. */
typedef struct fifo {
    _Alignas(LINE) _Atomic uint64_t filled; /* entries so far */
    uint8_t entry[ENTRIES];                 /* index of a chunk of the sender, or EXPORTED */
    int64_t exported_len;
    sk_export_handle exported;
    _Alignas(LINE) _Atomic uint64_t emptied; /* entries so far */
} fifo;
_Static_assert(sizeof(fifo) == 2 * LINE, "a line for each side");

/* Counts events in all fifos to and from one rank. */
typedef struct fifo_doorbell {
    _Alignas(LINE) sk_flag flag;
} fifo_doorbell;

typedef struct fifo_chunk {
    _Alignas(LINE) int64_t left; /* bytes of the message from this chunk on */
    _Alignas(LINE) char data[];
} fifo_chunk;

/* ---- of this process ---- */

/* The message to, or from, one local rank. */
typedef struct fifo_message {
    char *at;
    int64_t left;  /* bytes */
    uint64_t done; /* entries filled or emptied, over all messages */
    bool busy;
    bool exported; /* waiting for the receiver to read it */
} fifo_message;

typedef struct fifo_peer {
    fifo_message out, in;
    bool busy;   /* in the list `busy` */
    bool unrung; /* in the list `unrung`: its doorbell has still to be rung */
} fifo_peer;

struct sk_fifos {
    int n, me;
    int64_t chunk, stride; /* bytes of a chunk, and from one to the next */
    fifo_doorbell *doorbells;
    fifo *fifos;
    char *pools;
    uint32_t next[2]; /* chunk of the own pool to use next: of the hot ones, of the others */
    struct {
        int local_rank;
        uint64_t emptied; /* the chunk is free when the fifo to that rank has emptied so many */
    } use[SK_FIFO_CHUNKS];
    int64_t export_from; /* messages of this many bytes or more are read in place */
    bool ok;
    int nbusy, nunrung;
    int *busy, *unrung; /* local ranks */
    fifo_peer peer[];
};

static int64_t chunk_bytes(int64_t max_chunk)
{
    return max_chunk < SK_FIFO_CHUNK ? max_chunk : SK_FIFO_CHUNK;
}

static size_t pool_bytes(int64_t max_chunk)
{
    return SK_FIFO_CHUNKS * (sizeof(fifo_chunk) + (size_t)chunk_bytes(max_chunk));
}

size_t sk_fifos_bytes(int n, int64_t max_chunk)
{
    size_t ranks = (size_t)n;
    return ranks * (sizeof(fifo_doorbell) + ranks * sizeof(fifo) + pool_bytes(max_chunk));
}

sk_fifos *sk_fifos_new(void *mem, int n, int me, int64_t max_chunk)
{
    size_t ranks = (size_t)n;
    sk_fifos *x = calloc(1, sizeof *x + ranks * (sizeof(fifo_peer) + 2 * sizeof(int)));
    if (!x)
        return NULL;
    x->n = n;
    x->me = me;
    x->chunk = chunk_bytes(max_chunk);
    x->stride = (int64_t)sizeof(fifo_chunk) + x->chunk;
    x->doorbells = mem;
    x->fifos = (fifo *)(x->doorbells + ranks);
    x->pools = (char *)(x->fifos + ranks * ranks);
    x->busy = (int *)(x->peer + ranks);
    x->unrung = x->busy + ranks;
    x->next[1] = SK_FIFO_HOT_CHUNKS;
    x->export_from = INT64_MAX;
    x->ok = true;
    return x;
}

void sk_fifos_clear(void *mem, int n)
{
    size_t ranks = (size_t)n;
    memset(mem, 0, ranks * (sizeof(fifo_doorbell) + ranks * sizeof(fifo)));
}

void sk_fifos_enable_cma(sk_fifos *x, int64_t from)
{
    x->export_from = from;
}

void sk_fifos_enable_cma_like(sk_fifos *x, const sk_fifos *other)
{
    x->export_from = other->export_from;
}

void sk_fifos_free(sk_fifos *x)
{
    free(x);
}

static fifo *fifo_of(const sk_fifos *x, int from, int to)
{
    return &x->fifos[(int64_t)from * x->n + to];
}

static fifo_chunk *chunk_of(const sk_fifos *x, int local_rank, uint32_t which)
{
    SK_ASSERT(which < SK_FIFO_CHUNKS);
    return (fifo_chunk *)(x->pools + ((int64_t)local_rank * SK_FIFO_CHUNKS + which) * x->stride);
}

/* ---- doorbells ---- */

static void ring(sk_fifos *x, int local_rank)
{
    sk_flag *flag = &x->doorbells[local_rank].flag;
    atomic_fetch_add_explicit(&flag->value, 1, memory_order_release);
    sk_flag_notify(flag);
}

/* Ring at once where it costs no system call, else later for as many events as possible. */
static void ring_later(sk_fifos *x, int local_rank, const sk_waiting *waiting)
{
    if (waiting->mode == SK_WAIT_SPIN)
        ring(x, local_rank);
    else if (!x->peer[local_rank].unrung) {
        x->peer[local_rank].unrung = true;
        x->unrung[x->nunrung++] = local_rank;
    }
}

static void ring_all(sk_fifos *x)
{
    for (; x->nunrung > 0; x->nunrung--) {
        int local_rank = x->unrung[x->nunrung - 1];
        x->peer[local_rank].unrung = false;
        ring(x, local_rank);
    }
}

/* ---- chunks ---- */

static bool is_free(const sk_fifos *x, uint32_t which)
{
    fifo *last = fifo_of(x, x->me, x->use[which].local_rank);
    return atomic_load_explicit(&last->emptied, memory_order_acquire) >= x->use[which].emptied;
}

/* The next free chunk of the own pool; false: there is none. */
static bool next_chunk(sk_fifos *x, uint32_t *which)
{
    bool cold = !is_free(x, x->next[0]);
    uint32_t first = cold ? SK_FIFO_HOT_CHUNKS : 0,
             end = cold ? SK_FIFO_CHUNKS : SK_FIFO_HOT_CHUNKS, at = x->next[cold];
    if (cold && !is_free(x, at))
        return false;
    x->next[cold] = at + 1 == end ? first : at + 1;
    *which = at;
    return true;
}

static void append(fifo *to, fifo_message *m, uint8_t entry)
{
    SK_ASSERT(m->done - atomic_load(&to->emptied) < ENTRIES);
    to->entry[m->done % ENTRIES] = entry;
    atomic_store_explicit(&to->filled, ++m->done, memory_order_release);
}

/* Let the receiver read the whole message in place. It is over when the receiver has read it. */
static void export_message(fifo *to, fifo_message *m)
{
    to->exported_len = m->left;
    to->exported = sk_cma_export(m->at);
    append(to, m, EXPORTED);
    m->exported = true;
}

static bool was_read(const fifo *to, fifo_message *m)
{
    m->busy = m->exported = atomic_load_explicit(&to->emptied, memory_order_acquire) < m->done;
    return !m->busy;
}

/* Fill a chunk for this rank; false: not now. */
static bool fill(sk_fifos *x, int local_rank, const sk_waiting *waiting)
{
    fifo_message *m = &x->peer[local_rank].out;
    fifo *to = fifo_of(x, x->me, local_rank);
    uint32_t which;
    if (!m->busy)
        return false;
    if (m->exported)
        return was_read(to, m);
    if (!next_chunk(x, &which))
        return false;
    fifo_chunk *c = chunk_of(x, x->me, which);
    int64_t len = m->left < x->chunk ? m->left : x->chunk;
    c->left = m->left;
    memcpy(c->data, m->at, (size_t)len);
    append(to, m, (uint8_t)which);
    x->use[which].local_rank = local_rank;
    x->use[which].emptied = m->done;
    m->at += len;
    m->left -= len;
    m->busy = m->left > 0;
    ring_later(x, local_rank, waiting);
    return true;
}

/* Empty an entry of the fifo from this rank; false: there is none. The entry says how much of its
 * message is left, so a message of the wrong length is received to its end. */
static bool empty(sk_fifos *x, int local_rank, const sk_waiting *waiting)
{
    fifo_message *m = &x->peer[local_rank].in;
    fifo *from = fifo_of(x, local_rank, x->me);
    if (!m->busy || atomic_load_explicit(&from->filled, memory_order_acquire) == m->done)
        return false;
    SK_ASSERT(atomic_load(&from->filled) - m->done <= ENTRIES);
    uint8_t which = from->entry[m->done % ENTRIES];
    bool exported = which == EXPORTED;
    const fifo_chunk *c = exported ? NULL : chunk_of(x, local_rank, which);
    int64_t left = exported ? from->exported_len : c->left;
    int64_t len = left < x->chunk || exported ? left : x->chunk;
    x->ok &= left == m->left;
    m->busy = left > len;
    len = len < m->left ? len : m->left;
    if (exported)
        x->ok &= sk_cma_read(from->exported, 0, m->at, len) == SK_OK;
    else
        memcpy(m->at, c->data, (size_t)len);
    atomic_store_explicit(&from->emptied, ++m->done, memory_order_release);
    m->at += len;
    m->left -= len;
    ring_later(x, local_rank, waiting);
    return true;
}

/* ---- messages ---- */

static void start(sk_fifos *x, int local_rank, fifo_message *m, char *at, int64_t len)
{
    SK_ASSERT(local_rank >= 0 && local_rank < x->n && !m->busy);
    m->at = at;
    m->left = len;
    m->busy = true;
    if (!x->peer[local_rank].busy)
        x->busy[x->nbusy++] = local_rank;
    x->peer[local_rank].busy = true;
}

void sk_fifos_send(sk_fifos *x, int local_rank, const void *from, int64_t len)
{
    fifo_message *m = &x->peer[local_rank].out;
    start(x, local_rank, m, (char *)(uintptr_t)from, len);
    if (len < x->export_from)
        return;
    export_message(fifo_of(x, x->me, local_rank),
                   m); /* at once: it is read while this rank copies */
    ring(x, local_rank);
}

void sk_fifos_recv(sk_fifos *x, int local_rank, void *to, int64_t len)
{
    start(x, local_rank, &x->peer[local_rank].in, to, len);
}

/* Some chunks each way for every busy peer; false: nothing could be moved. */
static bool move_some(sk_fifos *x, const sk_waiting *waiting)
{
    bool moved = false;
    for (int i = 0; i < x->nbusy;) {
        int local_rank = x->busy[i];
        fifo_peer *p = &x->peer[local_rank];
        for (int k = 0; k < SK_FIFO_BURST && fill(x, local_rank, waiting); k++)
            moved = true;
        while (empty(x, local_rank, waiting))
            moved = true;
        p->busy = p->out.busy || p->in.busy;
        if (p->busy)
            i++;
        else
            x->busy[i] = x->busy[--x->nbusy];
    }
    return moved;
}

bool sk_fifos_move(sk_fifos *x, const sk_waiting *waiting)
{
    while (x->nbusy > 0 && move_some(x, waiting))
        ;
    ring_all(x);
    return x->nbusy == 0;
}

/* Does this rank wait for one peer only, which copies for others too, or for a peer that reads a
 * long message? Then the peer needs the core more. */
static bool peer_needs_core(const sk_fifos *x)
{
    const fifo_peer *p = &x->peer[x->busy[0]];
    return (x->nbusy == 1 && p->in.left < SK_FIFO_LEAVE_CORE) || p->out.exported;
}

/* The doorbell is read before the fifos: what happens later rings it once more. */
bool sk_fifos_finish(sk_fifos *x, const sk_waiting *waiting)
{
    sk_flag *doorbell = &x->doorbells[x->me].flag;
    while (x->nbusy > 0) {
        uint64_t seen = atomic_load_explicit(&doorbell->value, memory_order_acquire);
        if (move_some(x, waiting))
            continue;
        ring_all(x);
        (peer_needs_core(x) ? sk_flag_wait_busy : sk_flag_wait)(doorbell, seen + 1, waiting);
    }
    ring_all(x);
    bool ok = x->ok;
    x->ok = true;
    return ok;
}
