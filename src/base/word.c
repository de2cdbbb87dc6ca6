#include "base/word.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char separators[] = " \t\r\n,";

bool sk_word_next(const char **text, sk_word *out)
{
    *text += strspn(*text, separators);
    size_t n = strcspn(*text, separators);
    if (n == 0)
        return false;
    snprintf(out->text, sizeof out->text, "%.*s", (int)n, *text);
    *text += n;

    const char *colon = strchr(out->text, ':'), *value = colon ? colon + 1 : out->text;
    snprintf(out->name, sizeof out->name, "%.*s", (int)(colon ? colon - out->text : 0), out->text);
    snprintf(out->value, sizeof out->value, "%s", value);
    return true;
}

int sk_word_find(const char *word, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (!strcmp(word, list[i]))
            return i;
    return -1;
}

enum { LONGEST = 63 };

/* Edit distance, case ignored: insert, delete, replace, and swap of two neighbours cost 1 each. */
static size_t distance(const char *a, const char *b)
{
    size_t row[3][LONGEST + 1];
    size_t na = strnlen(a, LONGEST), nb = strnlen(b, LONGEST);
    size_t *before = row[0], *last = row[1], *now = row[2];

    for (size_t j = 0; j <= nb; j++)
        last[j] = j;
    for (size_t i = 1; i <= na; i++) {
        int ca = tolower((unsigned char)a[i - 1]);
        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            int cb = tolower((unsigned char)b[j - 1]);
            size_t best = last[j - 1] + (ca != cb);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
                cb == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        size_t *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[nb];
}

static const char *nearest(const char *word, const char *const *candidates, size_t *least)
{
    const char *best = NULL;
    *least = (size_t)-1;
    for (; *candidates; candidates++) {
        size_t d = distance(word, *candidates);
        if (d < *least) {
            *least = d;
            best = *candidates;
        }
    }
    return best;
}

const char *sk_nearest(const char *word, const char *const *candidates)
{
    size_t d;
    return nearest(word, candidates, &d);
}

const char *sk_near(const char *word, const char *const *candidates)
{
    size_t d, most = (strnlen(word, LONGEST) + 1) / 3;
    const char *best = nearest(word, candidates, &d);
    return d <= (most > 1 ? most : 1) ? best : NULL;
}

const char *sk_suggest(const char *word, const char *const *candidates, char *out, size_t size)
{
    const char *near = sk_near(word, candidates);
    if (near) {
        snprintf(out, size, "did you mean %s?", near);
        return out;
    }
    int n = snprintf(out, size, "there are");
    for (int i = 0; candidates[i] && n > 0 && (size_t)n < size; i++)
        n += snprintf(out + n, size - (size_t)n, "%s %s", i ? "," : "", candidates[i]);
    return out;
}
