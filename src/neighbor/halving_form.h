/* halving_form.h: the two forms of distance halving, see halving.c. */
#ifndef SK_HALVING_FORM_H
#define SK_HALVING_FORM_H

#include "neighbor/method.h"

sk_status sk_halving_plan(const sk_whole *g, const sk_machine *m, const sk_pattern_opts *o,
                          const int *ranks, int n, sk_pattern **out);
sk_party *sk_halving_party(const sk_graph *g, const sk_machine *m, const sk_pattern_opts *o);

#endif
