/* page.h: a report as one page: no script, no network, nothing else needed. */
#ifndef SK_PAGE_H
#define SK_PAGE_H

#include <stdio.h>

#include "report/run_data.h"

void sk_page_run(FILE *out, sk_arena *a, const sk_run_data *d);
void sk_page_compare(FILE *out, sk_arena *a, const sk_run_data *was, const sk_run_data *now);

#endif
