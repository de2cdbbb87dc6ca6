/* gift.c: see gift.h. */
#include "run/gift.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

sk_gifts sk_gifts_new(sk_arena *a, const char *library)
{
    sk_gifts g = {.plain = sk_strlist_new(a), .mca = sk_strlist_new(a)};
    g.lists[g.nlists++] = (sk_gift){.name = "LD_PRELOAD", .value = library, .between = ':'};
    for (char **e = environ; *e; e++)
        if (sk_starts_with(*e, "SKEIN_") || sk_starts_with(*e, "SKEIN="))
            sk_strlist_add(&g.plain, *e);
    return g;
}

/* libfabric looks in its own directory only when it is told of no other. FI_PROVIDER names the
 * providers that may be used: where it is set, it must name ours. */
void sk_gifts_match(sk_gifts *g, const sk_fabric *f)
{
    static const char *const mca[] = {
        "pml", "cm", "mtl", "ofi", "mtl_ofi_provider_include", "skein", "btl", "^openib,ofi,vader"};
    sk_arena *a = g->plain.arena;
    const char *path = sk_dirname(a, f->library);
    if (f->others && !getenv("FI_PROVIDER_PATH"))
        path = sk_format(a, "%s:%s", path, f->others);
    g->lists[g->nlists++] = (sk_gift){.name = "FI_PROVIDER_PATH", .value = path, .between = ':'};
    g->lists[g->nlists++] =
        (sk_gift){.name = "FI_PROVIDER", .value = "skein", .between = ',', .shy = true};
    for (size_t i = 0; i < sizeof mca / sizeof *mca; i += 2) {
        if (!strcmp(mca[i], "btl") && getenv("OMPI_MCA_btl"))
            continue; /* it only keeps away what is not needed, of which vader would leave files in
                         /dev/shm when a job is killed: the user's choice is as good */
        sk_strlist_add(&g->mca, mca[i]);
        sk_strlist_add(&g->mca, mca[i + 1]);
    }
}

const sk_gift *sk_gift_find(const sk_gifts *g, const char *word)
{
    for (int i = 0; i < g->nlists; i++) {
        size_t n = strlen(g->lists[i].name);
        if (!strncmp(word, g->lists[i].name, n) && (!word[n] || word[n] == '='))
            return &g->lists[i];
    }
    return NULL;
}

static bool lists(sk_arena *a, const char *list, char between, const char *value)
{
    sk_strlist words = sk_strlist_new(a);
    sk_strlist_split(&words, list, (char[]){between, 0});
    return sk_strlist_has(&words, value);
}

/* A list that begins with "^" names what is not wanted; one that begins with "@" is a path whose
 * order counts. */
const char *sk_gift_join(sk_arena *a, const sk_gift *gift, const char *old)
{
    if (!old || !*old)
        return gift->shy ? NULL : gift->value;
    if (*old == '^' || lists(a, old, gift->between, gift->value))
        return old;
    bool ordered = *old == '@';
    return sk_format(a, "%s%s%c%s", ordered ? "@" : "", gift->value, gift->between, old + ordered);
}

sk_strlist sk_gifts_list(sk_arena *a, const sk_gifts *g, bool mca)
{
    sk_strlist all = sk_strlist_new(a);
    for (int i = 0; i < g->nlists; i++) {
        const char *value = sk_gift_join(a, &g->lists[i], getenv(g->lists[i].name));
        if (value)
            sk_strlist_add(&all, sk_format(a, "%s=%s", g->lists[i].name, value));
    }
    for (int i = 0; i < g->plain.n; i++)
        sk_strlist_add(&all, g->plain.v[i]);
    for (int i = 0; mca && i < g->mca.n; i += 2)
        sk_strlist_add(&all, sk_format(a, "OMPI_MCA_%s=%s", g->mca.v[i], g->mca.v[i + 1]));
    return all;
}
