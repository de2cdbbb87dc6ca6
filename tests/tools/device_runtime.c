/* device_runtime.c: a stand-in for a GPU runtime, as a library named libcuda.so.1. Its device memory is
 * memory without any access, so whoever touches it is caught: the host may (a host for GPUs would know
 * what to do), Skein and the program may not. Access is closed again whenever somebody asks about a
 * pointer, which Skein does in every call. */
#include "device_runtime.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };

static char *memory;
static size_t used;

static void open_memory(int open)
{
    mprotect(memory, BYTES, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

static int is_device(const void *p)
{
    return memory && (const char *)p >= memory && (const char *)p < memory + BYTES;
}

/* The library that touches the memory: the first one on the stack behind the signal that is not the C
 * library, which copies for others. */
static const char *culprit(void)
{
    void *frame[64];
    Dl_info info;
    int n = backtrace(frame, 64);
    for (int i = 2; i < n; i++)
        if (dladdr(frame[i], &info) && !strstr(info.dli_fname, "/libc.so"))
            return info.dli_fname;
    return "nobody";
}

static void touched(int number, siginfo_t *info, void *context)
{
    (void)context;
    const char *who = culprit();
    if (is_device(info->si_addr) && !strstr(who, "skein") && !strstr(who, "/tests/")) {
        open_memory(1);
        return;
    }
    static const char words[] = "device memory touched by ";
    (void)!write(2, words, sizeof words - 1);
    (void)!write(2, who, strlen(who));
    (void)!write(2, "\n", 1);
    signal(number, SIG_DFL);
}

void *device_alloc(size_t bytes)
{
    if (!memory) {
        void *frame[4];
        backtrace(frame, 4); /* its first call allocates memory */
        memory = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct sigaction action = {.sa_sigaction = touched, .sa_flags = SA_SIGINFO | SA_NODEFER};
        sigaction(SIGSEGV, &action, NULL);
    }
    used += (bytes + 63) / 64 * 64;
    return memory + used - (bytes + 63) / 64 * 64;
}

void device_copy(void *to, const void *from, size_t bytes)
{
    open_memory(1);
    memcpy(to, from, bytes);
    open_memory(0);
}

int cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer)
{
    enum { MEMORY_TYPE = 2, DEVICE = 2, INVALID = 1 };
    if (memory)
        open_memory(0);
    if (attribute != MEMORY_TYPE || !is_device((const void *)(size_t)pointer))
        return INVALID;
    *(unsigned *)value = DEVICE;
    return 0;
}
