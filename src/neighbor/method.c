/* method.c: the table of methods. */
#include "neighbor/method.h"

#include <string.h>

#define METHOD(ID, name, about) extern const sk_method sk_method_##name;
#include "neighbor/methods.def"
#undef METHOD

static const sk_method *const table[] = {
#define METHOD(ID, name, about) &sk_method_##name,
#include "neighbor/methods.def"
#undef METHOD
};

_Static_assert((int)SK_NMETHODS <= (int)SK_MAX_METHODS, "a negotiator has a result per method");

const sk_method *sk_method_get(sk_method_id id)
{
    return table[id];
}

sk_method_id sk_method_find(const char *name)
{
    int i = 0;
    while (i < SK_NMETHODS && strcmp(table[i]->name, name) != 0)
        i++;
    return (sk_method_id)i;
}
