#include "mpi/state/device.h"

#include "mpi/state/process.h"

#if SK_HAVE_NEXT
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/lookup.h"

/* The runtimes have no common header, and Skein is built without them: their interfaces are stable
 * and written down here as far as they are needed. */

/* ---- CUDA ---- */

typedef int sk_cuda_fn(void *value, int attribute, unsigned long long pointer);

static bool cuda_memory(sk_cuda_fn *get, const void *p)
{
    enum { MEMORY_TYPE = 2, HOST = 1 };
    unsigned type = 0; /* an error: CUDA does not know the pointer */
    return get(&type, MEMORY_TYPE, (unsigned long long)(uintptr_t)p) == 0 && type > HOST;
}

/* ---- HIP ---- */

/* The numbers of memory types differ between versions; what does not is that memory of the device alone
 * has no address for the host. */
typedef struct sk_hip_pointer {
    int type, device;
    void *at_device, *at_host;
    uint64_t later[14];
} sk_hip_pointer;
typedef int sk_hip_fn(sk_hip_pointer *attributes, const void *pointer);

static bool hip_memory(sk_hip_fn *get, const void *p)
{
    sk_hip_pointer a = {0};
    return get(&a, p) == 0 && a.at_device && !a.at_host;
}

/* ---- Level Zero ---- */

typedef struct sk_ze_properties {
    int structure;
    void *next;
    int type;
    uint64_t id, page;
} sk_ze_properties;
typedef struct sk_ze_context_description {
    int structure;
    const void *next;
    uint32_t flags;
} sk_ze_context_description;
typedef int sk_ze_drivers_fn(uint32_t *n, void **drivers);
typedef int sk_ze_context_fn(void *driver, const sk_ze_context_description *d, void **context);
typedef int sk_ze_memory_fn(void *context, const void *p, sk_ze_properties *properties,
                            void **device);

enum { MOST_DRIVERS = 8 };

typedef struct sk_ze {
    sk_ze_drivers_fn *drivers;
    sk_ze_context_fn *make;
    sk_ze_memory_fn *get;
    int n;
    void *context[MOST_DRIVERS]; /* a driver knows its memory in any of its contexts */
} sk_ze;

/* Nothing is there before the program has initialised the runtime, and then there is no memory. */
static void ze_open(sk_ze *z)
{
    enum { CONTEXT = 0xd };
    const sk_ze_context_description d = {.structure = CONTEXT};
    uint32_t n = MOST_DRIVERS;
    void *drivers[MOST_DRIVERS];
    if (z->drivers(&n, drivers) != 0)
        return;
    for (uint32_t i = 0; i < n && i < MOST_DRIVERS; i++)
        if (z->make(drivers[i], &d, &z->context[z->n]) == 0)
            z->n++;
}

/* Its loader is linked to UCX and libfabric in some distributions, so it is there without any GPU. Only
 * a driver makes memory. It is loaded when the program initialises the runtime, and then Skein looks
 * again. */
static bool ze_usable(const sk_ze *z)
{
    uint32_t n = 0;
    return z->drivers && z->make && z->get && z->drivers(&n, NULL) == 0 && n > 0;
}

static bool ze_memory(sk_ze *z, const void *p)
{
    enum { PROPERTIES = 0x17, DEVICE = 2 };
    if (z->n == 0)
        ze_open(z);
    for (int i = 0; i < z->n; i++) {
        sk_ze_properties a = {.structure = PROPERTIES};
        void *device = NULL;
        if (z->get(z->context[i], p, &a, &device) == 0 && a.type == DEVICE)
            return true;
    }
    return false;
}

/* ---- which are there ---- */

/* Filled under the lock; a runtime that was found stays. */
static struct {
    pthread_mutex_t lock;
    unsigned long long loaded; /* libraries loaded when they were last looked at */
    sk_cuda_fn *cuda;
    sk_hip_fn *hip;
    sk_ze ze;
    _Atomic(pthread_t) loader; /* the thread that began to load a library last, and when */
    _Atomic(time_t) loading;
} runtime = {.lock = PTHREAD_MUTEX_INITIALIZER};

static time_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return t.tv_sec;
}

void sk_device_loading(void)
{
    atomic_store(&runtime.loader, pthread_self());
    atomic_store(&runtime.loading, now());
    atomic_fetch_or(&sk_proc.devices, SK_DEVICES_LOOK);
}

/* A library that another thread began to load may not be there yet. */
static bool may_still_load(void)
{
    enum { SECONDS = 10 };
    return atomic_load(&runtime.loader) != pthread_self() &&
           now() - atomic_load(&runtime.loading) < SECONDS;
}

static void find_runtimes(void)
{
    runtime.cuda = (sk_cuda_fn *)sk_dlsym_in("cuPointerGetAttribute", "libcuda.so");
    runtime.hip = (sk_hip_fn *)sk_dlsym_in("hipPointerGetAttributes", "libamdhip64.so");
    runtime.ze.drivers = (sk_ze_drivers_fn *)sk_dlsym_in("zeDriverGet", "libze_loader.so");
    runtime.ze.make = (sk_ze_context_fn *)sk_dlsym_in("zeContextCreate", "libze_loader.so");
    runtime.ze.get = (sk_ze_memory_fn *)sk_dlsym_in("zeMemGetAllocProperties", "libze_loader.so");
    if (runtime.cuda || runtime.hip || ze_usable(&runtime.ze))
        atomic_fetch_or(&sk_proc.devices, SK_DEVICES_HERE);
}

void sk_device_look(void)
{
    unsigned long long loaded = sk_libraries_loaded();
    if (!may_still_load())
        atomic_fetch_and(&sk_proc.devices, ~SK_DEVICES_LOOK);
    if (strcmp(sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_DEVICE), "off") == 0)
        return;
    pthread_mutex_lock(&runtime.lock);
    if (loaded != runtime.loaded)
        find_runtimes();
    runtime.loaded = loaded;
    pthread_mutex_unlock(&runtime.lock);
}

bool sk_device_memory(const void *p)
{
    pthread_mutex_lock(&runtime.lock);
    bool is =
        (runtime.cuda && cuda_memory(runtime.cuda, p)) ||
        (runtime.hip && hip_memory(runtime.hip, p)) ||
        (runtime.ze.get && runtime.ze.make && runtime.ze.drivers && ze_memory(&runtime.ze, p));
    pthread_mutex_unlock(&runtime.lock);
    return is;
}

#else

void sk_device_look(void)
{
    atomic_store(&sk_proc.devices, 0);
}

void sk_device_loading(void) {}

bool sk_device_memory(const void *p)
{
    (void)p;
    return false;
}

#endif

bool sk_device_possible(void)
{
    const char *set = sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_DEVICE);
    return strcmp(set, "on") == 0 || (atomic_load(&sk_proc.devices) & SK_DEVICES_HERE);
}
