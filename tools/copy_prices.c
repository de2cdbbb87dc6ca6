#include "copy_prices.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/copy_probe.h"

/* In memory that both processes share. */
typedef struct probe_pair {
    char chunks[SK_PROBE_BYTES];
    sk_copy_probe_note note;
    sk_copy_prices taken;
    atomic_bool filled, done;
} probe_pair;

/* Neither sleeps: what a core has in its caches is then still there. */
static void await(atomic_bool *flag)
{
    while (!atomic_load(flag))
        sched_yield();
}

static void measure(probe_pair *m, sk_copy_prices *out)
{
    pid_t child = fork();
    if (child < 0)
        return;
    if (child == 0) {
        await(&m->filled);
        sk_copy_probe_take(m->chunks, &m->note, &m->taken);
        atomic_store(&m->done, true);
        _exit(0);
    }
    sk_copy_probe probe;
    sk_copy_probe_fill(&probe, m->chunks);
    m->note = probe.note;
    atomic_store(&m->filled, true);
    await(&m->done);
    *out = m->taken;
    sk_copy_probe_refill(&probe, out);
    waitpid(child, NULL, 0);
}

bool sk_tool_copy_prices(const sk_select *s, sk_copy_prices *out)
{
    *out = (sk_copy_prices){0};
    void *m =
        mmap(NULL, sizeof(probe_pair), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m != MAP_FAILED) {
        measure(m, out);
        munmap(m, sizeof(probe_pair));
    }
    sk_copy_prices_of_two_cores(out);
    sk_select_prices(s, out);
    return sk_copy_prices_known(out);
}
