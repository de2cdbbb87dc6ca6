/* errors.c: calls with wrong arguments are answered as the host answers them: the same error class,
 * the error handler called as often. Then truncated messages, errors of calls that Skein and the host serve by turns,
 * intercommunicators, and many communicators made and freed. */
#include "errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Valid arguments for any collective over MPI_COMM_WORLD, to be spoilt. */
typedef struct valid {
    args a;
    int *data, *counts, *displs;
    MPI_Datatype *types;
} valid;

static void valid_make(valid *v, coll c)
{
    int p = test_size();
    *v = (valid){0};
    v->data = must_alloc(2 * (size_t)p * sizeof(int));
    v->counts = must_alloc((size_t)p * sizeof(int));
    v->displs = must_alloc((size_t)p * sizeof(int));
    v->types = must_alloc((size_t)p * sizeof(MPI_Datatype));
    for (int i = 0; i < p; i++) {
        v->counts[i] = 1;
        v->displs[i] = c == C_ALLTOALLW ? i * (int)sizeof(int) : i;
        v->types[i] = MPI_INT;
    }
    v->a =
        (args){.coll = c, .sbuf = v->data, .rbuf = v->data + p, .stype = MPI_INT, .rtype = MPI_INT};
    v->a.op = MPI_SUM;
    v->a.comm = MPI_COMM_WORLD;
    v->a.stypes = v->a.rtypes = v->types;
    v->a.ints = (counts){1, 1, v->counts, v->displs, v->counts, v->displs};
}

static void valid_free(valid *v)
{
    free(v->data);
    free(v->counts);
    free(v->displs);
    free(v->types);
}

/* ---- ways to spoil a call; false: does not apply to it ---- */

static bool root_too_large(valid *v)
{
    v->a.root = test_size();
    return coll_traits(v->a.coll) & T_ROOT;
}

static bool root_negative(valid *v)
{
    v->a.root = -7;
    return coll_traits(v->a.coll) & T_ROOT;
}

static bool count_negative(valid *v)
{
    v->a.ints.scount = v->a.ints.rcount = v->counts[test_size() - 1] = -1;
    return v->a.coll != C_BARRIER;
}

static bool comm_null(valid *v)
{
    v->a.comm = MPI_COMM_NULL;
    return true;
}

static bool type_null(valid *v)
{
    v->a.stype = v->a.rtype = v->types[0] = MPI_DATATYPE_NULL;
    return v->a.coll != C_BARRIER;
}

static bool op_null(valid *v)
{
    v->a.op = MPI_OP_NULL;
    return coll_traits(v->a.coll) & T_OP;
}

static bool op_not_for_type(valid *v)
{
    v->a.op = MPI_BAND;
    v->a.rtype = MPI_DOUBLE;
    return coll_traits(v->a.coll) & T_OP;
}

static bool op_for_pairs_only(valid *v)
{
    v->a.op = MPI_MAXLOC;
    return coll_traits(v->a.coll) & T_OP;
}

static const struct {
    const char *name;
    bool (*spoil)(valid *v);
} spoilers[] = {
    {"root too large", root_too_large},
    {"negative root", root_negative},
    {"negative count", count_negative},
    {"null communicator", comm_null},
    {"null type", type_null},
    {"null operation", op_null},
    {"MPI_BAND on double", op_not_for_type},
    {"MPI_MAXLOC on int", op_for_pairs_only},
};
enum { NSPOILERS = sizeof spoilers / sizeof spoilers[0] };

/* What the host answers with a crash: nothing to compare with. */
static bool host_crashes(coll c, bool (*spoil)(valid *v))
{
#ifdef MPICH
    return spoil == count_negative && coll_traits(c) & T_OP && c != C_REDUCE_SCATTER;
#else
    return spoil == comm_null && c == C_ALLGATHER;
#endif
}

/* ---- calls in which the host ends the job, by an assertion of its own ---- */

static int number_of(coll c, int s, form f)
{
    return (c * NSPOILERS + s) * NFORMS + f;
}

/* ERRORS_WITHOUT: the numbers of calls to leave out. run.sh finds them by runs without Skein. */
static bool is_left_out(int number)
{
    const char *list = getenv("ERRORS_WITHOUT");
    for (char *end; list && *list; list = *end == ',' ? end + 1 : end) {
        if (strtol(list, &end, 10) == number)
            return true;
        if (end == list)
            break;
    }
    return false;
}

/* ERRORS_AT: a file that has the number of the call at hand, in case it ends the job. */
static void note(int number)
{
    const char *file = getenv("ERRORS_AT");
    if (!file)
        return;
    PMPI_Barrier(MPI_COMM_WORLD); /* nobody is in the call before */
    FILE *out = test_rank() == 0 ? fopen(file, "w") : NULL;
    if (out) {
        fprintf(out, "%d\n", number);
        fclose(out);
    }
    PMPI_Barrier(MPI_COMM_WORLD);
}

/* ---- what an error handler saw; a handler has no argument of its own, hence the globals ---- */

static int handler_calls, handler_class;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    handler_calls++;
    PMPI_Error_class(*code, &handler_class);
}

typedef struct answer {
    int class, calls, handler_class;
} answer;

static answer ask(const args *a, form f, bool host)
{
    MPI_Request q = MPI_REQUEST_NULL;
    answer w = {0};
    handler_calls = handler_class = 0;
    int rc = host ? coll_host_form(a, f, &q) : coll_call(a, f, false, &q);
    /* an argument that this host lets pass makes an ordinary call of it */
    if (rc == MPI_SUCCESS && f == F_NONBLOCKING)
        rc = host ? PMPI_Wait(&q, MPI_STATUS_IGNORE) : MPI_Wait(&q, MPI_STATUS_IGNORE);
    PMPI_Error_class(rc, &w.class);
    w.calls = handler_calls;
    w.handler_class = handler_class;
    return w;
}

static void compare(coll c, int s, form f)
{
    valid v;
    valid_make(&v, c);
    int number = number_of(c, s, f);
    if (!host_crashes(c, spoilers[s].spoil) && !is_left_out(number) && spoilers[s].spoil(&v)) {
        note(number);
        test_watch(20, "%s %s, %s", form_name(f, false), coll_name(c), spoilers[s].name);
        answer host = ask(&v.a, f, true), ours = ask(&v.a, f, false);
        CHECK(memcmp(&host, &ours, sizeof host) == 0,
              "%s %s, %s: class %d, handler called %d times with class %d; the host: %d, %d, %d",
              form_name(f, false), coll_name(c), spoilers[s].name, ours.class, ours.calls,
              ours.handler_class, host.class, host.calls, host.handler_class);
    }
    valid_free(&v);
}

static void wrong_arguments_are_answered_as_by_the_host(void)
{
    for (coll c = 0; c < NCOLLS; c++)
        for (int s = 0; s < NSPOILERS; s++)
            for (form f = F_BLOCKING; f < NFORMS; f++)
                if (form_exists(c, f, false))
                    compare(c, s, f);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, "errors");
    bool all = argc < 2;
    if (all || strcmp(argv[1], "arguments") == 0) {
        MPI_Errhandler h;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        wrong_arguments_are_answered_as_by_the_host();
        MPI_Comm_create_errhandler(handler, &h);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, h);
        wrong_arguments_are_answered_as_by_the_host();
        MPI_Errhandler_free(&h);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    }
    if (all || strcmp(argv[1], "intercomm") == 0)
        intercommunicators_work();
    if (all || strcmp(argv[1], "churn") == 0)
        communicators_leave_no_memory_behind(argc > 2 ? atoi(argv[2]) : 10000);
    if (all || strcmp(argv[1], "truncation") == 0)
        truncation_is_reported();
    if (argc > 1 && strcmp(argv[1], "own") == 0)
        own_blocks_of_two_lengths();
    if (all || strcmp(argv[1], "once") == 0)
        errors_are_raised_once();
    return test_end();
}
