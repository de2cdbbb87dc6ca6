/* words.c: see words.h. */
#include "run/words.h"

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

char *sk_text(sk_arena *a, const char *format, ...)
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

sk_words sk_words_new(sk_arena *a)
{
    return (sk_words){.arena = a};
}

void sk_words_add(sk_words *w, const char *word)
{
    if (w->n + 1 >= w->cap) {
        int cap = w->cap ? 2 * w->cap : 16;
        char **v = sk_arena_need(w->arena, (size_t)cap * sizeof *v);
        if (w->n)
            memcpy(v, w->v, (size_t)w->n * sizeof *v);
        w->v = v;
        w->cap = cap;
    }
    w->v[w->n++] = sk_text(w->arena, "%s", word);
    w->v[w->n] = NULL;
}

void sk_words_split(sk_words *w, const char *text, const char *separators)
{
    while (*text) {
        text += strspn(text, separators);
        size_t n = strcspn(text, separators);
        if (n)
            sk_words_add(w, sk_text(w->arena, "%.*s", (int)n, text));
        text += n;
    }
}

bool sk_words_has(const sk_words *w, const char *word)
{
    for (int i = 0; i < w->n; i++)
        if (!strcmp(w->v[i], word))
            return true;
    return false;
}

bool sk_starts(const char *text, const char *prefix)
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

const char *sk_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *sk_dir(sk_arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/" : sk_text(a, "%.*s", (int)(slash - path), path);
}
