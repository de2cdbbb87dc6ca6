#include "topo/binding.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"

typedef struct cpus {
    cpu_set_t *set;
    size_t size;
} cpus;

/* Without a set: not known. The kernel refuses one that is smaller than its own. */
static cpus allowed(void)
{
    enum { FEW = 1024, MOST = FEW << 10 };
    for (size_t n = FEW; n <= MOST; n *= 2) {
        cpus c = {CPU_ALLOC(n), CPU_ALLOC_SIZE(n)};
        if (c.set && sched_getaffinity(0, c.size, c.set) == 0)
            return c;
        CPU_FREE(c.set);
    }
    return (cpus){0};
}

static uint64_t number_of(cpus c)
{
    uint64_t all = 0;
    for (size_t i = 0; i < c.size; i++)
        all = sk_random_mix(all + ((const unsigned char *)c.set)[i]);
    return all;
}

/* The lowest cpu of a group such as 0-3,8; -1: not all of the cpus are in it. */
static int32_t group_with(const char *group, cpus c)
{
    int inside = 0;
    int32_t lowest = -1;
    for (const char *at = group; *at >= '0' && *at <= '9'; at += *at == ',') {
        char *end;
        long from = strtol(at, &end, 10), to = *end == '-' ? strtol(end + 1, &end, 10) : from;
        for (long cpu = from; cpu <= to; cpu++)
            inside += CPU_ISSET_S((size_t)cpu, c.size, c.set) != 0;
        lowest = lowest < 0 ? (int32_t)from : lowest;
        at = end;
    }
    return inside == CPU_COUNT_S(c.size, c.set) ? lowest : -1;
}

/* The group of a cpu in which all are. Older kernels know it by another name. */
static int32_t group_of(const char *folder, int cpu, const char *name, const char *old, cpus c)
{
    enum { MOST = 8192 };
    char file[256], text[MOST] = "";
    snprintf(file, sizeof file, "%s/cpu%d/topology/%s", folder, cpu, name);
    FILE *f = fopen(file, "r");
    if (!f)
        return old ? group_of(folder, cpu, old, NULL, c) : -1;
    if (!fgets(text, sizeof text, f))
        text[0] = '\0';
    fclose(f);
    return group_with(text, c);
}

sk_binding sk_binding_read(const char *folder)
{
    sk_binding b = {.core = -1, .socket = -1};
    cpus c = allowed();
    if (!c.set)
        return b;
    int cpu = 0;
    while (!CPU_ISSET_S((size_t)cpu, c.size, c.set))
        cpu++;
    b.cpus = CPU_COUNT_S(c.size, c.set);
    b.which = number_of(c);
    b.core = group_of(folder, cpu, "core_cpus_list", "thread_siblings_list", c);
    b.socket = group_of(folder, cpu, "package_cpus_list", "core_siblings_list", c);
    CPU_FREE(c.set);
    return b;
}
