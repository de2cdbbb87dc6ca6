/* local.c: ucp_worker_progress, which Skein interposes, finds UCX also when it was
 * loaded with RTLD_LOCAL, where RTLD_NEXT does not see it, and does nothing while there is none.
 * Usage: LD_PRELOAD=libskein.so local CALLER */
#include <dlfcn.h>
#include <stddef.h>

#include "tap.h"

typedef unsigned progress_fn(void *);

int main(int argc, char **argv)
{
    (void)argc;
    unsigned worker = 7;
    progress_fn *interposed = (progress_fn *)dlsym(RTLD_DEFAULT, "ucp_worker_progress");
    tap_ok(interposed != NULL, "ucp_worker_progress is interposed");
    if (!interposed)
        return tap_end();
    tap_ok(interposed(&worker) == 0 && worker == 7, "without UCX it returns 0");
    void *caller = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    progress_fn *progress = caller ? (progress_fn *)dlsym(caller, "caller_progress") : NULL;
    tap_ok(progress != NULL, "%s is loaded", argv[1]);
    if (!progress)
        return tap_end();
    void *own = dlsym(caller, "ucp_worker_progress");
    tap_ok(own && own != (void *)interposed, "UCX came with it, in a scope of its own");
    tap_ok(progress(&worker) == 8 && worker == 8, "the call reaches UCX");
    tap_ok(progress(&worker) == 9 && worker == 9, "and again");
    return tap_end();
}
