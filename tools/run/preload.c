/* preload.c: Open MPI takes -x NAME=VALUE and --mca NAME VALUE, for one program of the command line
 * at a time; Hydra takes -genv NAME VALUE, for all. Where the user sets a variable that way
 * already, ours goes in front of the value there: both launchers refuse or forget one of two. */
#include "run/preload.h"

#include <stdlib.h>
#include <string.h>

/* Whether a word is NAME or NAME=VALUE of the same variable as `setting`, itself one of the two. */
static bool same_variable(const char *word, const char *setting)
{
    size_t n = strcspn(setting, "=");
    return !strncmp(word, setting, n) && (!word[n] || word[n] == '=');
}

/* Whether the option sets variables of the ranks. */
static bool is_setter(const sk_launch *l, sk_arena *a, int at, bool global)
{
    const char *name = sk_launcher_option_name(a, l->words[at]);
    return sk_listed(l->kind == SK_LAUNCHER_OPENMPI ? "x" : global ? "genv" : "env genv", name);
}

static bool already_set(const sk_launch *l, sk_arena *a, const sk_section *s, const char *setting)
{
    for (int i = s->first, n; i < s->program; i += n ? n : 1) {
        n = sk_launcher_option(l->kind, l->words + i, s->program - i, NULL);
        if (n > 1 && is_setter(l, a, i, true) && same_variable(l->words[i + 1], setting))
            return true;
    }
    return false;
}

const char *sk_preload_mca(const sk_launch *l, sk_arena *a, const sk_section *s, const char *name)
{
    for (int i = s->first, n; i < s->program; i += n ? n : 1) {
        n = sk_launcher_option(l->kind, l->words + i, s->program - i, NULL);
        if (n == 3 && sk_listed("mca gmca omca gomca", sk_launcher_option_name(a, l->words[i])) &&
            !strcmp(l->words[i + 1], name))
            return l->words[i + 2];
        if (n == 2 && is_setter(l, a, i, true) && sk_starts_with(l->words[i + 1], "OMPI_MCA_") &&
            same_variable(l->words[i + 1] + strlen("OMPI_MCA_"), name)) {
            const char *equals = strchr(l->words[i + 1], '=');
            return equals ? equals + 1 : getenv(l->words[i + 1]);
        }
    }
    return NULL;
}

/* The value of an option that sets variables. */
static void add_value(sk_strlist *out, const sk_launch *l, const char *setting)
{
    const char *value = strchr(setting, '=') + 1;
    if (l->kind == SK_LAUNCHER_OPENMPI) {
        sk_strlist_add(out, setting);
        return;
    }
    sk_strlist_add(out, sk_format(out->arena, "%.*s", (int)(value - 1 - setting), setting));
    sk_strlist_add(out, value);
}

/* The user's options; where they set a variable that is given too, it gets ours in front. */
static void add_options(sk_strlist *out, const sk_launch *l, const sk_section *s, const sk_gifts *g)
{
    for (int i = s->first, n; i < s->program; i += n ? n : 1) {
        n = sk_launcher_option(l->kind, l->words + i, s->program - i, NULL);
        const sk_gift *gift =
            n > 1 && is_setter(l, out->arena, i, false) ? sk_gift_find(g, l->words[i + 1]) : NULL;
        sk_strlist_add(out, l->words[i]);
        if (gift) {
            const char *equals = strchr(l->words[i + 1], '=');
            const char *old = equals ? equals + 1 : n > 2 ? l->words[i + 2] : getenv(gift->name);
            const char *value = sk_gift_join(out->arena, gift, old);
            add_value(out, l, sk_format(out->arena, "%s=%s", gift->name, value ? value : ""));
            continue;
        }
        for (int j = 1; j < n; j++)
            sk_strlist_add(out, l->words[i + j]);
    }
}

/* Ours, as options of the launcher, but for what the section has by itself. */
static void add_gifts(sk_strlist *out, const sk_launch *l, const sk_section *s, const sk_gifts *g,
                      const sk_strlist *set)
{
    sk_arena *a = out->arena;
    for (int i = 0; i < set->n; i++) {
        if (already_set(l, a, s, set->v[i]))
            continue;
        sk_strlist_add(out, l->kind == SK_LAUNCHER_OPENMPI ? "-x" : "-genv");
        add_value(out, l, set->v[i]);
    }
    for (int i = 0; l->kind == SK_LAUNCHER_OPENMPI && i < g->mca.n; i += 2) {
        if (sk_preload_mca(l, a, s, g->mca.v[i]))
            continue;
        sk_strlist_add(out, "--mca");
        sk_strlist_add(out, g->mca.v[i]);
        sk_strlist_add(out, g->mca.v[i + 1]);
    }
}

void sk_preload_launch(sk_strlist *out, const sk_launch *l, const sk_gifts *g)
{
    sk_strlist set = sk_gifts_list(out->arena, g, l->inject == SK_INJECT_ENV);
    sk_strlist_add(out, l->words[0]);
    for (int k = 0; k < l->nsections; k++) {
        const sk_section *s = &l->sections[k];
        if (k > 0)
            sk_strlist_add(out, ":");
        if (l->inject == SK_INJECT_OPTIONS && (k == 0 || l->kind == SK_LAUNCHER_OPENMPI))
            add_gifts(out, l, s, g, &set);
        add_options(out, l, s, g);
        if (l->inject == SK_INJECT_ENV) {
            sk_strlist_add(out, "env");
            for (int i = 0; i < set.n; i++)
                sk_strlist_add(out, set.v[i]);
        }
        sk_preload_program(out, l->words + s->program, s->end - s->program, g);
    }
}

void sk_preload_program(sk_strlist *out, char *const *words, int n, const sk_gifts *g)
{
    bool env = n > 0 && !strcmp(sk_basename(words[0]), "env");
    for (int i = 0; i < n; i++) {
        const char *equals = strchr(words[i], '=');
        if (env && i > 0 && !equals && words[i][0] != '-' && !sk_listed("-u -C", words[i - 1]))
            env = false; /* the program: what follows is its own */
        const sk_gift *gift = env && equals ? sk_gift_find(g, words[i]) : NULL;
        const char *value = gift ? sk_gift_join(out->arena, gift, equals + 1) : NULL;
        sk_strlist_add(out, value ? sk_format(out->arena, "%s=%s", gift->name, value) : words[i]);
    }
}
