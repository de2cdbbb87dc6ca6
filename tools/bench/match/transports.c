#include "bench/match/transports.h"

#include <string.h>

/* The ofi MTL comes with a BTL for one-sided messages, which is not wanted. rxm hangs when more
 * receives are posted than it has room for. */
#define OFI "--mca pml cm --mca mtl ofi --mca btl ^openib,ofi --mca mtl_ofi_provider_include "

static const sk_transport table[] = {
    {.name = "ob1", .title = "Open MPI ob1", .arguments = "--mca pml ob1"},
    {.name = "ucx",
     .title = "Open MPI on UCX",
     .arguments = "--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any"},
    {.name = "rxm",
     .title = "libfabric tcp;ofi_rxm",
     .arguments = OFI "tcp;ofi_rxm",
     .variables = "FI_OFI_RXM_RX_SIZE=65536"},
    {.name = "skein", .title = "Skein's provider", .arguments = OFI "skein", .provider = true},
    {0},
};

const sk_transport *sk_transport_get(int i)
{
    return table[i].name ? &table[i] : NULL;
}

const sk_transport *sk_transport_find(const char *name)
{
    for (int i = 0; table[i].name; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

static void add_variable(sk_strlist *command, const char *assignment)
{
    sk_strlist_add(command, "-x");
    sk_strlist_add(command, assignment);
}

void sk_transport_add(sk_strlist *command, const sk_transport *t, const char *library,
                      const char *engine)
{
    sk_arena *a = command->arena;
    sk_strlist variables = sk_strlist_new(a);
    sk_strlist_split(command, t->arguments, " ");
    if (t->variables)
        sk_strlist_split(&variables, t->variables, " ");
    for (int i = 0; i < variables.n; i++)
        add_variable(command, variables.v[i]);
    if (!t->provider)
        return;
    add_variable(command, sk_format(a, "FI_PROVIDER_PATH=%s", sk_dirname(a, library)));
    if (engine)
        add_variable(command, sk_format(a, "SKEIN_MATCH=%s", engine));
}
