#include "sched/span.h"

const sk_type sk_type_byte = {.size = 1, .extent = 1, .true_extent = 1, .contig = true};

void sk_type_bounds(const sk_type *t, int64_t n, int64_t *lo, int64_t *hi)
{
    *lo = *hi = 0;
    if (n <= 0 || t->size == 0)
        return;
    int64_t last = (n - 1) * t->extent;
    *lo = t->true_lb + (last < 0 ? last : 0);
    *hi = t->true_lb + t->true_extent + (last > 0 ? last : 0);
}

sk_span sk_span_cut(const sk_type *types, sk_span s, int64_t from, int64_t len)
{
    s.off += sk_type_stride(&types[s.type], from);
    s.len = len;
    return s;
}

bool sk_span_join(const sk_type *types, sk_span *run, sk_span next)
{
    if (next.len == 0)
        return true;
    if (run->len == 0) {
        *run = next;
        return true;
    }
    if (next.buf != run->buf || next.type != run->type ||
        next.off != run->off + sk_type_stride(&types[run->type], run->len))
        return false;
    run->len += next.len;
    return true;
}
