/* assert.h: SK_ASSERT checks an invariant of Skein itself: a state, a lock that must be held, an
 * index that must be in range. A failure is a bug: it prints where and aborts. Never use it on what
 * a user, a file or another process can get wrong, and never give it a condition with side effects.
 *
 * It is compiled in when SK_ASSERTS is defined: by the Meson option `asserts`, whose default is
 * "auto": on in sanitizer builds, which `make test` makes and runs all unit tests in; off otherwise,
 * so that the libraries people use execute no instruction for it. */
#ifndef SK_ASSERT_H
#define SK_ASSERT_H

#ifdef SK_ASSERTS
#include <stdio.h>
#include <stdlib.h>

#define SK_ASSERT(cond)                                                                            \
    do {                                                                                           \
        if (__builtin_expect(!(cond), 0)) {                                                        \
            fprintf(stderr, "skein: %s:%d: %s: assertion failed: %s\n", __FILE__, __LINE__,        \
                    __func__, #cond);                                                              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A member or a statement that only assertions need. */
#define SK_ASSERT_ONLY(code) code
#else
/* The condition is compiled, not executed: it cannot rot, and its variables count as used. */
#define SK_ASSERT(cond) ((void)(0 && (cond)))
#define SK_ASSERT_ONLY(code)
#endif

#endif
