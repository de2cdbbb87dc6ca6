/* info_match.c: the part of `skein info` on matching: engines, the provider, who can use it, and
 * whether the environment says that it is used now. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "info.h"
#include "match/match.h"
#include "run/fabric.h"

static void print_engines(void)
{
    printf("matching engines (* the default)\n");
    for (int i = 0; sk_engine_name(i); i++)
        printf("  %c %-10s %s\n", strcmp(sk_engine_name(i), sk_engine_default()) == 0 ? '*' : ' ',
               sk_engine_name(i), sk_engine_help(i));
}

static void print_user(sk_arena *a, sk_flavour mpi)
{
    char library[4096];
    sk_fabric f;
    const char *why;
    if (!sk_library_find(sk_flavour_name(mpi), library, sizeof library))
        printf("    %-8s unknown: no %s\n", sk_flavour_name(mpi), library);
    else if (sk_fabric_find(a, mpi, library, NULL, &f, &why))
        printf("    %-8s can use it, by %s\n", sk_flavour_name(mpi), f.how);
    else
        printf("    %-8s cannot use it: %s\n", sk_flavour_name(mpi), why);
}

/* Has the variable this word in its list? */
static bool names(sk_arena *a, const char *var, const char *separator, const char *word)
{
    const char *value = getenv(var);
    sk_strlist words = sk_strlist_new(a);
    if (value)
        sk_strlist_split(&words, value, separator);
    return sk_strlist_has(&words, word);
}

static void print_use(sk_arena *a, const char *library)
{
    const char *dir = sk_dirname(a, library);
    bool used = names(a, "OMPI_MCA_pml", ",", "cm") && names(a, "OMPI_MCA_mtl", ",", "ofi") &&
                names(a, "OMPI_MCA_mtl_ofi_provider_include", ",", "skein") &&
                names(a, "FI_PROVIDER_PATH", ":@", dir);
    printf("    in use   %s\n", used ? "yes: Open MPI programs started from here match by it"
                                     : "no: `skein run --match` uses it");
}

void sk_info_match(void)
{
    char library[4096];
    print_engines();
    printf("\nlibfabric provider\n");
    bool found = sk_library_find("fi", library, sizeof library);
    printf("    %-8s %s%s\n", "file", found ? "" : "not found: no ", library);
    sk_arena *a = found ? sk_arena_new() : NULL;
    if (!a)
        return;
    print_user(a, SK_MPI_OPENMPI);
    print_user(a, SK_MPI_MPICH);
    print_use(a, library);
    sk_arena_free(a);
}

void sk_info_mdoc_match(void)
{
    printf(".Bl -tag -width Ds\n");
    for (int i = 0; sk_engine_name(i); i++)
        printf(".It Cm %s%s\n%s\n", sk_engine_name(i),
               strcmp(sk_engine_name(i), sk_engine_default()) == 0 ? " Pq the default" : "",
               sk_engine_help(i));
    printf(".El\n");
}
