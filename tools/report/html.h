/* html.h: writing of a page. Whatever comes from a file reaches the page by `$`, and only escaped. */
#ifndef SK_HTML_H
#define SK_HTML_H

#include <stdio.h>

#include "base/arena.h"

typedef struct sk_html {
    FILE *out;
    sk_arena *arena;
} sk_html;

/* Writes the text as it is, but for each $ the next argument, a string, escaped for text and attributes. */
void sk_html_put(const sk_html *h, const char *format, ...);

/* A number in CSS or SVG. */
const char *sk_css(const sk_html *h, double x);

/* The head of a page, up to and with the start of <main>, and its end. */
void sk_page_begin(const sk_html *h, const char *title);
void sk_page_end(const sk_html *h);

/* A table that scrolls sideways where it is too wide. `heads`: its columns, separated by |; one that begins with # holds
 * numbers. */
void sk_table_begin(const sk_html *h, const char *caption, const char *heads);
void sk_table_end(const sk_html *h);

/* A key figure. */
void sk_card(const sk_html *h, const char *name, const char *value, const char *more);

#endif
