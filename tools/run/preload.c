/* preload.c: Open MPI takes -x NAME=VALUE, for one program of the command line at a time; Hydra
 * takes -genv NAME VALUE, for all. Where the user sets LD_PRELOAD that way already, ours goes in
 * front of the value there: both launchers refuse or forget one of two. */
#include "run/preload.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char var[] = "LD_PRELOAD";

const char *sk_preload_value(sk_arena *a, const char *library, const char *old)
{
    return old && *old ? sk_text(a, "%s:%s", library, old) : library;
}

void sk_preload_settings(sk_words *out)
{
    for (char **e = environ; *e; e++)
        if (sk_starts(*e, "SKEIN_") || sk_starts(*e, "SKEIN="))
            sk_words_add(out, *e);
}

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

/* The value of an option that sets variables. */
static void add_value(sk_words *out, const sk_launch *l, const char *setting)
{
    const char *value = strchr(setting, '=') + 1;
    if (l->kind == SK_LAUNCHER_OPENMPI) {
        sk_words_add(out, setting);
        return;
    }
    sk_words_add(out, sk_text(out->arena, "%.*s", (int)(value - 1 - setting), setting));
    sk_words_add(out, value);
}

/* The user's options; a value of LD_PRELOAD among them gets ours in front. */
static void add_options(sk_words *out, const sk_launch *l, const sk_section *s, const char *library)
{
    for (int i = s->first, n; i < s->program; i += n ? n : 1) {
        n = sk_launcher_option(l->kind, l->words + i, s->program - i, NULL);
        sk_words_add(out, l->words[i]);
        if (n > 1 && is_setter(l, out->arena, i, false) && same_variable(l->words[i + 1], var)) {
            const char *equals = strchr(l->words[i + 1], '=');
            const char *old = equals ? equals + 1 : n > 2 ? l->words[i + 2] : getenv(var);
            const char *value = sk_preload_value(out->arena, library, old);
            add_value(out, l, sk_text(out->arena, "%s=%s", var, value));
            continue;
        }
        for (int j = 1; j < n; j++)
            sk_words_add(out, l->words[i + j]);
    }
}

void sk_preload_launch(sk_words *out, const sk_launch *l, const char *library)
{
    sk_arena *a = out->arena;
    sk_words set = sk_words_new(a);
    sk_words_add(&set, sk_text(a, "%s=%s", var, sk_preload_value(a, library, getenv(var))));
    sk_preload_settings(&set);
    sk_words_add(out, l->words[0]);
    for (int k = 0; k < l->nsections; k++) {
        const sk_section *s = &l->sections[k];
        bool here = l->inject == SK_INJECT_OPTIONS && (k == 0 || l->kind == SK_LAUNCHER_OPENMPI);
        if (k > 0)
            sk_words_add(out, ":");
        for (int i = 0; here && i < set.n; i++) {
            if (already_set(l, a, s, set.v[i]))
                continue;
            sk_words_add(out, l->kind == SK_LAUNCHER_OPENMPI ? "-x" : "-genv");
            add_value(out, l, set.v[i]);
        }
        add_options(out, l, s, library);
        if (l->inject == SK_INJECT_ENV) {
            sk_words_add(out, "env");
            for (int i = 0; i < set.n; i++)
                sk_words_add(out, set.v[i]);
        }
        sk_preload_program(out, l->words + s->program, s->end - s->program, library);
    }
}

void sk_preload_program(sk_words *out, char *const *words, int n, const char *library)
{
    bool env = n > 0 && !strcmp(sk_base(words[0]), "env");
    for (int i = 0; i < n; i++) {
        const char *equals = strchr(words[i], '=');
        if (env && i > 0 && !equals && words[i][0] != '-' && !sk_listed("-u -C", words[i - 1]))
            env = false; /* the program: what follows is its own */
        if (env && equals && same_variable(words[i], var))
            sk_words_add(out, sk_text(out->arena, "%s=%s", var,
                                      sk_preload_value(out->arena, library, equals + 1)));
        else
            sk_words_add(out, words[i]);
    }
}
