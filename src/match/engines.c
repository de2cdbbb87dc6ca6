/* engines.c: the engines by name and number. */
#include <string.h>

#include "match/engine.h"

static const sk_engine *const engines[] = {
#define ENGINE(id) &sk_engine_##id,
#include "match/engines.def"
#undef ENGINE
};
static const int nengines = sizeof engines / sizeof engines[0];

const char *sk_engine_name(int i)
{
    return i >= 0 && i < nengines ? engines[i]->name : NULL;
}

const char *sk_engine_help(int i)
{
    return i >= 0 && i < nengines ? engines[i]->help : NULL;
}

const char *sk_engine_default(void)
{
    return sk_engine_flat.name;
}

const sk_engine *sk_engine_find(const char *name)
{
    if (!name || !*name)
        name = sk_engine_default();
    for (int i = 0; i < nengines; i++)
        if (strcmp(engines[i]->name, name) == 0)
            return engines[i];
    return NULL;
}
