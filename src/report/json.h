/* json.h: writing of JSON. */
#ifndef SK_REPORT_JSON_H
#define SK_REPORT_JSON_H

#include <stdbool.h>
#include <stdio.h>

/* "name": "text", or null. Bytes that are no UTF-8 become '?'; control characters are left out. */
void sk_json_text(FILE *out, const char *name, const char *text);

#endif
