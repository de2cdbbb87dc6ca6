#include "bench/command.h"

#include <ctype.h>
#include <unistd.h>

#include "bench/hosts.h"
#include "bench/launch.h"

enum { WARMUP = 25 };

/* The numbers as the measuring program takes them: separated by commas. */
static const char *bytes_list(sk_arena *a, const sk_bench_options *o)
{
    const char *text = "";
    for (int i = 0; i < o->nbytes; i++)
        text = sk_format(a, "%s%s%lld", text, i ? "," : "", (long long)o->bytes[i]);
    return text;
}

static void force_algorithms(sk_strlist *w, const sk_job *j)
{
    for (int i = 0; i < j->ncolls; i++) {
        if (!j->algos[i])
            continue;
        char *var = sk_format(w->arena, "SKEIN_%s", sk_coll_name(j->colls[i]));
        for (char *c = var; *c; c++)
            *c = (char)toupper((unsigned char)*c);
        sk_host_setenv(w, j->mpi, var, j->algos[i]->name);
    }
}

sk_strlist sk_job_command(sk_arena *a, const sk_bench_options *o, const sk_job *j,
                          const char *launcher, const char *program, double budget)
{
    sk_strlist w = sk_strlist_new(a);
    if (!o->plain) {
        sk_strlist_add(&w, sk_launch_self(a));
        sk_strlist_add(&w, "run");
    }
    sk_strlist_add(&w, launcher);
    if (j->mpi == SK_MPI_OPENMPI) {
        if (geteuid() == 0)
            sk_strlist_add(&w, "--allow-run-as-root");
        sk_strlist_add(&w, "--oversubscribe");
    }
    force_algorithms(&w, j);
    if (j->host)
        sk_host_force(&w, j->mpi, j->colls[0], j->host);
    sk_strlist_add(&w, "-n");
    sk_strlist_add(&w, sk_format(a, "%d", j->nranks));
    sk_strlist_add(&w, program);
    if (o->plain)
        sk_strlist_add(&w, "--plain");
    if (j->graph) {
        sk_strlist_add(&w, "--graph");
        sk_strlist_add(&w, j->graph);
    }
    const char *colls = "";
    for (int i = 0; i < j->ncolls; i++)
        colls = sk_format(a, "%s%s%s", colls, i ? "," : "", sk_coll_name(j->colls[i]));
    const char *const rest[] = {"--collective", colls,
                                "--bytes",      bytes_list(a, o),
                                "--rounds",     sk_format(a, "%d", o->rounds),
                                "--warmup",     sk_format(a, "%d", WARMUP),
                                "--budget",     sk_format(a, "%.6f", budget)};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        sk_strlist_add(&w, rest[i]);
    return w;
}
