/* tap.h: how the test programs that start processes or threads of their own report, in TAP (Test
 * Anything Protocol). All other test programs in C use cmocka. */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>

/* One test, of a name that is made as by printf. */
__attribute__((format(printf, 2, 3))) void tap_ok(bool good, const char *name, ...);
void tap_skip(const char *name, const char *why);

/* The end of main: prints the plan, returns the exit status. */
int tap_end(void);

#endif
