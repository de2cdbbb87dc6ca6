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

/* ---- times ---- */

/* Of equal copies, one of the shortest times: what disturbs only makes them longer, and on a busy
 * machine most may be disturbed, but the shortest one may be luck. */
typedef struct copy_times {
    int64_t shortest, second;
} copy_times;

static void add_time(copy_times *t, int64_t ns)
{
    ns = ns > 0 ? ns : 1;
    if (!t->shortest || ns < t->shortest) {
        t->second = t->shortest;
        t->shortest = ns;
    } else if (!t->second || ns < t->second)
        t->second = ns;
}

static int64_t femtoseconds(const copy_times *t)
{
    enum { FS_PER_NS = 1000000 };
    return (t->second ? t->second : t->shortest) * FS_PER_NS;
}

/* A byte of chunks that are copied, `passes` times over all. */
static int64_t copy_price(char *to, const char *from, int passes)
{
    copy_times t = {0};
    for (int i = 0; i < passes * SK_PROBE_CHUNKS; i++) {
        size_t at = (size_t)(i % SK_PROBE_CHUNKS) * SK_PROBE_CHUNK;
        int64_t start = now_ns();
        memcpy(to + at, from + at, SK_PROBE_CHUNK);
        add_time(&t, now_ns() - start);
    }
    return femtoseconds(&t) / SK_PROBE_CHUNK;
}

/* A read of `len` bytes, over all of the memory; 0: the kernel does not allow it. */
static int64_t read_price(char *to, sk_export_handle from, int64_t step, int64_t len, int passes)
{
    copy_times t = {0};
    for (int64_t i = 0; i < passes * (SK_PROBE_BYTES / step); i++) {
        int64_t at = i * step % SK_PROBE_BYTES, start = now_ns();
        if (sk_cma_read(from, at, to + at, len) != SK_OK)
            return 0;
        add_time(&t, now_ns() - start);
    }
    return femtoseconds(&t);
}

/* A byte of long reads, beyond the call. */
static int64_t read_byte_price(char *to, sk_export_handle from, int64_t call, int passes)
{
    enum { LONG = SK_PROBE_BYTES / 4 };
    int64_t all = read_price(to, from, LONG, LONG, passes);
    return (all > call ? all - call : all) / LONG;
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
    out->fs[SK_PRICE_OUT] = copy_price(own, shared, 1);
    out->fs[SK_PRICE_COPY] = copy_price(own, shared, 2);
    /* The first reads also find the page tables, as if it were not the first call. */
    int64_t call = read_price(own, note->at, PAGE, 1, 1),
            read = read_byte_price(own, note->at, call, 1),
            again = read_byte_price(own, note->at, call, 4), most = again + out->fs[SK_PRICE_OUT];
    out->fs[SK_PRICE_CALL] = call;
    /* The first read can be timed only once. It moves the lines of another core, as a copy out of a
     * slot does, and is otherwise a read like the next ones. */
    out->fs[SK_PRICE_READ] = read < most ? read : most;
    out->fs[SK_PRICE_REREAD] = again < read ? again : read;
    if (moved)
        sched_setaffinity(0, sizeof before, &before);
    free(own);
}

static void at_least(int64_t *price, int64_t least)
{
    if (*price > 0 && *price < least)
        *price = least;
}

void sk_copy_prices_of_two_cores(sk_copy_prices *p)
{
    /* A line of another core takes at least so many times as long as one that is here. */
    enum { FAR = 4 };
    int64_t far = FAR * p->fs[SK_PRICE_COPY];
    at_least(&p->fs[SK_PRICE_IN], far);
    at_least(&p->fs[SK_PRICE_OUT], far);
    at_least(&p->fs[SK_PRICE_READ],
             p->fs[SK_PRICE_REREAD] + p->fs[SK_PRICE_OUT] - p->fs[SK_PRICE_COPY]);
}

void sk_copy_probe_refill(sk_copy_probe *p, sk_copy_prices *out)
{
    if (p->own)
        out->fs[SK_PRICE_IN] = copy_price(p->shared, p->own, 1);
    if (madvise(p->shared, SK_PROBE_BYTES, MADV_REMOVE) != 0)
        memset(p->shared, 0, SK_PROBE_BYTES);
    free(p->own);
    p->own = NULL;
}
