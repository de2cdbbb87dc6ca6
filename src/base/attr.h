/* attr.h: hints to the compiler. */
#ifndef SK_ATTR_H
#define SK_ATTR_H

/* A function that every call runs through. The linker places hot functions side by side, so a rank
 * that has just been scheduled finds them on few pages. */
#define SK_HOT __attribute__((hot))

/* A condition that is almost never true. */
#define SK_UNLIKELY(cond) __builtin_expect(!!(cond), 0)

/* Always, so that arguments stay in registers and what does not apply is left out. Sanitizers make such code so large that
 * compiling it takes minutes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SK_INLINED inline
#else
#define SK_INLINED inline __attribute__((always_inline))
#endif

#endif
