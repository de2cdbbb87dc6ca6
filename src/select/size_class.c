#include "select/size_class.h"

#include <stdlib.h>

enum {
    SOON = 4,     /* calls before the ranks agree again, if something has changed */
    GROWTH = 4,   /* else so many times as many as before, */
    UNKNOWN = 64, /* at most, where the time of a call is not known, */
    SHARE = 100,  /* and where it is: meeting takes this part of it, */
    SAVED = 100,  /* and this part of what is saved */
    WITHIN = 2,   /* classes of one rank's calls that are alike */
    THE_SAME = 1, /* classes that are no other one */
};

int sk_size_class_of(int64_t bytes)
{
    return bytes > 0 ? 64 - __builtin_clzll((unsigned long long)bytes) : 0;
}

static void note(sk_size_class *s, int class)
{
    s->low = !s->begun || class < s->low ? class : s->low;
    s->high = !s->begun || class > s->high ? class : s->high;
}

int64_t sk_size_class_spread(const sk_size_class *s)
{
    return s->high - s->low;
}

bool sk_size_class_alike(int64_t spread)
{
    return spread <= WITHIN;
}

void sk_size_class_ask(sk_size_class *s, int64_t bytes, int64_t values[SK_SIZE_CLASS_VALUES])
{
    note(s, sk_size_class_of(bytes));
    values[SK_SIZE_CLASS_HIGH] = s->high;
    values[SK_SIZE_CLASS_SPREAD] = sk_size_class_spread(s);
}

/* Sizes that were of one class get a second chance: they may be of another one from now on. */
static int found(const sk_size_class *s, bool alike, int high)
{
    if (!alike)
        return s->doubted ? SK_SIZE_CLASS_MIXED : s->agreed;
    bool same = s->begun && s->agreed != SK_SIZE_CLASS_MIXED && abs(high - s->agreed) <= THE_SAME;
    return same ? s->agreed : high;
}

bool sk_size_class_agree(sk_size_class *s, int64_t bytes,
                         const int64_t values[SK_SIZE_CLASS_VALUES])
{
    bool alike = sk_size_class_alike(values[SK_SIZE_CLASS_SPREAD]);
    int class = found(s, alike, (int)values[SK_SIZE_CLASS_HIGH]);
    bool same = s->begun && class == s->agreed && alike == (class != SK_SIZE_CLASS_MIXED);
    if (!s->begun)
        s->soon = SOON;
    s->pause = same ? s->pause * GROWTH : s->soon;
    s->soon = same ? s->soon : 2 * s->soon;
    s->begun = true;
    s->agreed = class;
    s->doubted = !alike;
    s->low = s->high = sk_size_class_of(bytes);
    s->left = s->pause - 1;
    return same;
}

void sk_size_class_limit(sk_size_class *s, int64_t meeting, int64_t ns, int64_t saved)
{
    int64_t budget = ns / SHARE + (saved > 0 ? saved / SAVED : 0);
    int64_t most = ns <= 0 ? UNKNOWN : meeting / (budget > 0 ? budget : 1);
    most = most > SOON ? most : SOON;
    if (s->pause >= most) {
        s->pause = most;
        s->soon = SOON;
    }
    s->left = s->pause - 1;
}
