#include "bench/mpi/tune.h"

#include <ctype.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/mpi/prices.h"
#include "bench/stats.h"
#include "select/tuning_file.h"

enum { MOST_ALGOS = 15, MOST_ROUNDS = 64, MIN_ROUNDS = 5 };

typedef struct tune_cell {
    sk_coll coll;
    sk_form form;
    int64_t bytes;
    int ranks, nodes;
    char algo[MOST_ALGOS + 1][24]; /* the first is the host */
    int n;
} tune_cell;

/* The ranks that measure a cell together. */
typedef struct tune_group {
    MPI_Comm comm; /* MPI_COMM_NULL: this rank is left over */
    int rank, ranks, nodes;
} tune_group;

static int world_rank(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static void tell(const char *line)
{
    if (world_rank() != 0)
        return;
    puts(line);
    fflush(stdout);
}

static int64_t at_0(int64_t value)
{
    PMPI_Bcast(&value, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return value;
}

/* ---- who sits where ---- */

/* The first rank of `comm` on this one's node. */
static int first_on_node(MPI_Comm comm, int rank)
{
    MPI_Comm node;
    int first;
    PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    PMPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, node);
    PMPI_Comm_free(&node);
    return first;
}

static int count_nodes(MPI_Comm comm, int rank)
{
    int first = first_on_node(comm, rank) == rank, all;
    PMPI_Allreduce(&first, &all, 1, MPI_INT, MPI_SUM, comm);
    return all;
}

static tune_group group_of(int ranks, int nodes)
{
    tune_group g = {.comm = MPI_COMM_NULL, .ranks = ranks};
    int rank = world_rank(), all;
    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    int groups = all / ranks;
    int color = nodes > 1 ? rank % groups : rank / ranks;
    bool left_over = rank >= groups * ranks;
    PMPI_Comm_split(MPI_COMM_WORLD, left_over ? MPI_UNDEFINED : color, rank, &g.comm);
    if (g.comm != MPI_COMM_NULL) {
        PMPI_Comm_rank(g.comm, &g.rank);
        g.nodes = count_nodes(g.comm, g.rank);
    }
    return g;
}

/* ---- the machine ---- */

static void describe(const sk_tune_args *a, const sk_sampler *s)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "", name[SK_TUNING_NAME],
         line[SK_TUNING_NAME + 16];
    int len, all, most = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    PMPI_Get_library_version(version, &len);
    sk_tuning_fingerprint(version, name);
    snprintf(line, sizeof line, "machine %s", name);
    tell(line);
    MPI_Barrier(MPI_COMM_WORLD); /* else `skein run` wonders why Skein serves nothing */
    int nodes = count_nodes(MPI_COMM_WORLD, world_rank());
    if (a->neighborhood) {
        const sk_graph *g = a->neighborhood->graph;
        int mine = g->ntargets > g->nsources ? g->ntargets : g->nsources;
        PMPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    snprintf(line, sizeof line, "layout %d %d %d", all, nodes, most);
    tell(line);
    if (a->describe)
        sk_bench_prices(s->clock, a->seconds);
}

/* ---- a cell ---- */

typedef struct tuning_case {
    const tune_cell *cell;
    const sk_tune_args *args;
    const sk_sampler *sampler;
    tune_group group;
    sk_case *c;                          /* NULL: this rank is left over */
    MPI_Comm comm[MOST_ALGOS + 1];       /* of each candidate */
    MPI_Request request[MOST_ALGOS + 1]; /* persistent calls: made at its first use */
    bool fits[MOST_ALGOS + 1];           /* it can */
    int train[MOST_ALGOS + 1];           /* calls in a sample */
    double us[MOST_ALGOS + 1][MOST_ROUNDS];
    int rounds;
} tuning_case;

static long long served(void)
{
    int (*get)(const char *, long long *);
    long long n = 0;
    *(void **)&get = dlsym(RTLD_DEFAULT, "skein_counter");
    return get && get("served", &n) == 0 ? n : 0;
}

/* A communicator on which Skein uses the candidate; the host's own is the group's. */
static bool make_comm(tuning_case *t, int i)
{
    char setting[96];
    int (*try)(MPI_Comm, const char *);
    *(void **)&try = dlsym(RTLD_DEFAULT, "skein_try");
    if (!try)
        return false;
    if (t->args->neighborhood)
        sk_neighbors_comm(t->args->neighborhood->graph, false, &t->comm[i]);
    else
        MPI_Comm_dup(t->group.comm, &t->comm[i]);
    snprintf(setting, sizeof setting, "SKEIN_%s=%s", sk_coll_name(t->cell->coll), t->cell->algo[i]);
    for (char *at = setting; *at != '='; at++)
        *at = (char)toupper((unsigned char)*at);
    return try(t->comm[i], setting) == 0;
}

static void use(tuning_case *t, int i)
{
    bool host = i == 0, made = t->request[i] != MPI_REQUEST_NULL;
    if (t->c && made) {
        t->c->comm[host] = t->comm[i];
        t->c->request[host] = t->request[i];
    } else if (t->c) {
        sk_case_bind(t->c, host, t->comm[i]);
        if (t->cell->form == SK_PERSISTENT)
            t->request[i] = t->c->request[host];
    }
}

/* Does the candidate serve, at all ranks? A neighbourhood is planned after some calls. */
static bool check_fits(tuning_case *t, int i)
{
    int calls = t->args->neighborhood ? 20 : 3, mine = 1, all;
    use(t, i);
    for (int k = 0; t->c && k < calls; k++) {
        long long before = served();
        sk_case_run(t->c, i == 0);
        mine = i == 0 || served() > before;
    }
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

static double sample(tuning_case *t, int i, int calls)
{
    use(t, i);
    return sk_sample_train(t->c, t->sampler, i == 0, t->c ? calls : 0);
}

/* So many calls that a sample takes a millisecond, as the guard has it, and not more than a part of the time. */
static void plan_trains(tuning_case *t, double seconds)
{
    enum { SAMPLE_US = 1000, MOST_TRAIN = 100 };
    for (int i = 0; i < t->cell->n; i++) {
        if (!t->fits[i])
            continue;
        double us = sample(t, i, 2), again = sample(t, i, 4),
               part = 1e6 * seconds / (t->cell->n * MIN_ROUNDS);
        us = again < us ? again : us; /* nobody lost a core in both */
        double want = (part < SAMPLE_US ? part : SAMPLE_US) / (us > 0.01 ? us : 0.01);
        t->train[i] = (int)at_0(want < 2 ? 2 : want > MOST_TRAIN ? MOST_TRAIN : (int64_t)want);
    }
}

/* By turns, there and back, so that a slow drift meets all. */
static void sample_rounds(tuning_case *t, double seconds)
{
    double since = sk_clock_now(t->sampler->clock);
    int n = t->cell->n;
    do {
        for (int k = 0; k < n; k++) {
            int i = t->rounds % 2 ? n - 1 - k : k;
            if (t->fits[i])
                t->us[i][t->rounds] = sample(t, i, t->train[i]);
        }
        t->rounds++;
    } while (t->rounds < MOST_ROUNDS &&
             at_0(t->rounds < MIN_ROUNDS || sk_clock_now(t->sampler->clock) - since < seconds));
}

/* sk_call_bytes of the call: see coll/colls.def. */
static int64_t call_bytes(const sk_case *c)
{
    int64_t sum = 0;
    switch (c->coll) {
    case SK_BARRIER:
        return 0;
    case SK_ALLGATHERV:
    case SK_REDUCE_SCATTER:
        for (int i = 0; i < c->nranks; i++)
            sum += c->rcounts[i];
        return sum * c->elem;
    case SK_REDUCE_SCATTER_BLOCK:
        return (int64_t)c->n * c->nranks * c->elem;
    default:
        return (int64_t)c->n * c->elem;
    }
}

static void tell_times(tuning_case *t, int neighbours)
{
    char line[256], near[16] = "-";
    if (neighbours)
        snprintf(near, sizeof near, "%d", neighbours);
    for (int i = 0; i < t->cell->n; i++) {
        if (!t->fits[i])
            continue;
        double us = sk_median(t->us[i], t->rounds);
        snprintf(line, sizeof line, "time %s %d %d %s %" PRId64 " %s %.3f %d",
                 sk_form_name(t->cell->coll, t->cell->form), t->group.ranks, t->group.nodes, near,
                 call_bytes(t->c), t->cell->algo[i], us > 0.001 ? us : 0.001,
                 t->rounds * t->train[i]);
        tell(line);
    }
}

static bool all_have(bool mine)
{
    int here = mine, all;
    PMPI_Allreduce(&here, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

static void free_requests(tuning_case *t)
{
    for (int i = 0; i < t->cell->n; i++)
        if (t->request[i] != MPI_REQUEST_NULL) {
            use(t, i);
            sk_case_unbind(t->c, i == 0);
        }
}

static void free_comms(tuning_case *t)
{
    for (int i = 1; i < t->cell->n; i++)
        if (t->comm[i] != MPI_COMM_NULL)
            MPI_Comm_free(&t->comm[i]);
}

static void measure_cell(tuning_case *t, double seconds, int neighbours)
{
    const tune_cell *k = t->cell;
    bool in = t->group.comm != MPI_COMM_NULL, ok = true;
    sk_conditions with = t->sampler->conditions;
    with.form = k->form;
    if (in)
        t->c = t->args->neighborhood
                   ? sk_case_neighbor_new(k->coll, k->bytes, t->args->neighborhood, &with)
                   : sk_case_new(k->coll, k->bytes, t->group.rank, t->group.ranks, &with);
    for (int i = 0; i < k->n; i++)
        t->request[i] = MPI_REQUEST_NULL;
    t->comm[0] = t->args->neighborhood ? t->args->neighborhood->comm : t->group.comm;
    for (int i = 1; i < k->n; i++) {
        t->comm[i] = MPI_COMM_NULL;
        ok = (!in || make_comm(t, i)) && ok;
    }
    if (all_have((t->c || !in) && ok)) {
        if (t->c)
            sk_case_reset(t->c);
        for (int i = 0; i < k->n; i++)
            t->fits[i] = check_fits(t, i);
        plan_trains(t, seconds);
        sample_rounds(t, seconds);
        if (world_rank() == 0)
            tell_times(t, neighbours);
    }
    if (t->c)
        free_requests(t);
    if (in)
        free_comms(t);
    sk_case_free(t->c);
}

/* ---- all cells ---- */

static bool parse_cell(char *text, tune_cell *out)
{
    char *part[5], *save = NULL;
    int n = 0;
    for (char *w = strtok_r(text, ":", &save); w && n < 5; w = strtok_r(NULL, ":", &save))
        part[n++] = w;
    if (n < 4)
        return false;
    *out = (tune_cell){
        .bytes = atoll(part[1]), .ranks = atoi(part[2]), .nodes = atoi(part[3]), .n = 1};
    out->coll = sk_form_find(part[0], &out->form);
    snprintf(out->algo[0], sizeof out->algo[0], "host");
    for (char *w = n > 4 ? strtok_r(part[4], "+", &save) : NULL; w && out->n <= MOST_ALGOS;
         w = strtok_r(NULL, "+", &save))
        snprintf(out->algo[out->n++], sizeof out->algo[0], "%s", w);
    return out->coll != SK_NCOLLS && sk_form_exists(out->form) && out->ranks > 1;
}

static int most_neighbours(const sk_neighbors *n)
{
    int mine = 0, most;
    if (n)
        mine = n->graph->ntargets > n->graph->nsources ? n->graph->ntargets : n->graph->nsources;
    PMPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static bool measure_text(const char *text, int number, const sk_tune_args *a, const sk_sampler *s,
                         double seconds)
{
    char copy[512], line[32];
    tune_cell cell;
    int all;
    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    snprintf(copy, sizeof copy, "%s", text);
    if (!parse_cell(copy, &cell) || cell.ranks > all ||
        sk_coll_neighbor(cell.coll) != (a->neighborhood != NULL))
        return false;
    snprintf(line, sizeof line, "cell %d", number);
    tell(line);
    tuning_case *t = calloc(1, sizeof *t);
    if (!t)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    t->cell = &cell;
    t->args = a;
    t->sampler = s;
    t->group = group_of(cell.ranks, cell.nodes);
    measure_cell(t, seconds, most_neighbours(a->neighborhood));
    if (t->group.comm != MPI_COMM_NULL)
        PMPI_Comm_free(&t->group.comm);
    free(t);
    return true;
}

int sk_tune_run(const sk_tune_args *a, const sk_sampler *s)
{
    const double shortest = 0.15; /* of a cell: below that times are noise */
    int n = 0, status = 0;
    describe(a, s);
    if (a->describe)
        return 0;
    char **cell = calloc(strlen(a->cells) / 2 + 2, sizeof *cell), *save = NULL;
    if (!cell)
        return 1;
    for (char *w = strtok_r(a->cells, ",", &save); w; w = strtok_r(NULL, ",", &save))
        cell[n++] = w;
    double each = n ? a->seconds / n : 0, end = sk_clock_now(s->clock) + a->seconds;
    each = each < shortest ? shortest : each;
    for (int k = 0; n && status == 0 && at_0(sk_clock_now(s->clock) < end); k++)
        if (!measure_text(cell[k % n], k % n, a, s, k < n ? 0.8 * each : each))
            status = 2;
    free(cell);
    return status;
}
