/* attr.h: hints to the compiler. */
#ifndef SK_ATTR_H
#define SK_ATTR_H

/* A function that every call runs through. The linker places hot functions side by side, so a rank
 * that has just been scheduled finds them on few pages. */
#define SK_HOT __attribute__((hot))

/* A condition that is almost never true. */
#define SK_UNLIKELY(cond) __builtin_expect(!!(cond), 0)

#endif
