/* hosts.c: see hosts.h. */
#include "bench/hosts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

sk_strlist sk_host_algos(sk_arena *a, sk_flavour mpi, sk_coll coll)
{
    static const struct {
        sk_flavour mpi;
        sk_coll coll;
        const char *names;
    } rows[] = {
#define HOST(MPI, COLL, names) {SK_MPI_##MPI, SK_##COLL, names},
#include "bench/hosts.def"
#undef HOST
    };
    sk_strlist w = sk_strlist_new(a);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].mpi == mpi && rows[i].coll == coll)
            sk_strlist_split(&w, rows[i].names, " ");
    return w;
}

static bool means(sk_arena *a, const char *item, const char *name, int number)
{
    if (strcmp(item, "best") == 0 || strcmp(item, name) == 0)
        return true;
    if (isdigit((unsigned char)*item))
        return atoi(item) == number;
    sk_strlist parts = sk_strlist_new(a);
    sk_strlist_split(&parts, name, "_-");
    return sk_strlist_has(&parts, item);
}

int sk_host_wanted(sk_arena *a, sk_flavour mpi, sk_coll coll, const char *item, bool *want)
{
    sk_strlist names = sk_host_algos(a, mpi, coll);
    const char *equals = strchr(item, '=');
    if (equals) {
        if (strcmp(sk_format(a, "%.*s", (int)(equals - item), item), sk_coll_name(coll)) != 0)
            return 0;
        item = equals + 1;
    } else if (isdigit((unsigned char)*item)) {
        return 0; /* a number needs its collective */
    }
    int n = 0;
    for (int i = 0; i < names.n; i++)
        if (means(a, item, names.v[i], i + 1)) {
            want[i] = true;
            n++;
        }
    return n;
}

bool sk_host_runs(const char *name, int nranks)
{
    return nranks == 2 || strcmp(name, "two_proc") != 0;
}

void sk_host_setenv(sk_strlist *options, sk_flavour mpi, const char *var, const char *value)
{
    if (mpi == SK_MPI_OPENMPI) {
        sk_strlist_add(options, "-x");
        sk_strlist_add(options, sk_format(options->arena, "%s=%s", var, value));
    } else {
        sk_strlist_add(options, "-genv");
        sk_strlist_add(options, var);
        sk_strlist_add(options, value);
    }
}

static void add_mca(sk_strlist *options, const char *name, const char *value)
{
    sk_strlist_add(options, "--mca");
    sk_strlist_add(options, name);
    sk_strlist_add(options, value);
}

void sk_host_force(sk_strlist *options, sk_flavour mpi, sk_coll coll, int number)
{
    sk_arena *a = options->arena;
    if (mpi == SK_MPI_OPENMPI) {
        add_mca(options, "coll_tuned_use_dynamic_rules", "1");
        add_mca(options, sk_format(a, "coll_tuned_%s_algorithm", sk_coll_name(coll)),
                sk_format(a, "%d", number));
        return;
    }
    char *var = sk_format(a, "MPIR_CVAR_%s_INTRA_ALGORITHM", sk_coll_name(coll));
    for (char *c = var; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    sk_strlist names = sk_host_algos(a, mpi, coll);
    sk_host_setenv(options, mpi, var, names.v[number - 1]);
    /* The collectives of the device would take precedence. */
    sk_host_setenv(options, mpi, "MPIR_CVAR_DEVICE_COLLECTIVES", "none");
}
