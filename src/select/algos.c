/* algos.c: the table of all algorithms: those of coll/algos.def, then those for neighbourhoods. It is
 * here because only this folder may know both. */
#include "coll/algo.h"

#include <string.h>

#define ALGO(x) extern const sk_algo sk_##x;
#include "coll/algos.def"
#include "neighbor/algos.def"
#undef ALGO

const sk_algo *const *sk_algos(void)
{
    static const sk_algo *const table[] = {
#define ALGO(x) &sk_##x,
#include "coll/algos.def"
#include "neighbor/algos.def"
#undef ALGO
        NULL};
    return table;
}

int sk_algo_index(const sk_algo *a)
{
    int i = 0;
    while (sk_algos()[i] != a)
        i++;
    return i;
}

/* Names that algorithms had before version 0.2. */
static const char *present_name(const char *name)
{
    static const struct {
        const char *old, *now;
    } renamed[] = {{"shared", "shm"}, {"exposed", "single-copy"}};
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(name, renamed[i].old) == 0)
            return renamed[i].now;
    return name;
}

const sk_algo *sk_algo_find(sk_coll coll, const char *name)
{
    name = present_name(name);
    for (const sk_algo *const *a = sk_algos(); *a; a++)
        if ((*a)->coll == coll && strcmp((*a)->name, name) == 0)
            return *a;
    return NULL;
}
