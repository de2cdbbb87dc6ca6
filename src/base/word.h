/* word.h: words of a text. Descriptions, of a machine or of a cost model, are lists of words
 * "name:value", separated by blanks or commas. */
#ifndef SK_WORD_H
#define SK_WORD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sk_word {
    char text[64]; /* the whole word; a longer one is cut and so matches nothing */
    char name[64]; /* before the colon; empty when there is none */
    char value[64];
} sk_word;

/* Take the next word off *text; false at the end. */
bool sk_word_next(const char **text, sk_word *out);

/* The index of a word in a NULL-ended list; -1: it is not in the list. */
int sk_word_find(const char *word, const char *const *list);

/* The candidate (NULL-ended list) nearest to a misspelt word, by edit distance without case; NULL:
 * the list is empty. For "did you mean". */
const char *sk_nearest(const char *word, const char *const *candidates);

/* The same, but NULL if a third of the word or more would have to change: then nobody means it. */
const char *sk_near(const char *word, const char *const *candidates);

/* For the end of a message about a wrong word: "did you mean X?" if a candidate is near, else "there
 * are A, B, C". Returns `out`. */
const char *sk_suggest(const char *word, const char *const *candidates, char *out, size_t size);

#endif
