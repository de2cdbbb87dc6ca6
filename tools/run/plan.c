/* plan.c: find the launcher and the programs of a command, check that they can run under Skein, and
 * write the new command line. Each refusal is one message that says what to do. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "bench/launch.h"
#include "commands.h"
#include "run/env.h"
#include "run/file.h"
#include "run/program.h"
#include "run/run.h"

int sk_refuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", program_invocation_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return SK_RUN_REFUSED;
}

void sk_run_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: note: ", program_invocation_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

/* The program: does it use an MPI, and which one? */

static int check_mpi(const sk_program *p, sk_flavour launcher, sk_flavour *mpi)
{
    if (p->mpi == SK_MPI_OTHER && sk_starts_with(p->soname, "libsimgrid"))
        return sk_refuse("%s is built for simulation (%s) and cannot be preloaded; link it with "
                         "libskein-smpi.a instead",
                         p->path, p->soname);
    if (p->mpi == SK_MPI_OTHER)
        return sk_refuse("%s links %s, an MPI that Skein has no library for; it serves Open MPI "
                         "(libmpi.so.40), MPICH (libmpich.so.12, libmpi.so.12) and the standard "
                         "ABI (libmpi_abi.so.1)",
                         p->path, p->soname);
    if (launcher != SK_MPI_NONE && launcher != p->mpi && p->mpi != SK_MPI_ABI)
        return sk_refuse(
            "%s links %s (%s), but the launcher is that of %s; use the launcher of %s or "
            "compile the program for %s",
            p->path, sk_flavour_title(p->mpi), p->soname, sk_flavour_title(launcher),
            sk_flavour_title(p->mpi), sk_flavour_title(launcher));
    if (*mpi != SK_MPI_NONE && *mpi != p->mpi)
        return sk_refuse("%s links %s (%s), but a program before it %s; one job needs one MPI",
                         p->path, sk_flavour_title(p->mpi), p->soname, sk_flavour_title(*mpi));
    *mpi = p->mpi;
    return SK_RUN_OK;
}

/* Does the program run with rights that the user does not have? Then the dynamic linker ignores what is
 * preloaded. */
static bool gains_rights(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 &&
           (((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
            ((st.st_mode & S_ISGID) && st.st_gid != getegid()) ||
            (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0));
}

/* *mpi is the MPI found so far (of the programs before it, or by --mpi) and is set. `launcher` is
 * that of the launcher, SK_MPI_NONE when there is none or it starts programs of any. */
static int check_program(const sk_program *p, const char *name, sk_flavour launcher,
                         sk_flavour *mpi)
{
    if (p->path && gains_rights(p->path))
        return sk_refuse(
            "%s is set-user-ID, set-group-ID or has capabilities, so no library can be "
            "preloaded; run a copy of it without",
            p->path);
    switch (p->verdict) {
    case SK_PROGRAM_MPI:
        return check_mpi(p, launcher, mpi);
    case SK_PROGRAM_ANY:
        break;
    case SK_PROGRAM_MISSING:
        return sk_refuse("program %s not found; if it is only on other nodes, say --mpi=openmpi or "
                         "--mpi=mpich",
                         name);
    case SK_PROGRAM_NOT_EXECUTABLE:
        return sk_refuse("%s is not executable; chmod +x it", p->path);
    case SK_PROGRAM_DAMAGED:
        return sk_refuse("%s", p->err);
    case SK_PROGRAM_STATIC:
        return sk_refuse("%s is linked statically, so no library can be preloaded; link its MPI "
                         "dynamically (leave out -static)",
                         p->path);
    }
    return SK_RUN_OK;
}

/* The libraries of Skein: the one that is preloaded, and the one that it loads for an MPI. */

static int not_found(sk_flavour mpi, const char *path)
{
    char other[4096];
    if (mpi != SK_MPI_NONE && sk_library_find("", other, sizeof other))
        return sk_refuse(
            "library not found: looked for %s; this Skein was built without %s: install "
            "its development files and build again, or say --lib DIR",
            path, sk_flavour_title(mpi));
    return sk_refuse("library not found: looked for %s; build or install Skein, or say --lib DIR",
                     path);
}

/* Checks that the library can be loaded into the program. */
static int check_fit(sk_arena *a, const sk_program *p, const char *path)
{
    char err[512];
    sk_elf *e;
    if (strpbrk(path, " :"))
        return sk_refuse(
            "the dynamic linker cannot preload from a path with a space or a colon: %s", path);
    if (sk_elf_read(a, path, &e, err, sizeof err) != SK_OK)
        return sk_refuse("%s", err);
    if (p->bits && (p->bits != e->bits || p->machine != e->machine))
        return sk_refuse("%s is for another kind of machine than %s", p->path, path);
    return SK_RUN_OK;
}

/* The library for that MPI; SK_MPI_NONE: the one that is preloaded. From `dir` if that is not NULL. */
static int check_library(sk_arena *a, sk_flavour mpi, const char *dir, const sk_program *p,
                         const char **library)
{
    char path[4096];
    const char *name = mpi == SK_MPI_NONE ? "" : sk_flavour_name(mpi);
    bool found;
    if (dir) {
        snprintf(path, sizeof path, "%s/libskein%s%s.so", dir, *name ? "-" : "", name);
        found = access(path, R_OK) == 0;
    } else {
        found = sk_library_find(name, path, sizeof path);
    }
    if (!found)
        return dir ? sk_refuse("library not found: looked for %s", path) : not_found(mpi, path);
    if (check_fit(a, p, path) != SK_RUN_OK)
        return SK_RUN_REFUSED;
    *library = sk_format(a, "%s", path);
    return SK_RUN_OK;
}

/* The provider for --match. The settings of the user count; where they exclude the provider, the
 * job is refused. */

static bool lists(sk_arena *a, const char *list, const char *word)
{
    sk_strlist words = sk_strlist_new(a);
    sk_strlist_split(&words, list, ",");
    return sk_strlist_has(&words, word);
}

/* A list of Open MPI or libfabric that begins with "^" names what is excluded. */
static bool allows(sk_arena *a, const char *list, const char *word)
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

/* Open MPI takes a parameter only once on its command line, so a value there must name what is
 * needed. A variable of the environment need only not exclude it, because our option overrides
 * it. */
static int check_parameters(sk_arena *a, const sk_launch_line *l)
{
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        const char *name = needs[i].name, *need = needs[i].need;
        const char *value = getenv(sk_format(a, "OMPI_MCA_%s", name));
        if (value && (!need || !allows(a, value, need)))
            return contradicts("OMPI_MCA_", name, value, need ? need : "unset");
        for (int k = 0; l && k < l->nsections; k++) {
            value = l->kind == SK_LAUNCHER_OPENMPI ? sk_launch_line_mca(l, a, &l->sections[k], name)
                                                   : NULL;
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

/* *use: the provider can be used, and is *f. When the MPI cannot use it, says so and goes on
 * without, or refuses if a trace is wanted. `from`: a file that loads the MPI. `l`: NULL without a
 * launcher. */
static int decide_match(sk_arena *a, const sk_run_options *o, sk_flavour mpi, const char *from,
                        const sk_launch_line *l, sk_match_provider *f, bool *use)
{
    const char *why = NULL;
    *use = false;
    if (!o->match)
        return SK_RUN_OK;
    if (mpi == SK_MPI_NONE)
        why = "cannot tell which MPI the program uses; say it with --mpi=openmpi or --mpi=mpich";
    if (why || !sk_match_provider_find(a, mpi, from, o->lib, f, &why)) {
        if (o->trace)
            return sk_refuse("nothing to record without the provider: %s", why);
        sk_run_note("running without --match: %s", why);
        return SK_RUN_OK;
    }
    int status = check_parameters(a, l);
    if (status == SK_RUN_OK)
        status = check_filter(a);
    *use = status == SK_RUN_OK;
    return status;
}

/* The command line. */

/* The position of the launcher: mostly first, sometimes after `timeout 60` and the like; -1 when
 * the program starts without one. */
static int find_launcher(sk_arena *a, char **words, int n)
{
    sk_program p;
    const char *path;
    if (sk_launcher_named(words[0]))
        return 0;
    sk_program_look(a, words[0], NULL, &p);
    for (int i = 1; i < n && p.verdict != SK_PROGRAM_MPI && p.verdict != SK_PROGRAM_MISSING; i++)
        if (sk_launcher_named(words[i]) && sk_find_program(a, words[i], NULL, &path) == SK_FIND_OK)
            return i;
    return -1;
}

/* Refuses env -i, which would remove the preload. */
static int check_env(char *const *words, int n)
{
    for (int i = 1; i < n && !strcmp(sk_basename(words[0]), "env") && words[i][0] == '-'; i++)
        if (sk_listed("-i - --ignore-environment", words[i]))
            return sk_refuse("env %s removes the preload; leave it out", words[i]);
    return SK_RUN_OK;
}

/* What the ranks get: always the library, and the provider if it was asked for and can be used. Few
 * installations have one for the standard ABI: libskein.so says so then, and the program runs plain. */
static int choose_env(sk_arena *a, const sk_run_options *o, sk_flavour mpi, const sk_program *p,
                      const sk_launch_line *l, sk_rank_env *env)
{
    const char *library = NULL, *own = NULL;
    sk_match_provider f = {0};
    bool with;
    if (check_library(a, SK_MPI_NONE, o->lib, p, &library) != SK_RUN_OK ||
        (mpi != SK_MPI_NONE && mpi != SK_MPI_ABI &&
         check_library(a, mpi, o->lib, p, &own) != SK_RUN_OK))
        return SK_RUN_REFUSED;
    const char *from = p->verdict == SK_PROGRAM_MPI ? p->path : own ? own : library;
    int status = decide_match(a, o, mpi, from, l, &f, &with);
    if (status != SK_RUN_OK)
        return status;
    if (with && *o->match)
        setenv("SKEIN_MATCH", o->match, 1);
    *env = sk_rank_env_new(a, library);
    if (with)
        sk_rank_env_add_provider(env, &f);
    return SK_RUN_OK;
}

/* Sets a variable for the command, or shows it in a dry run. */
static void set(sk_strlist *out, const sk_run_options *o, const char *setting)
{
    const char *equals = strchr(setting, '=');
    if (o->dry_run)
        sk_strlist_add(out, setting);
    else
        setenv(sk_format(out->arena, "%.*s", (int)(equals - setting), setting), equals + 1, 1);
}

/* For a command that may start launchers, such as a script: those that it finds in PATH are ours, and
 * run the real ones under `skein run` with the same options. */
static void set_launchers(sk_strlist *out, const sk_run_options *o)
{
    sk_arena *a = out->arena;
    const char *ours = sk_launch_find_tool(a, "launchers/mpirun"), *path = getenv("PATH");
    if (!ours)
        return;
    const char *self = sk_format(a, "'%s' run --or-plain", sk_launch_self(a));
    if (o->lib)
        self = sk_format(a, "%s --lib '%s'", self, o->lib);
    if (o->match)
        self = sk_format(a, "%s --match%s%s", self, *o->match ? "=" : "", o->match);
    path = path ? path : "/usr/local/bin:/usr/bin:/bin";
    set(out, o, sk_format(a, "PATH=%s:%s", sk_dirname(a, ours), path));
    set(out, o, sk_format(a, "%s=%s", SK_RUN_AGAIN_VAR, self));
}

static int plan_direct(sk_strlist *out, const sk_run_options *o, char **words, int n)
{
    sk_arena *a = out->arena;
    sk_flavour mpi = o->mpi;
    sk_program p = {0};
    sk_rank_env env;
    const char *unsupported = sk_launcher_unsupported(words[0]);
    if (unsupported)
        return sk_refuse("%s is not a launcher that Skein knows: %s", words[0], unsupported);
    int status = check_env(words, n);
    if (status == SK_RUN_OK && mpi == SK_MPI_NONE) {
        sk_program_look(a, words[0], NULL, &p);
        status = check_program(&p, words[0], SK_MPI_NONE, &mpi);
    }
    bool any = p.verdict == SK_PROGRAM_ANY && mpi == SK_MPI_NONE;
    sk_run_options own = *o;
    if (any)
        own.match = NULL; /* the launchers that it starts decide */
    if (status == SK_RUN_OK)
        status = choose_env(a, &own, mpi, &p, NULL, &env);
    if (status != SK_RUN_OK)
        return status;
    if (o->dry_run)
        sk_strlist_add(out, "env");
    sk_strlist vars = sk_rank_env_vars(a, &env, true);
    for (int i = 0; i < vars.n; i++)
        set(out, o, vars.v[i]);
    if (any)
        set_launchers(out, o);
    sk_env_program(out, words, n, &env);
    return SK_RUN_OK;
}

static int check_sections(sk_arena *a, const sk_launch_line *l, sk_flavour launcher,
                          sk_flavour forced, sk_flavour *mpi, sk_program *p)
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
        sk_program_look(a, l->words[s->program], s->dir, p);
        if (check_program(p, l->words[s->program], launcher, mpi) != SK_RUN_OK)
            return SK_RUN_REFUSED;
    }
    return SK_RUN_OK;
}

/* The MPI whose programs a launcher starts; SK_MPI_NONE: of any. */
static sk_flavour mpi_of_launcher(sk_launcher_kind kind)
{
    return kind == SK_LAUNCHER_OPENMPI ? SK_MPI_OPENMPI
           : kind == SK_LAUNCHER_HYDRA ? SK_MPI_MPICH
                                       : SK_MPI_NONE;
}

/* Whether the user gives Open MPI a list of variables; it then refuses -x. */
static bool has_env_list(const sk_launch_line *l)
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
    sk_launch_line l = {.words = words};
    sk_flavour mpi = o->mpi;
    sk_program p = {0};
    sk_section *sections;
    const char *path = NULL;
    sk_rank_env env;
    if (sk_find_program(a, words[0], NULL, &path) != SK_FIND_OK)
        return sk_refuse("launcher %s not found; install it or put its directory in PATH",
                         words[0]);
    bool known = sk_launcher_kind_of(a, path, &l.kind);
    if (!known)
        l.kind = mpi == SK_MPI_MPICH ? SK_LAUNCHER_HYDRA : SK_LAUNCHER_OPENMPI;
    if (!sk_launcher_words(l.kind, words, n))
        return sk_refuse("`%s %s` starts no program; put `skein run` in front of `flux run`, there",
                         words[0], n > 1 ? words[1] : "");
    l.nsections = sk_launcher_sections(a, l.kind, words, n, &sections);
    l.sections = sections;
    if (check_sections(a, &l, known ? mpi_of_launcher(l.kind) : SK_MPI_NONE, o->mpi, &mpi, &p) !=
        SK_RUN_OK)
        return SK_RUN_REFUSED;
    if (!known && mpi == SK_MPI_MPICH) { /* an unknown launcher is that of its program */
        l.kind = SK_LAUNCHER_HYDRA;
        l.nsections = sk_launcher_sections(a, l.kind, words, n, &sections);
        l.sections = sections;
    }
    if (known && mpi == SK_MPI_NONE)
        mpi = mpi_of_launcher(l.kind);
    bool by_env = (!known && (mpi == SK_MPI_NONE || mpi == SK_MPI_ABI)) ||
                  l.kind >= SK_LAUNCHER_SRUN || (l.kind == SK_LAUNCHER_OPENMPI && has_env_list(&l));
    l.inject = by_env ? SK_INJECT_ENV : SK_INJECT_OPTIONS;
    int status = choose_env(a, o, mpi, &p, &l, &env);
    if (status == SK_RUN_OK)
        sk_env_launch(out, &l, &env);
    return status;
}

int sk_run_plan(sk_strlist *out, const sk_run_options *o, char **words, int n)
{
    int at = find_launcher(out->arena, words, n);
    for (int i = 0; i < at; i++)
        sk_strlist_add(out, words[i]);
    return at < 0 ? plan_direct(out, o, words, n) : plan_launch(out, o, words + at, n - at);
}
