#include "base/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

sk_status sk_read_integer(const char *text, bool sized, int64_t lo, int64_t hi, int64_t *out)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    char suffix = (char)(*end & ~0x20); /* upper case; of a blank, nothing */
    const char *unit = sized && suffix ? strchr(units, suffix) : NULL;
    int64_t factor = unit ? (int64_t)1 << 10 * (unit - units + 1) : 1;
    if (end == text || end[unit != NULL])
        return SK_BADARG;
    if (errno || __builtin_mul_overflow(n, factor, &n) || n < lo || n > hi)
        return SK_TOOBIG;
    *out = n;
    return SK_OK;
}

bool sk_read_number(const char *text, bool sized, int64_t *out)
{
    return sk_read_integer(text, sized, 0, INT64_MAX, out) == SK_OK;
}

double sk_read_decimal(const char *text, const char **end)
{
    double whole = 0, parts = 1;
    bool digits = false, point = false;
    const char *at = text;
    for (; isdigit((unsigned char)*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        digits = true;
        whole = 10 * whole + (*at - '0');
        parts *= point ? 10 : 1;
    }
    *end = digits ? at : text;
    return digits ? whole / parts : 0;
}
