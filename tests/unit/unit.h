/* unit.h: what all unit tests include. */
#ifndef UNIT_H
#define UNIT_H

/* cmocka wants these four before itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab/sched/inspect.h"

/* A schedule with types: byte, and six bytes of data with a hole, twelve apart. */
enum { HOLEY = 1 };
static const sk_type unit_types[] = {
    {.size = 1, .extent = 1, .true_extent = 1, .contig = true},
    {.size = 6, .extent = 12, .true_lb = 2, .true_extent = 8},
};

static inline sk_sched *unit_sched(void)
{
    sk_sched *s = sk_sched_new(unit_types, 2);
    assert_non_null(s);
    return s;
}

static inline sk_span bytes_of(sk_buf buf, int64_t off, int64_t len)
{
    return (sk_span){.off = off, .len = len, .buf = buf};
}

/* cmocka 2 deprecates assert_in_range, cmocka 1 has nothing else. */
static inline void between_at(uintmax_t value, uintmax_t least, uintmax_t most, const char *what,
                              const char *file, int line)
{
    if (value >= least && value <= most)
        return;
    print_error("%s is %ju, not within %ju to %ju\n", what, value, least, most);
    _fail(file, line);
}

#define assert_between(value, least, most)                                                         \
    between_at((uintmax_t)(value), (uintmax_t)(least), (uintmax_t)(most), #value, __FILE__,        \
               __LINE__)

#define RUN(tests) cmocka_run_group_tests_name(__FILE__, tests, NULL, NULL)

#endif
