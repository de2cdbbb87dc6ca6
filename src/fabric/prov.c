/* prov.c: where libfabric finds the provider. It loads every library in FI_PROVIDER_PATH whose name
 * ends in fi.so and calls fi_prov_ini. */
#include <stdatomic.h>
#include <stdio.h>

#include "fabric/endpoint.h"

static void provider_cleanup(void) {}

/* The one object of the process: libfabric keeps its own context in it. */
struct fi_provider sk_provider = {
    .name = "skein",
    .version = FI_VERSION(1, 0),
    .fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
    .getinfo = sk_getinfo,
    .fabric = sk_fabric_open,
    .cleanup = provider_cleanup,
};

FI_EXT_INI
{
    return &sk_provider;
}

void sk_provider_tell(const char *what)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    FI_WARN(&sk_provider, FI_LOG_CORE, "%s\n", what);
    if (!atomic_flag_test_and_set(&told))
        fprintf(stderr, "skein: %s\n", what);
}
