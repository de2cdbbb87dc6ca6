#include "report/amounts.h"

#include <math.h>

#include "strlist.h"

static const char *scaled(sk_arena *a, double x, const char *unit)
{
    double size = fabs(x);
    return sk_format(a, "%.*f %s", size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2, x, unit);
}

const char *sk_show_seconds(sk_arena *a, double seconds)
{
    double s = fabs(seconds);
    if (s <= 0)
        return "0 s";
    return s >= 1      ? scaled(a, seconds, "s")
           : s >= 1e-3 ? scaled(a, seconds * 1e3, "ms")
                       : scaled(a, seconds * 1e6, "us");
}

const char *sk_show_bytes(sk_arena *a, double bytes)
{
    static const char *const unit[] = {"KB", "MB", "GB", "TB", "PB"};
    int i = -1;
    for (; bytes >= 1000 && i < 4; i++)
        bytes /= 1024;
    return i < 0 ? sk_format(a, "%.0f B", bytes) : scaled(a, bytes, unit[i]);
}

const char *sk_show_count(sk_arena *a, double n)
{
    return n < 1e15 ? sk_format(a, "%.0f", n) : sk_format(a, "%.3g", n);
}

const char *sk_show_part(sk_arena *a, double part)
{
    double percent = 100 * part;
    return sk_format(a, "%.*f %%", fabs(percent) >= 9.95 || percent == 0 ? 0 : 1, percent);
}

const char *sk_show_ranks(sk_arena *a, int i, double each, double ranks)
{
    double first = i * each, last = first + each - 1;
    last = last < ranks - 1 ? last : ranks - 1;
    return last > first ? sk_format(a, "ranks %.0f-%.0f", first, last)
                        : sk_format(a, "rank %.0f", first);
}

const char *sk_show_name(const char *name)
{
    return *name ? name : "(no name)";
}
