/* words.h: lists of words and strings made on the way, in one arena. A command that is out of
 * memory can only say so and end, so nothing here fails. */
#ifndef SK_WORDS_H
#define SK_WORDS_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct sk_words {
    sk_arena *arena;
    char **v; /* always ended by NULL once a word was added */
    int n, cap;
} sk_words;

void *sk_arena_need(sk_arena *a, size_t bytes); /* sk_arena_get that never returns NULL */
char *sk_text(sk_arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

sk_words sk_words_new(sk_arena *a);
void sk_words_add(sk_words *w, const char *word); /* copies it */
void sk_words_split(sk_words *w, const char *text, const char *separators);
bool sk_words_has(const sk_words *w, const char *word);

bool sk_starts(const char *text, const char *prefix);
bool sk_listed(const char *list, const char *word); /* list: words with one space between */
const char *sk_base(const char *path);              /* after the last slash */
const char *sk_dir(sk_arena *a, const char *path);  /* before it, "." if there is none */

#endif
