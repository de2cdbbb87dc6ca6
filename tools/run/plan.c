/* plan.c: find the launcher and the programs, check them, write the new command line. */
#include "run/plan.h"

#include <stdlib.h>
#include <string.h>

#include "run/check.h"
#include "run/match.h"

/* Where the launcher stands: mostly first, sometimes behind `timeout 60` and the like; -1 when the
 * program starts without one. */
static int find_launcher(sk_arena *a, char **words, int n)
{
    sk_program p;
    const char *path;
    if (sk_launcher_named(words[0]))
        return 0;
    sk_program_look(a, words, 1, NULL, &p);
    for (int i = 1; i < n && p.verdict != SK_PROGRAM_MPI && p.verdict != SK_PROGRAM_MISSING; i++)
        if (sk_launcher_named(words[i]) && sk_find_program(a, words[i], NULL, &path) == SK_FIND_OK)
            return i;
    return -1;
}

/* env -i would start the program without the preload. */
static int check_env(char *const *words, int n)
{
    for (int i = 1; i < n && !strcmp(sk_basename(words[0]), "env") && words[i][0] == '-'; i++)
        if (sk_listed("-i - --ignore-environment", words[i]))
            return sk_refuse("env %s removes the preload; leave it out", words[i]);
    return SK_RUN_OK;
}

/* What the ranks get: the library always, the provider if that was asked for and can be. */
static int choose_gifts(sk_arena *a, const sk_run_options *o, sk_flavour mpi, const sk_program *p,
                        const sk_launch *l, sk_gifts *g)
{
    const char *library;
    sk_fabric f;
    bool with;
    if (sk_check_library(a, mpi, o->lib, p, &library) != SK_RUN_OK)
        return SK_RUN_REFUSED;
    int status = sk_match_decide(a, o, mpi, p->file ? p->file : library, l, &f, &with);
    if (status != SK_RUN_OK)
        return status;
    if (with && *o->match)
        setenv("SKEIN_MATCH", o->match, 1);
    *g = sk_gifts_new(a, library);
    if (with)
        sk_gifts_match(g, &f);
    return SK_RUN_OK;
}

static int plan_direct(sk_strlist *out, const sk_run_options *o, char **words, int n)
{
    sk_arena *a = out->arena;
    sk_flavour mpi = o->mpi;
    sk_program p = {0};
    sk_gifts g;
    const char *unserved = sk_launcher_unserved(words[0]);
    if (unserved)
        return sk_refuse("%s is not a launcher that Skein knows: %s", words[0], unserved);
    int status = check_env(words, n);
    if (status == SK_RUN_OK && mpi == SK_MPI_NONE) {
        sk_program_look(a, words, n, NULL, &p);
        if (p.launcher)
            return sk_refuse("%s starts %s itself; put `skein run` in front of %s there", words[0],
                             p.launcher, p.launcher);
        status = sk_check_program(&p, words[0], SK_MPI_NONE, &mpi);
    }
    if (status == SK_RUN_OK)
        status = choose_gifts(a, o, mpi, &p, NULL, &g);
    if (status != SK_RUN_OK)
        return status;
    if (o->dry_run)
        sk_strlist_add(out, "env");
    sk_strlist set = sk_gifts_list(a, &g, true);
    for (int i = 0; i < set.n; i++) {
        const char *equals = strchr(set.v[i], '=');
        if (o->dry_run)
            sk_strlist_add(out, set.v[i]);
        else
            setenv(sk_format(a, "%.*s", (int)(equals - set.v[i]), set.v[i]), equals + 1, 1);
    }
    sk_preload_program(out, words, n, &g);
    return SK_RUN_OK;
}

static int check_sections(sk_arena *a, const sk_launch *l, sk_flavour launcher, sk_flavour forced,
                          sk_flavour *mpi, sk_program *p)
{
    for (int k = 0; k < l->nsections; k++) {
        const sk_section *s = &l->sections[k];
        for (int i = s->first; i < s->program; i++)
            if (sk_listed("app configfile", sk_launcher_option_name(a, l->words[i])))
                return sk_refuse(
                    "%s hides the programs in a file; write them on the command line, with "
                    "':' between them",
                    l->words[i]);
        if (s->program >= s->end)
            return sk_refuse(
                "no program found in the command; write for example: skein run %s -n 4 "
                "./app",
                sk_basename(l->words[0]));
        if (check_env(l->words + s->program, s->end - s->program) != SK_RUN_OK)
            return SK_RUN_REFUSED;
        if (forced != SK_MPI_NONE)
            continue;
        sk_program_look(a, l->words + s->program, s->end - s->program, s->dir, p);
        if (sk_check_program(p, l->words[s->program], launcher, mpi) != SK_RUN_OK)
            return SK_RUN_REFUSED;
    }
    return SK_RUN_OK;
}

static sk_flavour serves(sk_launcher_kind kind)
{
    return kind == SK_LAUNCHER_OPENMPI ? SK_MPI_OPENMPI
           : kind == SK_LAUNCHER_HYDRA ? SK_MPI_MPICH
                                       : SK_MPI_NONE;
}

/* Open MPI refuses -x beside its own list of variables. */
static bool has_env_list(const sk_launch *l)
{
    if (getenv("OMPI_MCA_mca_base_env_list"))
        return true;
    for (int k = 0; k < l->nsections; k++)
        for (int i = l->sections[k].first; i < l->sections[k].program; i++)
            if (!strcmp(l->words[i], "mca_base_env_list"))
                return true;
    return false;
}

static int plan_launch(sk_strlist *out, const sk_run_options *o, char **words, int n)
{
    sk_arena *a = out->arena;
    sk_launch l = {.words = words};
    sk_flavour mpi = o->mpi;
    sk_program p = {0};
    sk_section *sections;
    const char *path = NULL;
    sk_gifts g;
    if (sk_find_program(a, words[0], NULL, &path) != SK_FIND_OK)
        return sk_refuse("launcher %s not found; install it or put its directory in PATH",
                         words[0]);
    bool known = sk_launcher_kind_of(a, path, &l.kind);
    if (!known)
        l.kind = mpi == SK_MPI_MPICH ? SK_LAUNCHER_HYDRA : SK_LAUNCHER_OPENMPI;
    l.nsections = sk_launcher_cut(a, l.kind, words, n, &sections);
    l.sections = sections;
    if (check_sections(a, &l, known ? serves(l.kind) : SK_MPI_NONE, o->mpi, &mpi, &p) != SK_RUN_OK)
        return SK_RUN_REFUSED;
    if (!known && mpi == SK_MPI_MPICH) { /* a launcher that says nothing is that of its program */
        l.kind = SK_LAUNCHER_HYDRA;
        l.nsections = sk_launcher_cut(a, l.kind, words, n, &sections);
        l.sections = sections;
    }
    l.inject = l.kind == SK_LAUNCHER_SRUN || (l.kind == SK_LAUNCHER_OPENMPI && has_env_list(&l))
                   ? SK_INJECT_ENV
                   : SK_INJECT_OPTIONS;
    int status = choose_gifts(a, o, mpi, &p, &l, &g);
    if (status == SK_RUN_OK)
        sk_preload_launch(out, &l, &g);
    return status;
}

int sk_plan(sk_strlist *out, const sk_run_options *o, char **words, int n)
{
    int at = find_launcher(out->arena, words, n);
    for (int i = 0; i < at; i++)
        sk_strlist_add(out, words[i]);
    return at < 0 ? plan_direct(out, o, words, n) : plan_launch(out, o, words + at, n - at);
}
