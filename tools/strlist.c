/* strlist.c: see strlist.h. */
#include "strlist.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *sk_arena_need(sk_arena *a, size_t bytes)
{
    void *p = sk_arena_get(a, bytes);
    if (!p) {
        fputs("skein: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

char *sk_format(sk_arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *text = sk_arena_need(a, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

sk_strlist sk_strlist_new(sk_arena *a)
{
    return (sk_strlist){.arena = a};
}

void sk_strlist_add(sk_strlist *l, const char *text)
{
    if (l->n + 1 >= l->cap) {
        int cap = l->cap ? 2 * l->cap : 16;
        char **v = sk_arena_need(l->arena, (size_t)cap * sizeof *v);
        if (l->n)
            memcpy(v, l->v, (size_t)l->n * sizeof *v);
        l->v = v;
        l->cap = cap;
    }
    l->v[l->n++] = sk_format(l->arena, "%s", text);
    l->v[l->n] = NULL;
}

void sk_strlist_split(sk_strlist *l, const char *text, const char *separators)
{
    while (*text) {
        text += strspn(text, separators);
        size_t n = strcspn(text, separators);
        if (n)
            sk_strlist_add(l, sk_format(l->arena, "%.*s", (int)n, text));
        text += n;
    }
}

bool sk_strlist_has(const sk_strlist *l, const char *word)
{
    for (int i = 0; i < l->n; i++)
        if (!strcmp(l->v[i], word))
            return true;
    return false;
}

bool sk_starts_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

bool sk_listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; n && (p = strstr(p, word)); p++)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
            return true;
    return false;
}

const char *sk_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *sk_dirname(sk_arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/" : sk_format(a, "%.*s", (int)(slash - path), path);
}
