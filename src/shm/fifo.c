#include "shm/fifo.h"

#include <stdlib.h>
#include <string.h>

#include "shm/cma.h"

enum {
    LINE = 64,
    PIECES = 16,      /* of a stock */
    HOT = 4,          /* of them: these few stay in a cache, while local ranks keep pace */
    PIECE = 32 << 10, /* most bytes of one: so that copies in and out overlap */
    RUN = 8,    /* pieces for one local rank before the next has one: it has to be woken up less */
    NOTES = 32, /* of a lane; more than there are pieces and messages to be read in place */
    IN_PLACE = 255, /* instead of a piece */
};

/* Messages that are worth a call of the kernel, and how much a rank has to send at a time for two
 * copies, each through every cache, to take longer than one; or, where to wake up a local rank takes
 * long, for its local ranks to wait for it longer than to read all they need at once. */
enum { WORTH = 128 << 10, FLOOD = 24 << 20, WAVE = 15 * WORTH };

/* ---- in shared memory ---- */

typedef struct lane { /* from one local rank to another: pieces filled, and emptied */
    _Alignas(LINE) _Atomic uint64_t filled;
    uint8_t piece[NOTES];   /* which they were */
    int64_t shown;          /* bytes that are to be read in place, */
    sk_export_handle place; /* and where */
    _Alignas(LINE) _Atomic uint64_t emptied;
} lane;
_Static_assert(sizeof(lane) == 2 * LINE, "a line for each side");

typedef struct door { /* rung when something has happened in a lane to or from this local rank */
    _Alignas(LINE) sk_flag bell;
} door;

typedef struct piece {
    _Alignas(LINE) int64_t left; /* of its message, from this piece on */
    _Alignas(LINE) char data[];
} piece;

/* ---- of this process ---- */

typedef struct way { /* to, or from, a local rank */
    char *at;
    int64_t left;  /* of the message under way */
    uint64_t done; /* pieces, over all messages */
    bool busy, shown;
} way;

typedef struct party { /* a local rank, seen from here */
    way out, in;
    bool busy; /* stands in the list of those */
    bool owed; /* its door has to be rung */
} party;

struct sk_fifos {
    int n, me;
    int64_t size, step; /* bytes of a piece, and from one to the next */
    door *doors;
    lane *lanes;
    char *stocks;
    uint32_t next[2]; /* piece of the own stock: of the hot ones, of the others */
    struct {
        int local_rank;
        uint64_t emptied; /* when its lane has come to this, it may be filled again */
    } use[PIECES];
    int64_t sending; /* bytes, of all messages under way */
    bool coming;     /* some, too */
    bool direct, good;
    int nbusy, nowed;
    int *busy, *owed; /* local ranks */
    party local_rank[];
};

static int64_t size_of(int64_t most)
{
    return most < PIECE ? most : PIECE;
}

static size_t stock_bytes(int64_t most)
{
    return PIECES * (sizeof(piece) + (size_t)size_of(most));
}

size_t sk_fifos_bytes(int n, int64_t most)
{
    size_t local_ranks = (size_t)n;
    return local_ranks * (sizeof(door) + local_ranks * sizeof(lane) + stock_bytes(most));
}

sk_fifos *sk_fifos_new(void *mem, int n, int me, int64_t most)
{
    size_t local_ranks = (size_t)n;
    sk_fifos *x = calloc(1, sizeof *x + local_ranks * (sizeof(party) + 2 * sizeof(int)));
    if (!x)
        return NULL;
    x->n = n;
    x->me = me;
    x->size = size_of(most);
    x->step = (int64_t)sizeof(piece) + x->size;
    x->doors = mem;
    x->lanes = (lane *)(x->doors + local_ranks);
    x->stocks = (char *)(x->lanes + local_ranks * local_ranks);
    x->busy = (int *)(x->local_rank + local_ranks);
    x->owed = x->busy + local_ranks;
    x->next[1] = HOT;
    x->good = true;
    return x;
}

void sk_fifo_enable_cma(sk_fifos *x)
{
    x->direct = true;
}

void sk_fifos_free(sk_fifos *x)
{
    free(x);
}

static lane *lane_of(const sk_fifos *x, int from, int to)
{
    return &x->lanes[(int64_t)from * x->n + to];
}

static piece *piece_of(const sk_fifos *x, int local_rank, uint32_t which)
{
    return (piece *)(x->stocks + ((int64_t)local_rank * PIECES + which) * x->step);
}

/* ---- doors ---- */

static void ring(sk_fifos *x, int local_rank, const sk_waiting *waiting)
{
    sk_flag *bell = &x->doors[local_rank].bell;
    atomic_fetch_add_explicit(&bell->value, 1, memory_order_release);
    if (waiting->mode != SK_WAIT_SPIN)
        sk_flag_wake(bell);
}

/* To wake up somebody costs more than to fill a piece: once for as many as possible. */
static void tell(sk_fifos *x, int local_rank, const sk_waiting *waiting)
{
    if (waiting->mode == SK_WAIT_SPIN)
        ring(x, local_rank, waiting);
    else if (!x->local_rank[local_rank].owed) {
        x->local_rank[local_rank].owed = true;
        x->owed[x->nowed++] = local_rank;
    }
}

static void tell_all(sk_fifos *x, const sk_waiting *waiting)
{
    for (; x->nowed > 0; x->nowed--) {
        int local_rank = x->owed[x->nowed - 1];
        x->local_rank[local_rank].owed = false;
        ring(x, local_rank, waiting);
    }
}

/* ---- pieces ---- */

static bool is_empty(const sk_fifos *x, uint32_t which)
{
    lane *last = lane_of(x, x->me, x->use[which].local_rank);
    return atomic_load_explicit(&last->emptied, memory_order_acquire) >= x->use[which].emptied;
}

/* The next piece that may be filled; false: there is none. */
static bool take_piece(sk_fifos *x, uint32_t *which)
{
    bool cold = !is_empty(x, x->next[0]);
    uint32_t first = cold ? HOT : 0, end = cold ? PIECES : HOT, at = x->next[cold];
    if (cold && !is_empty(x, at))
        return false;
    x->next[cold] = at + 1 == end ? first : at + 1;
    *which = at;
    return true;
}

static void note(lane *to, way *w, uint8_t which)
{
    to->piece[w->done % NOTES] = which;
    atomic_store_explicit(&to->filled, ++w->done, memory_order_release);
}

/* The whole message is read where it lies; it is over when that has been done. */
static bool show(sk_fifos *x, int local_rank, lane *to, const sk_waiting *waiting)
{
    way *w = &x->local_rank[local_rank].out;
    if (w->shown) {
        w->busy = w->shown = atomic_load_explicit(&to->emptied, memory_order_acquire) < w->done;
        return !w->busy;
    }
    to->shown = w->left;
    to->place = sk_cma_export(w->at);
    note(to, w, IN_PLACE);
    w->shown = true;
    tell(x, local_rank, waiting);
    return true;
}

static bool read_in_place(const sk_fifos *x, const way *w, const sk_waiting *waiting)
{
    bool slow = waiting->mode >= SK_WAIT_MIXED && !x->coming;
    return x->direct && w->left >= WORTH && x->sending >= (slow ? WAVE : FLOOD);
}

/* A piece of the message to this local rank; false: not now. */
static bool fill(sk_fifos *x, int local_rank, const sk_waiting *waiting)
{
    way *w = &x->local_rank[local_rank].out;
    lane *to = lane_of(x, x->me, local_rank);
    uint32_t which;
    if (!w->busy)
        return false;
    if (w->shown || read_in_place(x, w, waiting))
        return show(x, local_rank, to, waiting);
    if (!take_piece(x, &which))
        return false;
    piece *p = piece_of(x, x->me, which);
    int64_t len = w->left < x->size ? w->left : x->size;
    p->left = w->left;
    memcpy(p->data, w->at, (size_t)len);
    note(to, w, (uint8_t)which);
    x->use[which].local_rank = local_rank;
    x->use[which].emptied = w->done;
    w->at += len;
    w->left -= len;
    w->busy = w->left > 0;
    tell(x, local_rank, waiting);
    return true;
}

/* A piece of the message from this local rank, which says itself when it ends. */
static bool empty(sk_fifos *x, int local_rank, const sk_waiting *waiting)
{
    way *w = &x->local_rank[local_rank].in;
    lane *from = lane_of(x, local_rank, x->me);
    if (!w->busy || atomic_load_explicit(&from->filled, memory_order_acquire) == w->done)
        return false;
    uint8_t which = from->piece[w->done % NOTES];
    bool shown = which == IN_PLACE;
    const piece *p = shown ? NULL : piece_of(x, local_rank, which);
    int64_t left = shown ? from->shown : p->left, len = left < x->size || shown ? left : x->size;
    x->good &= left == w->left;
    w->busy = left > len;
    len = len < w->left ? len : w->left;
    if (shown)
        x->good &= sk_cma_read(from->place, 0, w->at, len) == SK_OK;
    else
        memcpy(w->at, p->data, (size_t)len);
    atomic_store_explicit(&from->emptied, ++w->done, memory_order_release);
    w->at += len;
    w->left -= len;
    tell(x, local_rank, waiting);
    return true;
}

/* ---- messages ---- */

static void start(sk_fifos *x, int local_rank, way *w, char *at, int64_t len)
{
    w->at = at;
    w->left = len;
    w->busy = true;
    if (!x->local_rank[local_rank].busy)
        x->busy[x->nbusy++] = local_rank;
    x->local_rank[local_rank].busy = true;
}

void sk_fifos_send(sk_fifos *x, int local_rank, const void *from, int64_t len)
{
    start(x, local_rank, &x->local_rank[local_rank].out, (char *)(uintptr_t)from, len);
    x->sending += len;
}

void sk_fifos_recv(sk_fifos *x, int local_rank, void *to, int64_t len)
{
    start(x, local_rank, &x->local_rank[local_rank].in, to, len);
    x->coming = true;
}

/* Some pieces each way for every local rank; false: there was none. */
static bool move_some(sk_fifos *x, const sk_waiting *waiting)
{
    bool moved = false;
    for (int i = 0; i < x->nbusy;) {
        int local_rank = x->busy[i];
        party *y = &x->local_rank[local_rank];
        for (int k = 0; k < RUN && fill(x, local_rank, waiting); k++)
            moved = true;
        while (empty(x, local_rank, waiting))
            moved = true;
        y->busy = y->out.busy || y->in.busy;
        if (y->busy)
            i++;
        else
            x->busy[i] = x->busy[--x->nbusy];
    }
    return moved;
}

/* Who waits for one local rank only, which serves others too, or has a long message read, lets it. */
static bool in_the_way(const sk_fifos *x)
{
    const party *y = &x->local_rank[x->busy[0]];
    return (x->nbusy == 1 && y->in.left < 4 * WORTH) || y->out.shown;
}

/* What happens after the look at the door rings it once more. */
bool sk_fifos_finish(sk_fifos *x, const sk_waiting *waiting)
{
    sk_flag *door = &x->doors[x->me].bell;
    while (x->nbusy > 0) {
        uint64_t seen = atomic_load_explicit(&door->value, memory_order_acquire);
        if (move_some(x, waiting))
            continue;
        tell_all(x, waiting);
        (in_the_way(x) ? sk_flag_wait_busy : sk_flag_wait)(door, seen + 1, waiting);
    }
    tell_all(x, waiting);
    bool good = x->good;
    x->good = true;
    x->sending = 0;
    x->coming = false;
    return good;
}
