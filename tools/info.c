/* info.c: what this Skein has: the tables, read out. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "info.h"
#include "select/select.h"
#include "skein.h"

static const char *const coll_vars[] = {
#define COLL(ID, name, bytes) "SKEIN_" #ID,
#include "coll/colls.def"
#undef COLL
};

static const char *coll_value(const sk_select *sel, sk_coll coll)
{
    const sk_algo *forced = sk_select_forced(sel, coll);
    bool off =
        !sk_select_serves(sel, coll) && sk_settings_bool(sk_select_settings(sel), SK_SET_ENABLE);
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

static void print_libraries(void)
{
    static const char *const flavours[] = {"openmpi", "mpich", "smpi"};
    char path[4096];
    printf("libraries\n");
    for (size_t i = 0; i < sizeof flavours / sizeof *flavours; i++) {
        bool found = sk_library_find(flavours[i], path, sizeof path);
        printf("    %-8s %s%s\n", flavours[i], found ? "" : "not found: no ", path);
    }
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

static int usage(FILE *out, int status)
{
    fprintf(out, "usage: skein info [--mdoc settings|algorithms|engines]\n\n"
                 "Lists the version, the collectives with their algorithms, the settings with\n"
                 "their values, the libraries found, the matching engines, and whether the MPIs\n"
                 "can use Skein's libfabric provider. --mdoc prints a table as manual page\n"
                 "source instead.\n");
    return status;
}

int sk_cmd_info(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return usage(stdout, 0);
    if (argc == 3 && strcmp(argv[1], "--mdoc") == 0) {
        if (strcmp(argv[2], "settings") == 0)
            mdoc_settings();
        else if (strcmp(argv[2], "algorithms") == 0)
            mdoc_algorithms();
        else if (strcmp(argv[2], "engines") == 0)
            sk_info_mdoc_match();
        else
            return usage(stderr, 2);
        return 0;
    }
    if (argc != 1)
        return usage(stderr, 2);

    sk_select *sel = NULL;
    char err[256];
    if (sk_select_new(environ, &sel, err, sizeof err) != SK_OK) {
        fprintf(stderr, "skein info: %s\n", err);
        return 2;
    }
    printf("skein %s\n\n", SKEIN_VERSION);
    print_algorithms();
    printf("\n");
    print_settings(sel);
    printf("\n");
    print_libraries();
    printf("\n");
    sk_info_match();
    sk_select_free(sel);
    return 0;
}
