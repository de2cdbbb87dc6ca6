/* env.c: see env.h. Open MPI takes -x NAME=VALUE and --mca NAME VALUE, for one program of the
 * command line at a time. Hydra takes -genv NAME VALUE, for all of them. Where the user sets one of
 * our list variables that way, our value is put in front of his: of two options for one variable
 * the launchers refuse or forget one. */
#include "run/env.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/channel.h"

sk_rank_env sk_rank_env_new(sk_arena *a, const char *library)
{
    sk_rank_env e = {.vars = sk_strlist_new(a), .mca = sk_strlist_new(a)};
    e.lists[e.nlists++] = (sk_env_list){.name = "LD_PRELOAD", .value = library, .separator = ':'};
    for (char **v = environ; *v; v++)
        if (sk_starts_with(*v, "SKEIN_") || sk_starts_with(*v, "SKEIN=") ||
            sk_starts_with(*v, SK_CHANNEL_VAR "="))
            sk_strlist_add(&e.vars, *v);
    return e;
}

/* When FI_PROVIDER_PATH is set, libfabric does not search its own directory, so that is added to
 * it. FI_PROVIDER names the providers that may be used: where it is set, it must name ours. */
void sk_rank_env_add_provider(sk_rank_env *e, const sk_match_provider *f)
{
    static const char *const mca[][2] = {{"pml", "cm"},
                                         {"mtl", "ofi"},
                                         {"mtl_ofi_provider_include", "skein"},
                                         {"btl", "^openib,ofi,vader,sm"}};
    sk_arena *a = e->vars.arena;
    const char *path = sk_dirname(a, f->library);
    if (f->others && !getenv("FI_PROVIDER_PATH"))
        path = sk_format(a, "%s:%s", path, f->others);
    e->lists[e->nlists++] =
        (sk_env_list){.name = "FI_PROVIDER_PATH", .value = path, .separator = ':'};
    e->lists[e->nlists++] = (sk_env_list){
        .name = "FI_PROVIDER", .value = "skein", .separator = ',', .only_if_set = true};
    for (size_t i = 0; i < sizeof mca / sizeof *mca; i++) {
        if (!strcmp(mca[i][0], "btl") && getenv("OMPI_MCA_btl"))
            continue; /* ours only excludes unused components (vader, later called sm, leaves files
                         in /dev/shm when a job is killed), so the user's choice is as good */
        sk_strlist_add(&e->mca, mca[i][0]);
        sk_strlist_add(&e->mca, mca[i][1]);
    }
}

/* The list that a word NAME or NAME=VALUE sets; NULL when it sets none. */
static const sk_env_list *find_list(const sk_rank_env *e, const char *word)
{
    for (int i = 0; i < e->nlists; i++) {
        size_t n = strlen(e->lists[i].name);
        if (!strncmp(word, e->lists[i].name, n) && (!word[n] || word[n] == '='))
            return &e->lists[i];
    }
    return NULL;
}

static bool has_value(sk_arena *a, const char *text, char separator, const char *value)
{
    sk_strlist words = sk_strlist_new(a);
    sk_strlist_split(&words, text, (char[]){separator, 0});
    return sk_strlist_has(&words, value);
}

/* The value of a list for a user whose value is `old` (may be NULL); NULL: leave it unset. A value
 * that begins with "^" names what is not wanted. One that begins with "@" is a path in a fixed
 * order. */
static const char *join_list(sk_arena *a, const sk_env_list *list, const char *old)
{
    if (!old || !*old)
        return list->only_if_set ? NULL : list->value;
    if (*old == '^' || has_value(a, old, list->separator, list->value))
        return old;
    bool ordered = *old == '@';
    return sk_format(a, "%s%s%c%s", ordered ? "@" : "", list->value, list->separator,
                     old + ordered);
}

sk_strlist sk_rank_env_vars(sk_arena *a, const sk_rank_env *e, bool mca)
{
    sk_strlist all = sk_strlist_new(a);
    for (int i = 0; i < e->nlists; i++) {
        const char *value = join_list(a, &e->lists[i], getenv(e->lists[i].name));
        if (value)
            sk_strlist_add(&all, sk_format(a, "%s=%s", e->lists[i].name, value));
    }
    for (int i = 0; i < e->vars.n; i++)
        sk_strlist_add(&all, e->vars.v[i]);
    for (int i = 0; mca && i < e->mca.n; i += 2)
        sk_strlist_add(&all, sk_format(a, "OMPI_MCA_%s=%s", e->mca.v[i], e->mca.v[i + 1]));
    return all;
}

/* Whether two words, each NAME or NAME=VALUE, are about one variable. */
static bool same_variable(const char *word, const char *setting)
{
    size_t n = strcspn(setting, "=");
    return !strncmp(word, setting, n) && (!word[n] || word[n] == '=');
}

/* Variables are set by -x NAME=VALUE. */
static bool takes_x(const sk_launch_line *l)
{
    return l->kind == SK_LAUNCHER_OPENMPI || l->kind == SK_LAUNCHER_PRUN;
}

/* Whether the option sets variables of the ranks. */
static bool is_setter(const sk_launch_line *l, sk_arena *a, int at, bool global)
{
    const char *name = sk_launcher_option_name(a, l->words[at]);
    return sk_listed(takes_x(l) ? "x" : global ? "genv" : "env genv", name);
}

static bool already_set(const sk_launch_line *l, sk_arena *a, const sk_section *s,
                        const char *setting)
{
    for (int i = s->first, n; i < s->program; i += n ? n : 1) {
        n = sk_launcher_option(l->kind, l->words + i, s->program - i, NULL);
        if (n > 1 && is_setter(l, a, i, true) && same_variable(l->words[i + 1], setting))
            return true;
    }
    return false;
}

const char *sk_launch_line_mca(const sk_launch_line *l, sk_arena *a, const sk_section *s,
                               const char *name)
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
static void add_value(sk_strlist *out, const sk_launch_line *l, const char *setting)
{
    const char *value = strchr(setting, '=') + 1;
    if (takes_x(l)) {
        sk_strlist_add(out, setting);
        return;
    }
    sk_strlist_add(out, sk_format(out->arena, "%.*s", (int)(value - 1 - setting), setting));
    sk_strlist_add(out, value);
}

/* Appends the user's options. Where they set one of our lists, our value is put in front. */
static void add_options(sk_strlist *out, const sk_launch_line *l, const sk_section *s,
                        const sk_rank_env *e)
{
    for (int i = s->first, n; i < s->program; i += n ? n : 1) {
        n = sk_launcher_option(l->kind, l->words + i, s->program - i, NULL);
        const sk_env_list *list =
            n > 1 && is_setter(l, out->arena, i, false) ? find_list(e, l->words[i + 1]) : NULL;
        sk_strlist_add(out, l->words[i]);
        if (list) {
            const char *equals = strchr(l->words[i + 1], '=');
            const char *old = equals ? equals + 1 : n > 2 ? l->words[i + 2] : getenv(list->name);
            const char *value = join_list(out->arena, list, old);
            add_value(out, l, sk_format(out->arena, "%s=%s", list->name, value ? value : ""));
            continue;
        }
        for (int j = 1; j < n; j++)
            sk_strlist_add(out, l->words[i + j]);
    }
}

/* Appends our variables and parameters as options of the launcher, except those that the section
 * sets itself. */
static void add_env(sk_strlist *out, const sk_launch_line *l, const sk_section *s,
                    const sk_rank_env *e, const sk_strlist *set)
{
    sk_arena *a = out->arena;
    for (int i = 0; i < set->n; i++) {
        if (already_set(l, a, s, set->v[i]))
            continue;
        sk_strlist_add(out, l->kind == SK_LAUNCHER_OPENMPI ? "-x" : "-genv");
        add_value(out, l, set->v[i]);
    }
    for (int i = 0; l->kind == SK_LAUNCHER_OPENMPI && i < e->mca.n; i += 2) {
        if (sk_launch_line_mca(l, a, s, e->mca.v[i]))
            continue;
        sk_strlist_add(out, "--mca");
        sk_strlist_add(out, e->mca.v[i]);
        sk_strlist_add(out, e->mca.v[i + 1]);
    }
}

/* Open MPI 5 gives the processes of MPI_Comm_spawn its parameters and the environment of the
 * launcher, not what -x says. With our parameters they need our provider. */
static void export_provider(const sk_strlist *set)
{
    static const char name[] = "FI_PROVIDER_PATH";
    for (int i = 0; i < set->n; i++)
        if (same_variable(name, set->v[i]))
            setenv(name, set->v[i] + sizeof name, 1);
}

void sk_env_launch(sk_strlist *out, const sk_launch_line *l, const sk_rank_env *e)
{
    sk_strlist set = sk_rank_env_vars(out->arena, e, l->inject == SK_INJECT_ENV);
    for (int i = 0; i < l->sections[0].first; i++)
        sk_strlist_add(out, l->words[i]);
    for (int k = 0; k < l->nsections; k++) {
        const sk_section *s = &l->sections[k];
        if (k > 0)
            sk_strlist_add(out, ":");
        if (l->inject == SK_INJECT_OPTIONS && (k == 0 || l->kind == SK_LAUNCHER_OPENMPI))
            add_env(out, l, s, e, &set);
        add_options(out, l, s, e);
        if (l->inject == SK_INJECT_ENV) {
            sk_strlist_add(out, "env");
            for (int i = 0; i < set.n; i++)
                sk_strlist_add(out, set.v[i]);
        }
        sk_env_program(out, l->words + s->program, s->end - s->program, e);
    }
    export_provider(&set);
}

void sk_env_program(sk_strlist *out, char *const *words, int n, const sk_rank_env *e)
{
    bool env = n > 0 && !strcmp(sk_basename(words[0]), "env");
    for (int i = 0; i < n; i++) {
        const char *equals = strchr(words[i], '=');
        if (env && i > 0 && !equals && words[i][0] != '-' && !sk_listed("-u -C", words[i - 1]))
            env = false; /* the program: what follows is its own */
        const sk_env_list *list = env && equals ? find_list(e, words[i]) : NULL;
        const char *value = list ? join_list(out->arena, list, equals + 1) : NULL;
        sk_strlist_add(out, value ? sk_format(out->arena, "%s=%s", list->name, value) : words[i]);
    }
}
