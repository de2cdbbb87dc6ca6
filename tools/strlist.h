/* strlist.h: lists of strings, and strings made by a format, all in one arena. When memory runs out
 * these functions print a message and exit, so no caller checks for it. */
#ifndef SK_STRLIST_H
#define SK_STRLIST_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct sk_strlist {
    sk_arena *arena;
    char **v; /* followed by NULL once a string was added */
    int n, cap;
} sk_strlist;

void *sk_arena_need(sk_arena *a, size_t bytes); /* sk_arena_get that never returns NULL */
char *sk_format(sk_arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

sk_strlist sk_strlist_new(sk_arena *a);
void sk_strlist_add(sk_strlist *l, const char *text); /* copies it */
void sk_strlist_split(sk_strlist *l, const char *text, const char *separators);
bool sk_strlist_has(const sk_strlist *l, const char *word);

bool sk_starts_with(const char *text, const char *prefix);
bool sk_listed(const char *list, const char *word);    /* list: words separated by one space */
const char *sk_basename(const char *path);             /* after the last slash */
const char *sk_dirname(sk_arena *a, const char *path); /* before it, "." if there is none */

#endif
