/* device.h: memory that the processor must not touch, as the GPU runtime in the process tells: CUDA,
 * HIP, Level Zero. What is done about it is in dispatch/device.h. */
#ifndef SK_DEVICE_H
#define SK_DEVICE_H

#include <stdbool.h>

/* Bits of sk_proc.devices. While it is 0, no call asks about its buffers. */
enum {
    SK_DEVICES_LOOK = 1, /* libraries were loaded: look for a runtime before the next call */
    SK_DEVICES_HERE = 2, /* a runtime is loaded */
    SK_DEVICES_AGREED =
        4, /* the ranks of a communicator know that a runtime is loaded in one of them */
};

/* Look for a runtime among the loaded libraries. Nothing else in the process may be asked about its
 * memory before. */
void sk_device_look(void);

/* The process begins to load a library. */
void sk_device_loading(void);

/* What a rank says when the ranks of a communicator agree: its calls may have device memory. */
bool sk_device_possible(void);

bool sk_device_memory(const void *p);

#endif
