/* match.c: see match.h. What the user says on the command line or in the environment counts; where
 * it leaves no room for the provider, it is better to ask than to guess. */
#include "run/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "match/match.h"
#include "run/check.h"

int sk_match_check_engine(const char *name)
{
    enum { MOST = 64 };
    const char *names[MOST + 1] = {0};
    for (int i = 0; i < MOST && sk_engine_name(i); i++) {
        names[i] = sk_engine_name(i);
        if (!strcmp(name, names[i]))
            return SK_RUN_OK;
    }
    if (!*name)
        return SK_RUN_OK;
    return sk_refuse("no matching engine %s; did you mean %s? `skein info` lists them", name,
                     sk_nearest(name, names));
}

static bool lists(sk_arena *a, const char *list, const char *word)
{
    sk_strlist words = sk_strlist_new(a);
    sk_strlist_split(&words, list, ",");
    return sk_strlist_has(&words, word);
}

/* A list of Open MPI or libfabric that begins with "^" names what is not wanted. */
static bool leaves_room(sk_arena *a, const char *list, const char *word)
{
    return *list == '^' ? !lists(a, list + 1, word) : lists(a, list, word);
}

static int contradicts(const char *where, const char *name, const char *value, const char *need)
{
    return sk_refuse("--match needs %s %s, but %s%s says %s; leave out one of them", name, need,
                     where, name, value);
}

static const struct {
    const char *name, *need; /* NULL: must not be set */
} needs[] = {{"pml", "cm"},
             {"mtl", "ofi"},
             {"mtl_ofi_provider_include", "skein"},
             {"mtl_ofi_provider_exclude", NULL}};

/* Two values of one parameter on a command line do not go together, so only one that names what is
 * needed may stand there. A variable may also just not rule it out: ours comes before it. */
static int check_parameters(sk_arena *a, const sk_launch *l)
{
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        const char *name = needs[i].name, *need = needs[i].need;
        const char *value = getenv(sk_format(a, "OMPI_MCA_%s", name));
        if (value && (!need || !leaves_room(a, value, need)))
            return contradicts("OMPI_MCA_", name, value, need ? need : "unset");
        for (int k = 0; l && k < l->nsections; k++) {
            value =
                l->kind == SK_LAUNCHER_OPENMPI ? sk_preload_mca(l, a, &l->sections[k], name) : NULL;
            if (value && (!need || !lists(a, value, need)))
                return contradicts("--mca ", name, value, need ? need : "unset");
        }
    }
    return SK_RUN_OK;
}

static int check_filter(sk_arena *a)
{
    const char *value = getenv("FI_PROVIDER");
    if (value && *value == '^' && lists(a, value + 1, "skein"))
        return contradicts("", "FI_PROVIDER", value, "skein");
    return SK_RUN_OK;
}

int sk_match_decide(sk_arena *a, const sk_run_options *o, sk_flavour mpi, const char *from,
                    const sk_launch *l, sk_fabric *f, bool *with)
{
    const char *why = NULL;
    *with = false;
    if (!o->match)
        return SK_RUN_OK;
    if (!sk_fabric_find(a, mpi, from, o->lib, f, &why)) {
        if (o->trace)
            return sk_refuse("nothing to record without the provider: %s", why);
        fprintf(stderr, "skein run: note: running without --match: %s\n", why);
        return SK_RUN_OK;
    }
    int status = check_parameters(a, l);
    if (status == SK_RUN_OK)
        status = check_filter(a);
    *with = status == SK_RUN_OK;
    return status;
}
