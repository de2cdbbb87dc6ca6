/* text.h: a report, a comparison and advice for a terminal. */
#ifndef SK_REPORT_TEXT_H
#define SK_REPORT_TEXT_H

#include <stdio.h>

#include "report/tips.h"

void sk_text_run(FILE *out, sk_arena *a, const sk_run_data *d);
void sk_text_compare(FILE *out, sk_arena *a, const sk_run_data *was, const sk_run_data *now);
void sk_text_tips(FILE *out, sk_arena *a, const sk_run_data *d, const sk_traced *t);

#endif
