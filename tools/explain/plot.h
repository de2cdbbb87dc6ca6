/* plot.h: draw the predicted times of all algorithms over the size of a call. */
#ifndef SK_EXPLAIN_PLOT_H
#define SK_EXPLAIN_PLOT_H

#include "pricing.h"

/* On standard output or, if `file` is not NULL, there; see sk_plot_save. On failure `err` says why. */
bool sk_plot_prices(sk_pricing *x, const char *file, char *err, size_t size);

#endif
