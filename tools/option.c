#include "option.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/settings.h"

enum { MOST_OPTIONS = 32 };

static int unknown(const char *command, const sk_option *table, const char *word, int len)
{
    const char *names[MOST_OPTIONS + 1] = {0};
    char name[64];
    for (int i = 0; i < MOST_OPTIONS && table[i].name; i++)
        names[i] = table[i].name;
    snprintf(name, sizeof name, "%.*s", len, word);
    fprintf(stderr, "%s: no option %s; did you mean %s?\n", command, name, sk_nearest(name, names));
    return SK_OPTION_BAD;
}

int sk_option_take(const char *command, const sk_option *table, char **argv, int *i,
                   const char **value)
{
    const char *word = argv[*i];
    size_t len = strcspn(word, "=");
    if (word[0] != '-') {
        *value = word;
        return SK_OPTION_WORD;
    }
    int o = 0;
    while (table[o].name &&
           (strlen(table[o].name) != len || strncmp(table[o].name, word, len) != 0))
        o++;
    if (!table[o].name)
        return unknown(command, table, word, (int)len);
    if (!table[o].value && word[len]) {
        fprintf(stderr, "%s: %s takes no value\n", command, table[o].name);
        return SK_OPTION_BAD;
    }
    *value = word[len] ? word + len + 1 : table[o].value ? argv[*i + 1] : "";
    if (!*value) {
        fprintf(stderr, "%s: %s needs a value\n", command, table[o].name);
        return SK_OPTION_BAD;
    }
    if (table[o].value && !word[len])
        ++*i;
    return o;
}

int sk_bad_use(const char *command, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fprintf(stderr, "skein %s: ", command);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
    va_end(ap);
    return 2;
}
