/* tap.c: see tap.h. */
#include "tap.h"

#include <stdarg.h>
#include <stdio.h>

static int count, failed;

void tap_ok(bool good, const char *name, ...)
{
    va_list args;
    printf("%s %d - ", good ? "ok" : "not ok", ++count);
    va_start(args, name);
    vprintf(name, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    failed += !good;
}

void tap_skip(const char *name, const char *why)
{
    printf("ok %d - %s # SKIP %s\n", ++count, name, why);
    fflush(stdout);
}

int tap_end(void)
{
    printf("1..%d\n", count);
    return failed > 0;
}
