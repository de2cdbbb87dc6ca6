/* mtx_text.c: lines, words and whole numbers of a Matrix Market file. */
#include "lab/graph/mtx_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int sk_mtx_wrong(sk_mtx_text *t, const char *format, ...)
{
    int at = snprintf(t->err, t->size, "%s:%" PRId64 ": ", t->file, t->line);
    if (at >= 0 && (size_t)at < t->size) {
        va_list args;
        va_start(args, format);
        vsnprintf(t->err + at, t->size - (size_t)at, format, args);
        va_end(args);
    }
    return -1;
}

static void cut(sk_mtx_text *t)
{
    static const char *const blank = " \t\r\v\f";
    char *rest = NULL;
    t->nwords = 0;
    for (char *w = strtok_r(t->text, blank, &rest); w; w = strtok_r(NULL, blank, &rest)) {
        if (t->nwords < SK_MTX_WORDS)
            t->word[t->nwords] = w;
        t->nwords++;
    }
}

int sk_mtx_line(sk_mtx_text *t)
{
    size_t len = 0;
    int c = getc(t->stream);
    if (c == EOF && !ferror(t->stream))
        return 0;
    t->line++;
    for (; c != EOF && c != '\n'; c = getc(t->stream)) {
        if (c == '\0')
            return sk_mtx_wrong(t, "a zero byte");
        if (len < SK_MTX_LINE)
            t->text[len++] = (char)c;
        else if (t->text[0] != '%') /* comments may be of any length */
            return sk_mtx_wrong(t, "longer than %d characters", SK_MTX_LINE);
    }
    if (ferror(t->stream))
        return sk_mtx_wrong(t, "%s", strerror(errno));
    t->text[len] = '\0';
    cut(t);
    return 1;
}

int sk_mtx_data_line(sk_mtx_text *t)
{
    int got;
    do
        got = sk_mtx_line(t);
    while (got > 0 && (t->nwords == 0 || t->text[0] == '%'));
    return got;
}

int sk_mtx_whole(sk_mtx_text *t, int i, const char *what, int64_t least, int64_t most, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(t->word[i], &end, 10);
    if (end == t->word[i] || *end)
        return sk_mtx_wrong(t, "%s is a whole number, not '%s'", what, t->word[i]);
    if (errno || value < least || value > most)
        return sk_mtx_wrong(t, "%s is from %" PRId64 " to %" PRId64 ", not %s", what, least, most,
                            t->word[i]);
    *out = value;
    return 0;
}
