/* info.c: `skein info`: the tables of this Skein: collectives, algorithms, settings, libraries,
 * matching engines, and which MPIs can use the libfabric provider. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "commands.h"
#include "copy_prices.h"
#include "host.h"
#include "match/matcher.h"
#include "run/provider.h"
#include "select/select.h"
#include "skein.h"
#include "tuned.h"

static const char *const coll_vars[] = {
#define COLL(ID, name, bytes) "SKEIN_" #ID,
#include "coll/colls.def"
#undef COLL
};

static const char *coll_value(const sk_select *sel, sk_coll coll)
{
    const sk_algo *forced = sk_select_forced(sel, coll);
    bool off =
        !sk_select_enabled(sel, coll) && sk_settings_bool(sk_select_settings(sel), SK_SET_ENABLE);
    return forced ? forced->name : off ? "off" : "auto";
}

static void print_algorithms(void)
{
    printf("collectives and their algorithms\n");
    for (int i = 0; i < SK_NCOLLS; i++) {
        printf("  %s\n", sk_coll_name((sk_coll)i));
        for (const sk_algo *const *a = sk_algos(); *a; a++)
            if ((*a)->coll == (sk_coll)i)
                printf("    %-18s %s\n", (*a)->name, (*a)->about ? (*a)->about : "");
    }
}

static void print_settings(const sk_select *sel)
{
    const sk_settings *s = sk_select_settings(sel);
    printf("settings (* given in the environment)\n");
    printf("    %-26s %-10s %-10s %s\n", "variable", "value", "default", "meaning");
    for (int i = 0; i < SK_NSETTINGS; i++) {
        const sk_setting_info *info = sk_setting_info_get((sk_setting)i);
        const char *value = sk_settings_text(s, (sk_setting)i);
        printf("  %c %-26s %-10s %-10s %s\n", sk_settings_given(s, (sk_setting)i) ? '*' : ' ',
               info->var, *value ? value : "-", *info->deflt ? info->deflt : "-", info->help);
    }
    for (int i = 0; i < SK_NCOLLS; i++) {
        const char *value = coll_value(sel, (sk_coll)i);
        printf("  %c %-26s %-10s %-10s auto, off, or an algorithm for %s\n",
               strcmp(value, "auto") != 0 ? '*' : ' ', coll_vars[i], value, "auto",
               sk_coll_name((sk_coll)i));
    }
}

/* As a value of SKEIN_COPY. */
static void print_prices(const sk_select *sel)
{
    sk_copy_prices p;
    char text[160];
    bool known = sk_tool_copy_prices(sel, &p);
    printf("copies between two ranks of a node\n    %s\n",
           known ? sk_copy_prices_text(&p, text, sizeof text)
                 : "could not be measured: no process may read another's memory");
}

static void print_tuning(const sk_select *sel)
{
    sk_tool_tuning t;
    const char *name;
    int n = 0;
    sk_tool_tuning_read(sel, &t);
    printf("tuning file\n    %-8s %s\n", "file",
           *t.err    ? t.err
           : *t.path ? t.path
                     : "none: `skein tune` measures and writes one");
    printf("    %-8s %s\n", "here", t.here + 2);
    for (int i = 0; t.tuning && (name = sk_tuning_machine(t.tuning, i)); i++) {
        const char *rest = strchr(name, ';');
        sk_tuning_times(t.tuning, i, &n);
        printf("  %c %-8s %s: %d times\n", rest && strcmp(rest, t.here) == 0 ? '*' : ' ', "for",
               name, n);
    }
    sk_tuning_free(t.tuning);
}

static void print_libraries(void)
{
    static const char *const flavours[] = {"openmpi", "mpich", "abi", "smpi"};
    char path[4096];
    printf("libraries\n");
    for (size_t i = 0; i < sizeof flavours / sizeof *flavours; i++) {
        bool found = sk_library_find(flavours[i], path, sizeof path);
        printf("    %-8s %s%s\n", flavours[i], found ? "" : "not found: no ", path);
    }
}

/* Which MPIs are here, unless a program brings its own. */
static void print_hosts(void)
{
    static const struct {
        const char *flavour, *libraries[3];
    } hosts[] = {{"openmpi", {"libmpi.so.40"}},
                 {"mpich", {"libmpich.so.12", "libmpi.so.12"}},
                 {"abi", {"libmpi_abi.so.1"}}};
    sk_arena *a = sk_arena_new();
    printf("MPIs\n");
    for (size_t i = 0; a && i < sizeof hosts / sizeof *hosts; i++) {
        sk_mpi_host h;
        printf("    %-8s ", hosts[i].flavour);
        if (!sk_mpi_host_ask(a, hosts[i].libraries, &h))
            printf("not found\n");
        else
            printf("%s%s%s; persistent collectives: %s%s; large counts: %s\n", h.name,
                   h.device ? ", device " : "", h.device ? h.device : "",
                   h.init ? h.init : "by Skein alone", h.init ? "*_init" : "",
                   h.large ? "yes" : "no");
    }
    if (a)
        sk_arena_free(a);
}

static void print_engines(void)
{
    printf("matching engines (* the default)\n");
    for (int i = 0; sk_engine_name(i); i++)
        printf("  %c %-10s %s\n", strcmp(sk_engine_name(i), sk_engine_default()) == 0 ? '*' : ' ',
               sk_engine_name(i), sk_engine_help(i));
}

static void print_mpi_use(sk_arena *a, sk_flavour mpi)
{
    char library[4096];
    sk_match_provider f;
    const char *why;
    if (!sk_library_find(sk_flavour_name(mpi), library, sizeof library))
        printf("    %-8s unknown: no %s\n", sk_flavour_name(mpi), library);
    else if (sk_match_provider_find(a, mpi, library, NULL, &f, &why))
        printf("    %-8s can use it, by %s\n", sk_flavour_name(mpi), f.how);
    else
        printf("    %-8s cannot use it: %s\n", sk_flavour_name(mpi), why);
}

/* Whether the variable has this word in its list. */
static bool var_lists(sk_arena *a, const char *var, const char *separator, const char *word)
{
    const char *value = getenv(var);
    sk_strlist words = sk_strlist_new(a);
    if (value)
        sk_strlist_split(&words, value, separator);
    return sk_strlist_has(&words, word);
}

static void print_in_use(sk_arena *a, const char *library)
{
    const char *dir = sk_dirname(a, library);
    bool used = var_lists(a, "OMPI_MCA_pml", ",", "cm") &&
                var_lists(a, "OMPI_MCA_mtl", ",", "ofi") &&
                var_lists(a, "OMPI_MCA_mtl_ofi_provider_include", ",", "skein") &&
                var_lists(a, "FI_PROVIDER_PATH", ":@", dir);
    printf("    in use   %s\n", used ? "yes: Open MPI programs started from here match by it"
                                     : "no: `skein run --match` uses it");
}

static void print_matching(void)
{
    char library[4096];
    print_engines();
    printf("\nlibfabric provider\n");
    bool found = sk_library_find("fi", library, sizeof library);
    printf("    %-8s %s%s\n", "file", found ? "" : "not found: no ", library);
    sk_arena *a = found ? sk_arena_new() : NULL;
    if (!a)
        return;
    print_mpi_use(a, SK_MPI_OPENMPI);
    print_mpi_use(a, SK_MPI_MPICH);
    print_in_use(a, library);
    sk_arena_free(a);
}

/* The tables as manual page source, so that skein(7) cannot differ from the code. */
static void mdoc_settings(void)
{
    printf(".Bl -tag -width Ds\n");
    for (int i = 0; i < SK_NSETTINGS; i++) {
        const sk_setting_info *info = sk_setting_info_get((sk_setting)i);
        printf(".It Ev %s Pq default: %s\n%s\n", info->var, *info->deflt ? info->deflt : "empty",
               info->help);
    }
    printf(".El\n");
}

static void mdoc_algorithms(void)
{
    printf(".Bl -tag -width Ds\n");
    for (int i = 0; i < SK_NCOLLS; i++) {
        printf(".It Ev %s\nBytes counted: %s.\n.Bl -tag -width scatter-doubling -compact\n",
               coll_vars[i], sk_coll_bytes_mean((sk_coll)i));
        for (const sk_algo *const *a = sk_algos(); *a; a++)
            if ((*a)->coll == (sk_coll)i)
                printf(".It Cm %s\n%s\n", (*a)->name, (*a)->about ? (*a)->about : "");
        printf(".El\n");
    }
    printf(".El\n");
}

static void mdoc_engines(void)
{
    printf(".Bl -tag -width Ds\n");
    for (int i = 0; sk_engine_name(i); i++)
        printf(".It Cm %s%s\n%s\n", sk_engine_name(i),
               strcmp(sk_engine_name(i), sk_engine_default()) == 0 ? " Pq the default" : "",
               sk_engine_help(i));
    printf(".El\n");
}

enum { MDOC = SK_CLI_KEY };

static const struct argp_option options[] = {
    {"mdoc", MDOC, "TABLE", 0,
     "print a table as manual page source: settings, algorithms or engines", 0},
    {0}};

static bool take(void *ctx, int key, const char *value);

static const sk_cli cli = {
    .command = "skein info",
    .about = "List the version, the collectives with their algorithms, the settings with their "
             "values, what copies cost here, the tuning file, the libraries found, the MPIs that "
             "they serve, the "
             "matching engines, and "
             "whether the MPIs can use "
             "Skein's libfabric provider.",
    .options = options,
    .take = take};

static bool take(void *ctx, int key, const char *value)
{
    static const char *const tables[] = {"settings", "algorithms", "engines", NULL};
    void (*const print[])(void) = {mdoc_settings, mdoc_algorithms, mdoc_engines};
    if (key == SK_CLI_WORD)
        return sk_cli_error(&cli, "%s is no option; --help lists them", value);
    for (int i = 0; tables[i]; i++)
        if (strcmp(value, tables[i]) == 0) {
            *(void (**)(void))ctx = print[i];
            return true;
        }
    return sk_cli_unknown(&cli, "table", value, tables);
}

static int print_all(void)
{
    sk_select *sel = NULL;
    char err[256];
    if (sk_select_new(environ, &sel, err, sizeof err) != SK_OK) {
        sk_cli_error(&cli, "%s", err);
        return SK_CLI_WRONG;
    }
    printf("skein %s\n\n", SKEIN_VERSION);
    print_algorithms();
    printf("\n");
    print_settings(sel);
    printf("\n");
    print_prices(sel);
    printf("\n");
    print_tuning(sel);
    printf("\n");
    print_libraries();
    printf("\n");
    print_hosts();
    printf("\n");
    print_matching();
    sk_select_free(sel);
    return 0;
}

int sk_cmd_info(int argc, char **argv)
{
    void (*mdoc)(void) = NULL;
    int status = sk_cli_parse(&cli, &mdoc, argc, argv, NULL);
    if (status != SK_CLI_OK)
        return status;
    if (!mdoc)
        return print_all();
    mdoc();
    return 0;
}
