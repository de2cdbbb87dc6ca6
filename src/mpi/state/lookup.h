/* lookup.h: the C library's dlsym and dlopen. Skein exports its own (abi/loader.c), which Skein itself
 * need not use. */
#ifndef SK_LOOKUP_H
#define SK_LOOKUP_H

typedef void *sk_dlsym_fn(void *handle, const char *name);
typedef void *sk_dlopen_fn(const char *file, int mode);

sk_dlsym_fn *sk_dlsym_real(void);
sk_dlopen_fn *sk_dlopen_real(void);

void *sk_dlsym(void *handle, const char *name);
void *sk_dlsym_next(const char *name); /* with RTLD_NEXT, from Skein's place in the search order */

/* The library that holds an address, or NULL. */
const void *sk_library_of(const void *fn);

#endif
