/* halving_form.h: the two forms of distance halving, see halving.c. */
#ifndef SK_HALVING_FORM_H
#define SK_HALVING_FORM_H

#include "neighbor/method.h"

sk_status sk_halving_plan(const sk_global_graph *g, const sk_machine *m, const sk_pattern_opts *o,
                          const int *ranks, int n, sk_pattern **out);
sk_negotiator *sk_halving_negotiator(const sk_graph *g, const sk_machine *m,
                                     const sk_pattern_opts *o);

#endif
