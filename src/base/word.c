#include "base/word.h"

#include <stdio.h>
#include <string.h>

static const char between[] = " \t\r\n,";

bool sk_word_next(const char **text, sk_word *out)
{
    *text += strspn(*text, between);
    size_t n = strcspn(*text, between);
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
