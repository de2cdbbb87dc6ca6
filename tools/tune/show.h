/* show.h: a tuning file as a table and as plots. */
#ifndef SK_TUNE_SHOW_H
#define SK_TUNE_SHOW_H

#include "select/tuning.h"

/* On standard output; `wanted`: these collectives only. */
void sk_tune_show(sk_tuning *t, const bool wanted[SK_NCOLLS]);

#endif
