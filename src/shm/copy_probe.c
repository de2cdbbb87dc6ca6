#include "shm/copy_probe.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- times of the chunks ---- */

typedef struct chunk_times {
    int64_t ns[SK_PROBE_CHUNKS];
} chunk_times;

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t median_fs(chunk_times *t)
{
    enum { FS_PER_NS = 1000000 };
    qsort(t->ns, SK_PROBE_CHUNKS, sizeof *t->ns, compare);
    int64_t ns = t->ns[SK_PROBE_CHUNKS / 2];
    return (ns > 0 ? ns : 1) * FS_PER_NS;
}

static int64_t per_byte(chunk_times *t)
{
    return median_fs(t) / SK_PROBE_CHUNK;
}

static int64_t copy_price(char *to, const char *from)
{
    chunk_times t;
    for (int i = 0; i < SK_PROBE_CHUNKS; i++, to += SK_PROBE_CHUNK, from += SK_PROBE_CHUNK) {
        int64_t start = now_ns();
        memcpy(to, from, SK_PROBE_CHUNK);
        t.ns[i] = now_ns() - start;
    }
    return per_byte(&t);
}

/* Of reads of `len` bytes of each chunk; 0: the kernel does not allow them. */
static int64_t read_price(char *to, sk_export_handle from, int64_t len)
{
    chunk_times t;
    for (int i = 0; i < SK_PROBE_CHUNKS; i++) {
        int64_t at = (int64_t)i * SK_PROBE_CHUNK, start = now_ns();
        if (sk_cma_read(from, at, to + at, len) != SK_OK)
            return 0;
        t.ns[i] = now_ns() - start;
    }
    return len == SK_PROBE_CHUNK ? per_byte(&t) : median_fs(&t);
}

/* ---- one after the other ---- */

/* Leave the cpu, if this process may run on others. */
static bool leave_cpu(int cpu, cpu_set_t *before)
{
    cpu_set_t others;
    if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getcpu() != cpu ||
        sched_getaffinity(0, sizeof *before, before) != 0)
        return false;
    others = *before;
    CPU_CLR((size_t)cpu, &others);
    return CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0;
}

void sk_copy_probe_fill(sk_copy_probe *p, void *shared)
{
    *p = (sk_copy_probe){.shared = shared, .note.cpu = -1};
    p->own = malloc(SK_PROBE_BYTES);
    if (!p->own)
        return;
    memset(p->own, 1, SK_PROBE_BYTES);
    memcpy(shared, p->own, SK_PROBE_BYTES);
    p->note.at = sk_cma_export(p->own);
    p->note.cpu = sched_getcpu();
}

void sk_copy_probe_take(void *shared, const sk_copy_probe_note *note, sk_copy_prices *out)
{
    cpu_set_t before;
    char *own = note->cpu >= 0 ? malloc(SK_PROBE_BYTES) : NULL;
    if (!own)
        return;
    enum { PAGE = 4096 };
    volatile const char *page = shared;
    for (int i = 0; i < SK_PROBE_BYTES; i += PAGE)
        (void)page[i]; /* map it */
    memset(own, 2, SK_PROBE_BYTES);
    bool moved = leave_cpu(note->cpu, &before);
    out->fs[SK_PRICE_OUT] = copy_price(own, shared);
    out->fs[SK_PRICE_COPY] = copy_price(own, shared);
    int64_t call = read_price(own, note->at, 1), read = read_price(own, note->at, SK_PROBE_CHUNK),
            again = read_price(own, note->at, SK_PROBE_CHUNK);
    /* The price of a byte is that beyond the call. */
    int64_t share = call / SK_PROBE_CHUNK;
    out->fs[SK_PRICE_CALL] = call;
    out->fs[SK_PRICE_READ] = read > share ? read - share : read;
    out->fs[SK_PRICE_REREAD] = again > share ? again - share : again;
    if (moved)
        sched_setaffinity(0, sizeof before, &before);
    free(own);
}

void sk_copy_probe_refill(sk_copy_probe *p, sk_copy_prices *out)
{
    if (p->own)
        out->fs[SK_PRICE_IN] = copy_price(p->shared, p->own);
    if (madvise(p->shared, SK_PROBE_BYTES, MADV_REMOVE) != 0)
        memset(p->shared, 0, SK_PROBE_BYTES);
    free(p->own);
    p->own = NULL;
}
