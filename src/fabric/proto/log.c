#include "fabric/proto/log.h"

#include <stdatomic.h>
#include <stdio.h>

/* The one object of the process: libfabric keeps its own context in it. */
struct fi_provider sk_provider = {
    .name = "skein",
    .version = FI_VERSION(1, 0),
};

void sk_provider_message(const char *what)
{
    static atomic_flag shown = ATOMIC_FLAG_INIT;
    FI_WARN(&sk_provider, FI_LOG_CORE, "%s\n", what);
    if (!atomic_flag_test_and_set(&shown))
        fprintf(stderr, "skein: %s\n", what);
}
