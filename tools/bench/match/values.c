#include "bench/match/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "option.h"

bool sk_value_number(const char *option, const char *text, int64_t lo, int64_t hi, int64_t *out)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || *end || errno || n < lo || n > hi)
        return !sk_bad_use(SK_MATCH_COMMAND, "%s takes numbers from %lld to %lld, not %s", option,
                           (long long)lo, (long long)hi, text);
    *out = n;
    return true;
}

bool sk_value_numbers(sk_arena *a, const char *option, const char *text, int64_t lo, int64_t hi,
                      sk_numbers *out)
{
    enum { ROOM = sizeof out->v / sizeof *out->v };
    sk_strlist w = sk_strlist_new(a);
    sk_strlist_split(&w, text, ",");
    if (w.n == 0 || w.n > ROOM)
        return !sk_bad_use(SK_MATCH_COMMAND, "%s takes 1 to %d numbers, separated by commas",
                           option, ROOM);
    out->n = w.n;
    for (int i = 0; i < w.n; i++)
        if (!sk_value_number(option, w.v[i], lo, hi, &out->v[i]))
            return false;
    return true;
}

bool sk_value_choose(const char *what, const char *text, const sk_strlist *valid, sk_strlist *out)
{
    sk_strlist given = sk_strlist_new(valid->arena);
    sk_strlist_split(&given, text, ",");
    *out = sk_strlist_new(valid->arena);
    for (int i = 0; i < given.n; i++) {
        bool all = strcmp(given.v[i], "all") == 0;
        if (!all && !sk_strlist_has(valid, given.v[i]))
            return !sk_bad_use(SK_MATCH_COMMAND, "no %s %s; did you mean %s?", what, given.v[i],
                               sk_nearest(given.v[i], (const char *const *)valid->v));
        for (int k = 0; k < valid->n; k++)
            if (all || strcmp(valid->v[k], given.v[i]) == 0)
                sk_strlist_add(out, valid->v[k]);
    }
    return out->n > 0 || !sk_bad_use(SK_MATCH_COMMAND, "no %s is given", what);
}
