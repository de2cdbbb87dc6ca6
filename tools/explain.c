/* explain.c: which algorithm serves a call, why, and what it and the others send. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "explain_args.h"
#include "explain_machine.h"
#include "explain_neighbor.h"
#include "option.h"
#include "select/renames.h"
#include "shm/shm.h"
#include "tally.h"

/* What is explained: the call, and how it is served. */
typedef struct scene {
    sk_explain_args args;
    sk_select *select;
    sk_machine *machine; /* NULL: not known */
    sk_renames renames;
    const sk_shape_room *room;
    sk_choice choice;
    const sk_rename *rename; /* of the chosen algorithm; NULL: none */
} scene;

static void print_range(const char *name, int64_t mine, sk_range r)
{
    printf("  %-14s %12" PRId64 " %12" PRId64 " %14.1f %12" PRId64 "\n", name, mine, r.least,
           r.mean, r.most);
}

/* The schedule of the rank that is shown. */
static sk_status build(const scene *x, sk_sched **out)
{
    sk_call c = sk_shape_call(x->room, x->args.rank);
    if (x->rename)
        c = sk_call_renamed(&c, x->rename);
    return sk_algo_build(x->choice.algo, &c, out);
}

static sk_status print_schedule(const scene *x)
{
    sk_sched *sched = NULL;
    sk_status st = build(x, &sched);
    if (st == SK_OK) {
        printf("\nschedule of rank %d, %s\n", x->args.rank, x->choice.algo->name);
        sk_sched_print(sched, stdout);
    }
    sk_sched_free(sched);
    return st;
}

static sk_status print_numbers(const scene *x)
{
    const sk_explain_args *args = &x->args;
    sk_sched *sched = NULL;
    sk_tally t;
    sk_status st = build(x, &sched);
    if (st != SK_OK)
        return st;
    sk_sched_stats mine = sk_sched_count(sched);
    sk_sched_free(sched);
    st = sk_tally_take(x->choice.algo, x->room, args->shape.nranks, x->rename, &t);
    if (st != SK_OK)
        return st;
    char head[32];
    snprintf(head, sizeof head, "rank %d", args->rank);
    printf("\n  %-14s %12s %12s %14s %12s\n", "", head, "least", "mean", "most");
    print_range("rounds", mine.rounds, t.rounds);
    print_range("messages sent", mine.sends, t.sends);
    if (t.unknown_size)
        printf("  %-14s %12s\n", "bytes sent", "the messages carry their own lengths");
    else
        print_range("bytes sent", mine.send_bytes, t.send_bytes);
    if (t.reduce_bytes.most)
        print_range("bytes reduced", mine.reduce_bytes, t.reduce_bytes);
    print_range("scratch bytes", mine.scratch, t.scratch);
    if (t.ranks < args->shape.nranks)
        printf("  (least, mean and most of %d ranks, evenly spread)\n", t.ranks);
    return SK_OK;
}

static sk_status print_row(const scene *x, const sk_algo *a)
{
    sk_tally t;
    bool chosen = a == x->choice.algo;
    sk_call c = sk_shape_call(x->room, x->args.rank);
    printf("%c %-18s", chosen ? '*' : ' ', a->name);
    if (a->fits && !a->fits(&c)) {
        printf(" does not fit this call\n");
        return SK_OK;
    }
    sk_status st = sk_tally_take(a, x->room, x->args.shape.nranks, chosen ? x->rename : NULL, &t);
    if (st != SK_OK)
        return st;
    printf(" %8" PRId64 " %9" PRId64, t.rounds.most, t.sends.most);
    if (t.unknown_size)
        printf(" %14s %14s", "?", "?");
    else
        printf(" %14.1f %14" PRId64, t.send_bytes.mean, t.send_bytes.most);
    printf(" %12" PRId64 "\n", t.scratch.most);
    return SK_OK;
}

static sk_status print_all(const scene *x)
{
    const sk_explain_args *args = &x->args;
    const sk_choice *choice = &x->choice;
    const sk_shape *s = &args->shape;
    sk_status st = SK_OK;
    printf("%s on %d ranks", sk_coll_name(s->coll), s->nranks);
    if (s->coll != SK_BARRIER)
        printf(", %" PRId64 " bytes (%s), elements of %" PRId64 " bytes%s", s->elems * s->elem_size,
               args->bytes_mean, s->elem_size, s->ordered ? ", order kept" : "");
    printf("\nchosen   %s%s%s\n", choice->algo ? choice->algo->name : "the host MPI",
           choice->algo ? ": " : "",
           choice->algo && choice->algo->about ? choice->algo->about : "");
    printf("because  %s\n", choice->why);
    if (choice->algo)
        st = print_numbers(x);
    if (st == SK_OK && choice->algo && x->machine)
        st = sk_explain_machine(choice->algo, x->room, x->machine, x->rename);
    if (st != SK_OK)
        return st;

    printf("\n  %-18s %8s %9s %14s %14s %12s\n", "all algorithms", "rounds", "messages",
           "bytes, mean", "bytes, most", "scratch");
    for (const sk_algo *const *a = sk_algos(); *a && st == SK_OK; a++)
        if ((*a)->coll == s->coll)
            st = print_row(x, *a);
    if (st == SK_OK && args->print && choice->algo)
        st = print_schedule(x);
    return st;
}

/* -1: go on; else the exit status, its message printed. */
static int read_machine(scene *x)
{
    char err[256];
    const char *text = x->args.machine;
    if (!text)
        text = sk_settings_text(sk_select_settings(x->select), SK_SET_MACHINE);
    if (!*text && !x->args.machine)
        return -1;
    if (sk_machine_parse(text, x->args.shape.nranks, &x->machine, err, sizeof err) != SK_OK)
        return sk_bad_use("explain", "%s", err);
    x->args.shape.machine = x->machine;
    sk_shm_bytes(x->machine->most_on_node,
                 sk_settings_int(sk_select_settings(x->select), SK_SET_SHM), &x->args.shape.shared);
    return -1;
}

static sk_status choose(scene *x, char *err, size_t size)
{
    sk_call c = sk_shape_call(x->room, x->args.rank);
    const sk_algo *wanted = x->args.algo;
    if (wanted && wanted->fits && !wanted->fits(&c)) {
        snprintf(err, size, "%s does not fit this call", wanted->name);
        return SK_BADARG;
    }
    if (wanted)
        x->choice = (sk_choice){.algo = wanted, .why = "asked for"};
    else
        sk_select_choose(x->select, &c, &x->choice);
    if (!x->choice.algo)
        return SK_OK;
    sk_status st = sk_renames_choose(&x->renames, x->select, x->choice.algo, &c, &x->rename);
    sk_renames_explain(x->rename, x->choice.why, sizeof x->choice.why);
    return st;
}

int sk_cmd_explain(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "neighbor") == 0)
        return sk_explain_neighbor(argc - 1, argv + 1);
    scene x = {0};
    int status = sk_explain_args_read(argc, argv, &x.args);
    if (status >= 0)
        return status;

    sk_arena *arena = sk_arena_new();
    char err[256] = "out of memory";
    sk_status st = sk_select_new(environ, &x.select, err, sizeof err);
    if (st == SK_OK && (status = read_machine(&x)) >= 0)
        goto out;
    x.room = arena ? sk_shape_room_new(arena, &x.args.shape) : NULL;
    if (st == SK_OK)
        st = x.room ? choose(&x, err, sizeof err) : SK_NOMEM;
    status = 1;
    if (st != SK_OK) {
        fprintf(stderr, "skein explain: %s\n", err);
        goto out;
    }
    st = print_all(&x);
    if (st != SK_OK)
        fprintf(stderr, "\nskein explain: %s\n", sk_status_text(st));
    status = st != SK_OK;
out:
    sk_renames_free(&x.renames);
    sk_machine_free(x.machine);
    sk_select_free(x.select);
    sk_arena_free(arena);
    return status;
}
