/* plot.h: draws times over the size of a call, in the terminal or in a file. Both axes are logarithmic. */
#ifndef SK_PLOT_H
#define SK_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { SK_PLOT_POINTS = 64, SK_PLOT_LINES = 16 };
typedef struct sk_plot {
    char title[96], x_name[64];
    int nlines, npoints;
    double x[SK_PLOT_POINTS];                /* bytes: > 0, rising */
    double y[SK_PLOT_LINES][SK_PLOT_POINTS]; /* ns; 0: there is no point */
    const char *name[SK_PLOT_LINES];         /* of each line */
} sk_plot;

void sk_plot_text(const sk_plot *p, FILE *out); /* at least two points */

/* n plots below each other in a file: SVG, by gnuplot where it is installed; or, if the name ends so, gnuplot's
 * script (.gp) or the numbers (.csv). On failure `err` says why. */
bool sk_plot_save(const sk_plot *p, int n, const char *file, char *err, size_t size);

const char *sk_plot_time(double ns, char *out, size_t size); /* "12.3 us" */

/* The line of this name, a new one if there is none; -1: there are too many. */
int sk_plot_line(sk_plot *p, const char *name);

#endif
