/* main.c: runs test cases of point-to-point matching:
 *
 *   match [-t] [-s SEED] [-n AMOUNT] [-x CASE] [CASE...]
 *
 * Without a case, all cases run except those that must be named (ALONE in cases.def). -x leaves one
 * out, -t asks for MPI_THREAD_MULTIPLE, -n sets how much some cases do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case.h"

enum where { EVERYWHERE, WORLD, ALONE };

static const struct row {
    const char *name;
    case_fn *run;
    int ranks, seconds;
    enum where where;
} rows[] = {
#define CASE(id, ranks, seconds, where) {#id, case_##id, ranks, seconds, where},
#include "cases.def"
#undef CASE
};
enum { ROWS = sizeof rows / sizeof *rows };

static void run_row(const struct row *row, const case_ctx *plan, MPI_Comm comm, const char *on)
{
    char name[80];
    case_ctx s = *plan;
    s.comm = comm;
    s.name = name;
    snprintf(name, sizeof name, "%s on %s", row->name, on);
    MPI_Comm_rank(comm, &s.rank);
    MPI_Comm_size(comm, &s.size);
    test_watch(row->seconds, "%s", name);
    if (s.size >= row->ranks)
        row->run(&s);
    MPI_Barrier(comm);
}

/* On a communicator in reverse order, and on two halves at the same time. */
static void run_everywhere(const struct row *row, const case_ctx *plan)
{
    int rank = test_rank();
    MPI_Comm other;
    test_watch(60, "%s: a reversed communicator", row->name);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other);
    run_row(row, plan, other, "the reversed world");
    MPI_Comm_free(&other);
    test_watch(60, "%s: two halves", row->name);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &other);
    run_row(row, plan, other, "half of the world");
    MPI_Comm_free(&other);
}

static bool wanted(const struct row *row, char **names, int n, const char *excluded)
{
    if (n == 0)
        return row->where != ALONE && (excluded == NULL || strcmp(excluded, row->name) != 0);
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], row->name) == 0)
            return true;
    return false;
}

static int known(char **names, int n)
{
    int found = 0;
    for (int i = 0; i < ROWS; i++)
        found += n > 0 && wanted(&rows[i], names, n, NULL);
    return found;
}

static void run_wanted(const case_ctx *plan, char **names, int n, const char *excluded)
{
    for (int i = 0; i < ROWS; i++) {
        if (!wanted(&rows[i], names, n, excluded))
            continue;
        run_row(&rows[i], plan, MPI_COMM_WORLD, "the world");
        if (rows[i].where == EVERYWHERE && test_size() > 1)
            run_everywhere(&rows[i], plan);
    }
}

int main(int argc, char **argv)
{
    case_ctx plan = {.seed = 1, .program = argv[0]};
    const char *excluded = NULL;
    bool threads = false;
    for (int c; (c = getopt(argc, argv, "tn:s:x:")) != -1;) {
        if (c == 't')
            threads = true;
        else if (c == 'n')
            plan.amount = atoi(optarg);
        else if (c == 's')
            plan.seed = strtoull(optarg, NULL, 10);
        else if (c == 'x')
            excluded = optarg;
        else
            return 2;
    }
    int level = threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, provided;
    test_begin_thread(&argc, &argv, "match", level, &provided);
    plan.threads = provided == MPI_THREAD_MULTIPLE;
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        test_watch(60, "the part of a spawned process");
        dynamic_child(parent);
        return test_end();
    }
    int names = argc - optind;
    if (names > 0 && known(argv + optind, names) != names) {
        fprintf(stderr, "match: unknown case: see cases.def\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (threads && !plan.threads)
        test_skip("threads: MPI_THREAD_MULTIPLE is not provided");
    run_wanted(&plan, argv + optind, names, excluded);
    return test_end();
}
