/* point.c: see point.h. */
#include "bench/point.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const sk_equality_names[] = {"no", "host-wrong", "yes", NULL};

int64_t sk_first_difference(const void *a, const void *b, size_t bytes)
{
    const unsigned char *x = a, *y = b;
    if (bytes == 0 || memcmp(x, y, bytes) == 0)
        return -1;
    size_t i = 0;
    while (x[i] == y[i])
        i++;
    return (int64_t)i;
}

void sk_point_format(const sk_point *p, char *line, size_t size)
{
    const sk_timing *m = &p->time[0], *b = &p->time[1];
    snprintf(line, size,
             "point %s %" PRId64
             " %s %d %d %d %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %s",
             sk_coll_name(p->coll), p->bytes, sk_equality_names[p->equal], p->rounds, p->singles,
             p->train, m->skein_us, m->host_us, m->ratio.lo, m->ratio.mid, m->ratio.hi, b->skein_us,
             b->host_us, b->ratio.lo, b->ratio.mid, b->ratio.hi, p->empty_us, p->overlap[0],
             p->overlap[1], p->algorithm);
}

bool sk_point_parse(const char *line, sk_point *p)
{
    char name[32], word[16];
    sk_timing *m = &p->time[0], *b = &p->time[1];
    int got = sscanf(line,
                     "point %31s %" SCNd64
                     " %15s %d %d %d %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %23s",
                     name, &p->bytes, word, &p->rounds, &p->singles, &p->train, &m->skein_us,
                     &m->host_us, &m->ratio.lo, &m->ratio.mid, &m->ratio.hi, &b->skein_us,
                     &b->host_us, &b->ratio.lo, &b->ratio.mid, &b->ratio.hi, &p->empty_us,
                     &p->overlap[0], &p->overlap[1], p->algorithm);
    if (got != 20)
        return false;
    int equal = sk_name_index(sk_equality_names, word);
    p->equal = (sk_equality)equal;
    p->coll = sk_coll_find(name);
    return equal >= 0 && p->coll != SK_NCOLLS;
}
