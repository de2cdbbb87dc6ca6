/* parts.c: the calls that an algorithm is made of. */
#include "parts.h"

#include <stdio.h>

enum {
    MAX_PARTS = 8,    /* shown */
    MAX_RANKS = 4096, /* of a node: there is none with more, but a user may ask for one */
};

/* Asks the rules, as every build does, and remembers the answers. */
typedef struct part_recorder {
    sk_chooser chooser; /* first, so that a pointer to it is one to the recorder */
    const sk_select *select;
    struct {
        sk_coll coll;
        int nranks;
        sk_choice choice;
    } part[MAX_PARTS];
    int n;
} part_recorder;

static const sk_algo *record_part(const sk_chooser *chooser, const sk_call *c)
{
    part_recorder *r = (part_recorder *)chooser;
    sk_choice choice;
    sk_select_explain(r->select, c, &choice);
    for (int i = 0; i < r->n; i++)
        if (r->part[i].coll == c->coll && r->part[i].nranks == c->nranks &&
            r->part[i].choice.algo == choice.algo)
            return choice.algo;
    if (r->n < MAX_PARTS) {
        r->part[r->n].coll = c->coll;
        r->part[r->n].nranks = c->nranks;
        r->part[r->n++].choice = choice;
    }
    return choice.algo;
}

/* The calls that the chosen algorithm is made of: with leaders, the phase among them. The ranks of
 * one node are built, since not all of them lead. */
sk_status sk_explain_parts(const sk_select *select, const sk_callspec_args *args, int rank,
                           const sk_algo *algo, const sk_rename *rename)
{
    part_recorder r = {.chooser = {record_part}, .select = select};
    const sk_machine *machine = sk_callspec_call(args, rank).machine;
    int n = 1;
    const int *ranks = machine ? sk_machine_local_ranks(machine, rank, &n) : &rank;
    sk_status st = SK_OK;
    for (int i = 0; i < n && i < MAX_RANKS && st == SK_OK; i++) {
        sk_sched *sched = NULL;
        sk_call c = sk_callspec_call(args, ranks[i]);
        c.chooser = &r.chooser;
        if (rename)
            c = sk_call_renamed(&c, rename);
        st = sk_algo_build(algo, &c, &sched);
        sk_sched_free(sched);
    }
    for (int i = 0; i < r.n && st == SK_OK; i++)
        printf("%s %s among %d ranks, %s: %s\n", i ? "        " : "parts   ",
               sk_coll_name(r.part[i].coll), r.part[i].nranks,
               r.part[i].choice.algo ? r.part[i].choice.algo->name : "none", r.part[i].choice.why);
    return st;
}
