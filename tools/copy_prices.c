#include "copy_prices.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/copy_probe.h"

static void take_in_child(char *shared, const sk_copy_probe_note *note, sk_copy_prices *out)
{
    pid_t child = fork();
    if (child == 0) {
        sk_copy_probe_take(shared, note, out);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

bool sk_tool_copy_prices(const sk_select *s, sk_copy_prices *out)
{
    size_t bytes = SK_PROBE_BYTES + sizeof *out;
    *out = (sk_copy_prices){0};
    char *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared != MAP_FAILED) {
        sk_copy_probe probe;
        sk_copy_prices *taken = (sk_copy_prices *)(shared + SK_PROBE_BYTES);
        sk_copy_probe_fill(&probe, shared);
        take_in_child(shared, &probe.note, taken);
        *out = *taken;
        sk_copy_probe_refill(&probe, out);
        munmap(shared, bytes);
    }
    sk_select_prices(s, out);
    return sk_copy_prices_known(out);
}
