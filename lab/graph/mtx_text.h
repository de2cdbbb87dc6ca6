/* mtx_text.h: a Matrix Market file as lines of words, and what is wrong with them. */
#ifndef SK_MTX_TEXT_H
#define SK_MTX_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SK_MTX_LINE = 1024, SK_MTX_WORDS = 6 };

typedef struct sk_mtx_text {
    FILE *stream;
    const char *file;
    int64_t line;
    char *err;
    size_t size;
    char text[SK_MTX_LINE + 1];
    char *word[SK_MTX_WORDS];
    int nwords; /* those beyond SK_MTX_WORDS are counted, but not kept */
} sk_mtx_text;

/* Message "FILE:LINE: ..." into err. Always -1, so that a refusal is one statement. */
__attribute__((format(printf, 2, 3))) int sk_mtx_wrong(sk_mtx_text *t, const char *format, ...);

/* Cut into words: the next line; the next one that is neither blank nor a comment. Result 1, at the
 * end of the file 0, or -1 with a message. */
int sk_mtx_line(sk_mtx_text *t);
int sk_mtx_data_line(sk_mtx_text *t);

/* Word i, a whole number from `least` to `most`. 0, or -1 with a message. */
int sk_mtx_whole(sk_mtx_text *t, int i, const char *what, int64_t least, int64_t most,
                 int64_t *out);

#endif
