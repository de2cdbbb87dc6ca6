/* explain.c: which algorithm serves a call, why, and what it and the others send. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "explain_args.h"
#include "explain_neighbor.h"
#include "select/select.h"
#include "tally.h"

static void print_range(const char *name, int64_t mine, sk_range r)
{
    printf("  %-14s %12" PRId64 " %12" PRId64 " %14.1f %12" PRId64 "\n", name, mine, r.least,
           r.mean, r.most);
}

static sk_status print_schedule(const sk_algo *a, const sk_call *c)
{
    sk_sched *sched = NULL;
    sk_status st = sk_algo_build(a, c, &sched);
    if (st == SK_OK) {
        printf("\nschedule of rank %d, %s\n", c->rank, a->name);
        sk_sched_print(sched, stdout);
    }
    sk_sched_free(sched);
    return st;
}

static sk_status print_numbers(const sk_algo *a, const sk_explain_args *args,
                               const sk_shape_room *room)
{
    sk_sched *sched = NULL;
    sk_tally t;
    sk_call c = sk_shape_call(room, args->rank);
    sk_status st = sk_algo_build(a, &c, &sched);
    if (st != SK_OK)
        return st;
    sk_sched_stats mine = sk_sched_count(sched);
    sk_sched_free(sched);
    st = sk_tally_take(a, room, args->shape.nranks, &t);
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

static sk_status print_row(const sk_algo *a, const sk_explain_args *args, const sk_shape_room *room,
                           bool chosen)
{
    sk_tally t;
    sk_call c = sk_shape_call(room, args->rank);
    printf("%c %-18s", chosen ? '*' : ' ', a->name);
    if (a->fits && !a->fits(&c)) {
        printf(" does not fit this call\n");
        return SK_OK;
    }
    sk_status st = sk_tally_take(a, room, args->shape.nranks, &t);
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

static sk_status print_all(const sk_explain_args *args, const sk_shape_room *room,
                           const sk_choice *choice)
{
    const sk_shape *s = &args->shape;
    sk_call c = sk_shape_call(room, args->rank);
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
        st = print_numbers(choice->algo, args, room);
    if (st != SK_OK)
        return st;

    printf("\n  %-18s %8s %9s %14s %14s %12s\n", "all algorithms", "rounds", "messages",
           "bytes, mean", "bytes, most", "scratch");
    for (const sk_algo *const *a = sk_algos(); *a && st == SK_OK; a++)
        if ((*a)->coll == s->coll)
            st = print_row(*a, args, room, *a == choice->algo);
    if (st == SK_OK && args->print && choice->algo)
        st = print_schedule(choice->algo, &c);
    return st;
}

int sk_cmd_explain(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "neighbor") == 0)
        return sk_explain_neighbor(argc - 1, argv + 1);
    sk_explain_args args;
    int status = sk_explain_args_read(argc, argv, &args);
    if (status >= 0)
        return status;

    sk_select *sel = NULL;
    sk_arena *arena = sk_arena_new();
    sk_choice choice = {.why = "asked for"};
    char err[256] = "out of memory";
    status = 1;
    sk_shape_room *room = arena ? sk_shape_room_new(arena, &args.shape) : NULL;
    if (!room || sk_select_new(environ, &sel, err, sizeof err) != SK_OK) {
        fprintf(stderr, "skein explain: %s\n", err);
        goto out;
    }
    sk_call c = sk_shape_call(room, args.rank);
    if (args.algo) {
        choice.algo = args.algo;
        if (args.algo->fits && !args.algo->fits(&c)) {
            fprintf(stderr, "skein explain: %s does not fit this call\n", args.algo->name);
            goto out;
        }
    } else {
        sk_select_choose(sel, &c, &choice);
    }
    sk_status st = print_all(&args, room, &choice);
    if (st != SK_OK)
        fprintf(stderr, "\nskein explain: %s\n", sk_status_text(st));
    status = st != SK_OK;
out:
    sk_select_free(sel);
    sk_arena_free(arena);
    return status;
}
