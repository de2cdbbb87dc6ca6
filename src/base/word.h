/* word.h: descriptions are words "name:value", apart by blanks or commas. */
#ifndef SK_WORD_H
#define SK_WORD_H

#include <stdbool.h>

typedef struct sk_word {
    char text[64]; /* the whole word; a longer one is cut, which leaves nothing that means much */
    char name[64]; /* before the colon; empty when there is none */
    char value[64];
} sk_word;

/* Takes the next word off *text; false at the end. */
bool sk_word_next(const char **text, sk_word *out);

/* The place of a word in a NULL-ended list, -1 when it is not there. */
int sk_word_find(const char *word, const char *const *list);

#endif
