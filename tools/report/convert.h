/* convert.h: from the report of a run to its page, for `skein run --report=html`. */
#ifndef SK_CONVERT_H
#define SK_CONVERT_H

#include "report/run_data.h"

/* False: `err` says why. */
bool sk_report_to_page(sk_arena *a, const char *json, const char *page, char err[SK_RUN_ERR]);

#endif
