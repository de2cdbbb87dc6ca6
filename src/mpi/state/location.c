/* location.c: where this process sits. The node is known by host name and boot id, socket and core by
 * the binding. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/state/location.h"
#include "mpi/state/process.h"

#if SK_HAVE_BINDING
#include <hwloc.h>
#endif

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t h, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return h;
}

/* Machines may share a host name, and namespaces share a kernel. Host name and boot id together tell
 * them apart. */
static int64_t this_node(void)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", boot[64] = "";
    int len = 0;
    uint64_t h = 0xcbf29ce484222325u;
    sk_host.Get_processor_name(name, &len);
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (f) {
        if (!fgets(boot, sizeof boot, f))
            boot[0] = '\0';
        fclose(f);
    }
    h = hash_bytes(h, name, (size_t)len);
    return (int64_t)hash_bytes(h, boot, strlen(boot));
}

#if SK_HAVE_BINDING
int sk_location_cpus(uint64_t *which)
{
    size_t size = CPU_ALLOC_SIZE((size_t)sysconf(_SC_NPROCESSORS_CONF));
    cpu_set_t *set = CPU_ALLOC((size_t)sysconf(_SC_NPROCESSORS_CONF));
    int n = 0;
    if (set && sched_getaffinity(0, size, set) == 0) {
        n = CPU_COUNT_S(size, set);
        *which = hash_bytes(0xcbf29ce484222325u, (const char *)set, size);
    }
    CPU_FREE(set);
    return n;
}

static bool load(hwloc_topology_t topo)
{
    return hwloc_topology_set_all_types_filter(topo, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 &&
           hwloc_topology_set_type_filter(topo, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL) ==
               0 &&
           hwloc_topology_set_type_filter(topo, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
           hwloc_topology_load(topo) == 0;
}

/* A process that may run on several sockets or cores is on none of them. */
static void read_binding(sk_location *location)
{
    hwloc_topology_t topo;
    if (hwloc_topology_init(&topo) != 0)
        return;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (set && load(topo) && hwloc_get_cpubind(topo, set, HWLOC_CPUBIND_PROCESS) == 0) {
        hwloc_obj_t at = hwloc_get_obj_covering_cpuset(topo, set);
        for (; at; at = at->parent) {
            if (at->type == HWLOC_OBJ_CORE)
                location->core = (int32_t)at->logical_index;
            if (at->type == HWLOC_OBJ_PACKAGE)
                location->socket = (int32_t)at->logical_index;
        }
    }
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topo);
}

/* Reading the binding takes long. It is read only when the process may not run everywhere, and again
 * only when its binding has changed. */
static void find_location(sk_location *location)
{
    uint64_t cpus = 0;
    if (sk_location_cpus(&cpus) >= sysconf(_SC_NPROCESSORS_ONLN))
        return;
    pthread_mutex_lock(&sk_proc.location_lock);
    if (!cpus || sk_proc.location_cpus != cpus) {
        read_binding(location);
        sk_proc.location = *location;
        sk_proc.location_cpus = cpus;
    }
    *location = sk_proc.location;
    pthread_mutex_unlock(&sk_proc.location_lock);
}
#else
int sk_location_cpus(uint64_t *which)
{
    *which = 0;
    return 0;
}
#endif

/* SKEIN_MACHINE describes the ranks of MPI_COMM_WORLD. */
static sk_location location_from_setting(const char *text, int *cores)
{
    int rank, nranks;
    char err[256];
    sk_machine *m = NULL;
    sk_host.Comm_rank(MPI_COMM_WORLD, &rank);
    sk_host.Comm_size(MPI_COMM_WORLD, &nranks);
    if (sk_machine_parse(text, nranks, &m, err, sizeof err) != SK_OK)
        return (sk_location){.core = -1}; /* refused at the start: see startup.c */
    sk_location location = {
        .node = m->node[rank], .socket = m->socket[rank], .core = m->core[rank]};
    *cores = m->cores;
    sk_machine_free(m);
    return location;
}

sk_location sk_location_here(int *cores)
{
    const char *text = sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_MACHINE);
    if (*text)
        return location_from_setting(text, cores);
    sk_location location = {.node = this_node(), .core = -1};
    *cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
#if SK_HAVE_BINDING
    find_location(&location);
#endif
    return location;
}
