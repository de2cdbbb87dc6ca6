/* jobs.c: see jobs.h. */
#include "bench/jobs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/hosts.h"
#include "bench/launch.h"
#include "callspec.h"
#include "shm/shm.h"

enum { WARMUP = 25 };

typedef struct job_list {
    sk_arena *arena;
    sk_form form;      /* of the jobs to be added */
    const char *graph; /* of the jobs to be added, or NULL */
    sk_job *first, **end;
} job_list;

static sk_job *append(job_list *l, const sk_bench_options *o, sk_flavour mpi, int nranks)
{
    sk_job *j = sk_arena_need(l->arena, sizeof *j);
    *j = (sk_job){.mpi = mpi,
                  .form = l->form,
                  .nranks = nranks,
                  .bytes = o->bytes,
                  .graph = l->graph,
                  .host_name = SK_HOST_AUTO};
    *l->end = j;
    l->end = &j->next;
    return j;
}

static void add_coll(sk_job *j, sk_coll coll, const sk_algo *algo)
{
    j->colls[j->ncolls] = coll;
    j->algos[j->ncolls++] = algo;
}

/* The call of rank 0 at a point of a global collective. */
static sk_call job_call(sk_arena *a, sk_coll coll, int64_t bytes, int nranks)
{
    int64_t elem = bytes % 8 == 0 ? 8 : 1;
    sk_callspec s = {.coll = coll, .nranks = nranks, .elems = bytes / elem, .elem_size = elem};
    if (coll == SK_ALLGATHERV) /* the benchmark counts one block, a callspec all of them */
        s.elems *= nranks;
    sk_callspec_round(&s);
    const sk_callspec_args *args = sk_callspec_args_new(a, &s);
    return args ? sk_callspec_call(args, 0) : (sk_call){.coll = coll, .nranks = nranks};
}

/* Completes the call for ranks that are all on this machine. The caller frees the result, which may
 * be NULL, after the last use of the call. */
static sk_machine *job_machine(sk_call *c)
{
    sk_machine *m = NULL;
    sk_location *locations = calloc((size_t)c->nranks, sizeof *locations);
    if (locations && sk_machine_new(c->nranks, locations, 0, &m) == SK_OK) {
        c->slot_bytes = sk_shm_size_of(c->nranks, INT64_MAX).slot_bytes;
        c->machine = m;
        c->direct = c->builtin = true;
    }
    free(locations);
    return m;
}

/* Whether forcing the algorithm has an effect for at least one of the sizes. For neighbourhood
 * collectives only the ranks know. */
static bool fits(sk_arena *a, const sk_algo *algo, const sk_bench_options *o, int nranks)
{
    if (o->neighbor)
        return algo;
    if (algo && o->algorithm && algo->rule[0].when == SK_WHEN_NODES)
        return true; /* the user knows of several hosts, see job_machine */
    for (int i = 0; algo && algo->fits && i < o->bytes.n; i++) {
        sk_call c = job_call(a, algo->coll, o->bytes.v[i], nranks);
        sk_machine *m = job_machine(&c);
        bool yes = algo->fits(&c);
        sk_machine_free(m);
        if (yes)
            return true;
    }
    return algo && !algo->fits;
}

static const sk_algo *nth_algo(sk_coll coll, int n)
{
    for (const sk_algo *const *x = sk_algos(); *x; x++)
        if ((*x)->coll == coll && n-- == 0)
            return *x;
    return NULL;
}

/* Collectives of Skein do not call each other, so one run forces the n-th algorithm of each. */
static void add_all_algorithms(job_list *l, const sk_bench_options *o, sk_flavour mpi, int nranks)
{
    bool more = true;
    for (int n = 0; more; n++) {
        more = false;
        sk_job *j = NULL;
        for (int k = 0; k < o->ncolls; k++) {
            const sk_algo *algo = nth_algo(o->colls[k], n);
            more = more || algo;
            if (!fits(l->arena, algo, o, nranks))
                continue;
            if (!j)
                j = append(l, o, mpi, nranks);
            add_coll(j, o->colls[k], algo);
        }
    }
}

static void add_chosen(job_list *l, const sk_bench_options *o, sk_flavour mpi, int nranks)
{
    sk_job *j = NULL;
    for (int k = 0; k < o->ncolls; k++) {
        const sk_algo *algo = o->algorithm ? sk_algo_find(o->colls[k], o->algorithm) : NULL;
        if (o->algorithm && !fits(l->arena, algo, o, nranks))
            continue;
        if (!j)
            j = append(l, o, mpi, nranks);
        add_coll(j, o->colls[k], algo);
    }
}

/* A collective of the host may call others, so each forced one needs a run of its own. */
static void add_against(job_list *l, const sk_bench_options *o, sk_flavour mpi, int nranks)
{
    for (int k = 0; k < o->ncolls; k++) {
        sk_coll coll = o->colls[k];
        const sk_algo *algo = o->algorithm ? sk_algo_find(coll, o->algorithm) : NULL;
        if (o->algorithm && !fits(l->arena, algo, o, nranks))
            continue;
        sk_strlist names = sk_host_algos(l->arena, mpi, coll);
        bool *want = sk_arena_need(l->arena, (size_t)names.n + 1);
        for (int i = 0; i < o->against.n; i++)
            sk_host_wanted(l->arena, mpi, coll, o->against.v[i], want);
        for (int i = 0; i < names.n; i++) {
            if (!want[i] || !sk_host_runs(names.v[i], nranks))
                continue;
            sk_job *j = append(l, o, mpi, nranks);
            add_coll(j, coll, algo);
            j->host = i + 1;
            j->host_name = names.v[i];
        }
    }
}

/* MPICH spins while it waits. With more ranks than cores the time slices of the scheduler would be
 * measured, so that is done only when asked for. */
bool sk_jobs_take_ranks(const sk_bench_options *o, sk_flavour mpi, int nranks)
{
    return o->ranks_given || mpi != SK_MPI_MPICH || nranks <= 2 ||
           nranks <= sysconf(_SC_NPROCESSORS_ONLN);
}

static void add_ranks(job_list *l, const sk_bench_options *o, sk_flavour mpi, int nranks)
{
    if (!sk_jobs_take_ranks(o, mpi, nranks) || !o->forms[l->form])
        return;
    if (o->all_algorithms)
        add_all_algorithms(l, o, mpi, nranks);
    else
        add_chosen(l, o, mpi, nranks);
    if (l->form == SK_BLOCKING)
        add_against(l, o, mpi, nranks);
}

sk_job *sk_job_of_point(sk_arena *a, const sk_job *j, int k, int i)
{
    sk_job *one = sk_arena_need(a, sizeof *one);
    *one = *j;
    one->colls[0] = j->colls[k];
    one->algos[0] = j->algos[k];
    one->ncolls = one->bytes.n = 1;
    one->bytes.v[0] = j->bytes.v[i];
    one->next = NULL;
    return one;
}

/* Only the first communicators of a process have memory that was never used, so with --cold every
 * point has a process of its own. */
static sk_job *split(sk_arena *a, const sk_job *jobs)
{
    sk_job *first = NULL, **end = &first;
    for (const sk_job *j = jobs; j; j = j->next)
        for (int k = 0; k < j->ncolls; k++)
            for (int i = 0; i < (j->colls[k] == SK_BARRIER ? 1 : j->bytes.n); i++) {
                *end = sk_job_of_point(a, j, k, i);
                end = &(*end)->next;
            }
    return first;
}

sk_job *sk_jobs_new(sk_arena *a, const sk_bench_options *o, const bool *mpi)
{
    job_list l = {.arena = a};
    l.end = &l.first;
    for (int f = SK_MPI_OPENMPI; f <= SK_MPI_MPICH; f++)
        for (int i = 0; mpi[f] && i < o->ranks.n * SK_NFORMS; i++) {
            int nranks = (int)o->ranks.v[i / SK_NFORMS];
            l.form = (sk_form)(i % SK_NFORMS);
            if (!o->neighbor)
                add_ranks(&l, o, (sk_flavour)f, nranks);
            for (int g = 0; g < o->graphs.n; g++) {
                l.graph = o->graphs.v[g];
                add_ranks(&l, o, (sk_flavour)f, nranks);
            }
        }
    return o->conditions.phase == SK_COLD ? split(a, l.first) : l.first;
}

int sk_job_points(const sk_job *j)
{
    int n = 0;
    for (int k = 0; k < j->ncolls; k++)
        n += j->colls[k] == SK_BARRIER ? 1 : j->bytes.n;
    return n;
}

/* The sizes as an argument of the measuring program. */
static const char *bytes_list(sk_arena *a, const sk_job *j)
{
    const char *text = "";
    for (int i = 0; i < j->bytes.n; i++)
        text = sk_format(a, "%s%s%lld", text, i ? "," : "", (long long)j->bytes.v[i]);
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
    sk_host_setenv(&w, j->mpi, "SKEIN_PMPI", "off"); /* the measuring program reaches the host so */
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
    const char *const rest[] = {"--form",       sk_form_names[j->form],
                                "--phase",      sk_phase_names[o->conditions.phase],
                                "--calls",      sk_format(a, "%d", o->conditions.calls),
                                "--gap",        sk_format(a, "%d", o->conditions.gap_us),
                                "--buffers",    sk_buffer_names[o->conditions.buffers],
                                "--collective", colls,
                                "--bytes",      bytes_list(a, j),
                                "--rounds",     sk_format(a, "%d", (int)o->rounds),
                                "--warmup",     sk_format(a, "%d", WARMUP),
                                "--budget",     sk_format(a, "%.6f", budget)};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        sk_strlist_add(&w, rest[i]);
    return w;
}
