/* location.c: where this process sits. The node is known by host name and boot id, socket and core by
 * the binding. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/state/location.h"
#include "mpi/state/process.h"

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

/* A process that may run on several sockets or cores is on none of them. */
sk_location sk_location_here(const sk_binding *binding, int *cores)
{
    const char *text = sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_MACHINE);
    if (*text)
        return location_from_setting(text, cores);
    sk_location location = {.node = this_node(), .core = -1};
    *cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (binding->cpus > 0 && binding->cpus < *cores) {
        location.core = binding->core;
        location.socket = binding->socket < 0 ? 0 : binding->socket;
    }
    return location;
}
