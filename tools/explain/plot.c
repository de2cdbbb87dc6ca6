#include "plot.h"

#include <stdio.h>
#include <string.h>

#include "plot/plot.h"

/* All algorithms that have a price at some size, over sizes of powers of two. */
static void price_all(sk_pricing *x, sk_plot *p)
{
    const sk_callspec *s = &x->spec;
    const char *mean = sk_coll_bytes_mean(s->coll);
    snprintf(p->title, sizeof p->title, "%s on %d ranks, predicted time", sk_coll_name(s->coll),
             s->nranks);
    snprintf(p->x_name, sizeof p->x_name, "bytes: %s",
             strncmp(mean, "unknown", 7) == 0 ? "one block" : mean);
    for (int64_t e = 1; e <= sk_pricing_largest(x) && p->npoints < SK_PLOT_POINTS; e *= 2)
        p->x[p->npoints++] = (double)(e * s->elem_size);
    for (int i = 0; i < x->n && p->nlines < SK_PLOT_LINES; i++) {
        int known = 0;
        for (int k = 0; k < p->npoints; k++) {
            sk_priced priced;
            bool got = sk_pricing_of(x, x->algo[i], (int64_t)p->x[k] / s->elem_size, &priced);
            p->y[p->nlines][k] = got ? priced.ns : 0;
            known += got;
        }
        p->name[p->nlines] = x->algo[i]->name;
        p->nlines += known > 0;
    }
}

bool sk_plot_prices(sk_pricing *x, const char *file, char *err, size_t size)
{
    sk_plot p = {0};
    price_all(x, &p);
    if (p.nlines == 0 || p.npoints < 2) {
        snprintf(err, size, "no algorithm has a price here");
        return false;
    }
    if (!file) {
        sk_plot_text(&p, stdout);
        return true;
    }
    return sk_plot_save(&p, 1, file, err, size);
}
