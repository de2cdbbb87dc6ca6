/* sections.c: cut a launcher's command line into programs. */
#include <string.h>

#include "run/find.h"
#include "run/launcher.h"

/* Where the program stands between first and end, `end` when there is none. */
static int find_program(sk_arena *a, sk_launcher_kind kind, char *const *words, sk_section *s)
{
    bool known = true;
    int guess = s->end;
    for (int i = s->first; i < s->end;) {
        if (!strcmp(words[i], "--"))
            return i + 1;
        bool doubt = !known;
        int n = sk_launcher_option(kind, words + i, s->end - i, &known);
        if (!n) {
            /* After an option that the tables do not have, a word that is no program is its value.
             */
            const char *path;
            if (!doubt || sk_find_program(a, words[i], s->dir, &path) == SK_FIND_OK)
                return i;
            if (guess == s->end)
                guess = i;
            known = true;
            n = 1;
        } else if (n > 1 && sk_listed("wdir wd chdir D", sk_launcher_option_name(a, words[i]))) {
            s->dir = words[i + 1];
        }
        i += n;
    }
    return guess;
}

int sk_launcher_cut(sk_arena *a, sk_launcher_kind kind, char *const *words, int n,
                    sk_section **sections)
{
    int count = 1;
    for (int i = 1; i < n; i++)
        count += !strcmp(words[i], ":");
    *sections = sk_arena_need(a, (size_t)count * sizeof **sections);
    int first = 1;
    for (int k = 0; k < count; k++) {
        sk_section *s = &(*sections)[k];
        s->first = s->end = first;
        while (s->end < n && strcmp(words[s->end], ":") != 0)
            s->end++;
        s->program = find_program(a, kind, words, s);
        first = s->end + 1;
    }
    return count;
}
