/* renames.c: the choice of a renaming. */
#include "select/renames.h"

#include <stdio.h>
#include <string.h>

void sk_renames_free(sk_renames *x)
{
    for (int i = 0; i <= SK_PREFERS_ROUND_ROBIN; i++)
        sk_rename_free(x->rename[i]);
    *x = (sk_renames){0};
}

static sk_status get(sk_renames *x, const sk_machine *m, sk_prefers mapping, const sk_rename **out)
{
    if (x->machine != m)
        sk_renames_free(x);
    x->machine = m;
    sk_status st = x->made[mapping] ? SK_OK : sk_rename_new(m, mapping, &x->rename[mapping]);
    x->made[mapping] = st == SK_OK;
    if (st == SK_OK)
        *out = x->rename[mapping];
    return st;
}

/* May a renaming help, and is it allowed? */
static bool may(const sk_algo *a, const sk_call *c)
{
    const sk_machine *m = c->machine;
    return a->prefers != SK_PREFERS_ANY && m && m->nnodes > 1 && m->nnodes < m->nranks &&
           !c->ordered;
}

static bool fits_memory(const sk_select *sel, const sk_algo *a, const sk_call *c)
{
    return !a->scratch || a->scratch(c) <= sk_settings_int(sk_select_settings(sel), SK_SET_MEM);
}

/* Both mappings are tried, first the one that the algorithm prefers: for some numbers of nodes and
 * ranks the other one sends less. */
static sk_status find_best(sk_renames *x, const sk_algo *a, const sk_call *c, const sk_rename **out)
{
    const sk_prefers order[] = {a->prefers, a->prefers == SK_PREFERS_SEQUENTIAL
                                                ? SK_PREFERS_ROUND_ROBIN
                                                : SK_PREFERS_SEQUENTIAL};
    const sk_rename *best = NULL;
    sk_off_node least = {0}, now = {0};
    sk_status st = sk_algo_off_node(a, c, &least);
    for (int i = 0; i < 2 && st == SK_OK; i++) {
        const sk_rename *r = NULL;
        st = get(x, c->machine, order[i], &r);
        if (st != SK_OK || !r)
            continue;
        sk_call named = sk_call_renamed(c, r);
        st = sk_algo_off_node(a, &named, &now);
        if (st == SK_OK && sk_off_node_less(now, least)) {
            least = now;
            best = r;
        }
    }
    if (st == SK_OK)
        *out = best;
    return st;
}

sk_status sk_renames_choose(sk_renames *x, const sk_select *sel, const sk_algo *a, const sk_call *c,
                            const sk_rename **out)
{
    const char *set = sk_settings_text(sk_select_settings(sel), SK_SET_RENAME);
    const sk_rename *r = NULL;
    sk_status st = SK_OK;
    if (strcmp(set, "off") != 0 && may(a, c))
        st = strcmp(set, "on") == 0 ? get(x, c->machine, a->prefers, &r) : find_best(x, a, c, &r);
    if (st == SK_OK && r) {
        sk_call named = sk_call_renamed(c, r);
        r = fits_memory(sel, a, &named) ? r : NULL;
    }
    if (st == SK_OK)
        *out = r;
    return st;
}

void sk_renames_explain(const sk_rename *r, char *why, size_t size)
{
    size_t at = strlen(why);
    if (r && at < size)
        snprintf(why + at, size - at, ", ranks renamed: %s", sk_prefers_name(r->order));
}
