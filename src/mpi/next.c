#include "mpi/next.h"

#if SK_HAVE_NEXT
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void *sk_next_find(const char *name, const char *other_name)
{
    void *fn = dlsym(RTLD_NEXT, name);
    if (!fn)
        fn = dlsym(RTLD_NEXT, other_name);
    if (!fn) {
        fprintf(stderr, "skein: the MPI library has no %s\n", name);
        abort();
    }
    return fn;
}
#endif
