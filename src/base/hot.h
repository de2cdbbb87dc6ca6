/* hot.h: SK_HOT marks what every call runs through. The linker puts it together, so that a rank
 * that has just been given the core finds it on few pages. */
#ifndef SK_HOT_H
#define SK_HOT_H

#define SK_HOT __attribute__((hot))

#endif
