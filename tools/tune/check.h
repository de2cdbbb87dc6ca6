/* check.h: the predicted times beside the measured ones. */
#ifndef SK_TUNE_CHECK_H
#define SK_TUNE_CHECK_H

#include "select/select.h"

/* Prints for each call of which two algorithms have a measured and a predicted time: the best by either, and
 * what it costs to take the predicted one. False: there is no such call. */
bool sk_tune_check(sk_tuning *t, const sk_select *select, const bool wanted[SK_NCOLLS]);

#endif
