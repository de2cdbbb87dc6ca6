/* lookup.h: functions of loaded libraries. Skein exports dlsym and dlopen, which its own look-ups need
 * not pass: here are the C library's. */
#ifndef SK_LOOKUP_H
#define SK_LOOKUP_H

#include <stdbool.h>

/* Does a name start with this text? It calls nothing: sanitizers call dlsym before their own strcmp can
 * be called. */
static inline bool sk_name_starts(const char *name, const char *text)
{
    while (*text && *name == *text) {
        name++;
        text++;
    }
    return !*text;
}

typedef void *sk_dlsym_fn(void *handle, const char *name);
typedef void *sk_dlopen_fn(const char *file, int mode);

sk_dlsym_fn *sk_dlsym_real(void);
sk_dlopen_fn *sk_dlopen_real(void);

/* Is this a question for the C library's dlopen? Skein's dlsym answers with Skein's: UCX asks and puts a
 * dlopen of its own, which calls the answer, before every library. */
bool sk_is_real_dlopen(void *handle, const char *name);

void *sk_dlsym(void *handle, const char *name);
void *
sk_dlsym_next(const char *name); /* with RTLD_NEXT, from this library's place in the search order */

/* A function of a loaded library whose file name starts with `library`, also if it was loaded
 * RTLD_LOCAL. NULL: there is none. */
void *sk_dlsym_in(const char *name, const char *library);

/* How many libraries were loaded so far: it changes with every one. */
unsigned long long sk_libraries_loaded(void);

/* The library that holds an address, or NULL. */
const void *sk_library_of(const void *fn);

#endif
