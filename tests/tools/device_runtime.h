/* device_runtime.h: the stand-in for a GPU runtime. The program looks the functions up. */
#ifndef DEVICE_RUNTIME_H
#define DEVICE_RUNTIME_H

#include <stddef.h>

void *device_alloc(size_t bytes);
void device_copy(void *to, const void *from, size_t bytes);
int cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer);

#endif
