/* binding.h: the cpus on which this process may run, and their core and socket. The kernel says where cpus are. hwloc
 * reads the same, but looks for its plugins first, 4 to 8 ms in each MPI_Init. */
#ifndef SK_BINDING_H
#define SK_BINDING_H

#include <stdint.h>

#define SK_CPU_FOLDER "/sys/devices/system/cpu" /* of the kernel; tests have others */

typedef struct sk_binding {
    int cpus;       /* on which it may run; 0: not known */
    uint64_t which; /* tells sets of cpus apart */
    /* The lowest cpu there; -1: it may leave it, or the kernel does not say. */
    int32_t core, socket;
} sk_binding;

sk_binding sk_binding_read(const char *folder);

#endif
