/* plot.h: draw times over the size of a call: of any lines, or the predicted ones of all algorithms. */
#ifndef SK_EXPLAIN_PLOT_H
#define SK_EXPLAIN_PLOT_H

#include "pricing.h"

/* Lines over the size of a call. */
enum { SK_PLOT_POINTS = 64 };
typedef struct sk_plot {
    char title[96], x_name[64];
    int nlines, npoints;
    double x[SK_PLOT_POINTS];                   /* bytes: > 0, rising */
    double y[SK_PRICING_ALGOS][SK_PLOT_POINTS]; /* ns; 0: there is no point */
    const char *name[SK_PRICING_ALGOS];         /* of each line */
} sk_plot;
void sk_plot_text(const sk_plot *p, FILE *out); /* at least two points */

/* On standard output or, if `file` is not NULL, there as SVG, or as CSV if its name ends in .csv. Both axes are logarithmic. On failure `err` says
 * why. */
bool sk_plot_prices(sk_pricing *x, const char *file, char *err, size_t size);

#endif
