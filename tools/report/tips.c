#include "report/tips.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/amounts.h"
#include "strlist.h"

/* What is worth a line. They are shares, which hold for any machine. */
static const double LITTLE = 0.05;       /* of the run: in collectives */
static const double MUCH_WAITING = 0.25; /* of the time in blocking calls */
static const double DOMINANT = 0.2;      /* of the time in collectives: a collective and size */
static const double SPARSE = 0.25;       /* of the blocks of an alltoallv */
static const double FEW_LOCAL = 0.5;     /* edges of a neighbourhood */
static const double DEEP =
    32; /* entries of a queue, by which a search of a list takes as long as a message */
static const double MANY = 1000; /* calls */

enum { MOST_TIPS = 24 };

typedef struct tips {
    sk_arena *a;
    const sk_run_data *d;
    sk_tip *tip;
    int n;
} tips;

static void add(tips *t, const char *title, const char *text)
{
    if (t->n < MOST_TIPS)
        t->tip[t->n++] = (sk_tip){title, text};
}

static double all_seconds(const sk_run_data *d)
{
    return d->skein_seconds + d->host_seconds;
}

static double part(double x, double of)
{
    return of > 0 ? x / of : 0;
}

/* ---- the whole run ---- */

static void tip_end(tips *t)
{
    const sk_run_data *d = t->d;
    if (d->counted < d->ranks || strcmp(d->end, "MPI_Finalize") != 0)
        add(t, "The run did not end as usual",
            sk_format(t->a,
                      "End: %s. Counts are of %.0f of %.0f ranks, and waiting is not known; a run "
                      "that comes to "
                      "MPI_Finalize tells more.",
                      d->end, d->counted, d->ranks));
}

static bool tip_share(tips *t)
{
    const sk_run_data *d = t->d;
    double share = part(d->mean_seconds, d->run_seconds);
    if (d->calls <= 0) {
        add(t, "No collective calls", "Nothing was counted, so there is nothing to improve here.");
        return false;
    }
    if (d->run_seconds > 0 && d->mean_seconds > 0 && share < LITTLE)
        add(t, "Collectives take little of this run",
            sk_format(t->a,
                      "A rank spent %s of %s in them (%s): faster ones cannot save more than that.",
                      sk_show_seconds(t->a, d->mean_seconds), sk_show_seconds(t->a, d->run_seconds),
                      sk_show_part(t->a, share)));
    return true;
}

static void tip_waiting(tips *t)
{
    const sk_run_data *d = t->d;
    double waited = sk_run_waited_part(d);
    if (waited < MUCH_WAITING)
        return;
    const sk_run_late *late = d->nlate ? &d->late[0] : NULL;
    double caused = late ? part(late->caused, d->sampled.waited) : 0;
    const char *who =
        !late ? ""
        : caused * d->ranks > 2
            ? sk_format(t->a,
                        " Rank %.0f on node %.0f was last in %.0f of %.0f calls that were looked "
                        "at, and caused %s of "
                        "the waiting: look at what it does between the calls.",
                        late->rank, late->node, late->last, d->sampled.calls,
                        sk_show_part(t->a, caused))
            : " No rank stands out: the work, or the machine, varies from call to call.";
    add(t, "The program waits for late ranks, not for the network",
        sk_format(t->a,
                  "%s of the time in blocking collectives passes before the last rank has entered; "
                  "from the first to "
                  "the last it takes %s in the mean, %s at most.%s",
                  sk_show_part(t->a, waited), sk_show_seconds(t->a, 1e-6 * d->sampled.spread_us),
                  sk_show_seconds(t->a, 1e-6 * d->sampled.most_spread_us), who));
}

static void tip_cores(tips *t)
{
    const sk_run_data *d = t->d;
    double each = part(d->ranks, d->nodes);
    if (d->cores > 0 && each > d->cores)
        add(t, "Ranks share cores",
            sk_format(t->a,
                      "%.0f ranks on %.0f %s, but a node has %.0f cores: ranks wait for each "
                      "other's cores in every "
                      "collective. Start at most %.0f ranks for each node.",
                      d->ranks, d->nodes, d->nodes == 1 ? "node" : "nodes", d->cores, d->cores));
}

/* ---- calls ---- */

static void tip_dominant(tips *t)
{
    const sk_run_data *d = t->d;
    for (int i = 0; i < d->ncells && i < 3; i++) {
        const sk_run_cell *c = &d->cells[i];
        double s = c->skein + c->host;
        if (part(s, all_seconds(d)) < DOMINANT)
            return;
        add(t, sk_format(t->a, "%s of %s dominates", c->coll, c->size),
            sk_format(t->a, "%s calls took %s, %s of the time in collectives; %s for each.",
                      sk_show_count(t->a, c->calls), sk_show_seconds(t->a, s),
                      sk_show_part(t->a, part(s, all_seconds(d))),
                      sk_show_seconds(t->a, part(s, c->calls))));
    }
}

static bool is_small(const char *size)
{
    return strcmp(size, "<= 64 B") == 0 || strcmp(size, "<= 512 B") == 0;
}

static void tip_fuse(tips *t)
{
    const sk_run_data *d = t->d;
    double calls = 0, seconds = 0, waited = sk_run_waited_part(d);
    for (int i = 0; i < d->ncells; i++)
        if (strcmp(d->cells[i].coll, "allreduce") == 0 && is_small(d->cells[i].size)) {
            calls += d->cells[i].calls;
            seconds += d->cells[i].skein + d->cells[i].host;
        }
    if (calls < MANY || part(seconds, all_seconds(d)) < LITTLE)
        return;
    add(t, "Small allreduces could be fused",
        sk_format(t->a,
                  "%s allreduces of at most 512 bytes took %s, %s each, which is latency and not "
                  "data. Values that are "
                  "needed at the same place, such as two dot products, can be summed in one call; "
                  "two at a time would "
                  "save up to %s. Those that are not needed at once can be MPI_Iallreduce.",
                  sk_show_count(t->a, calls), sk_show_seconds(t->a, seconds),
                  sk_show_seconds(t->a, part(seconds, calls)),
                  sk_show_seconds(t->a, seconds / 2 * (1 - (waited > 0 ? waited : 0)))));
}

static bool is_long(const char *size)
{
    return strcmp(size, "<= 256 KB") == 0 || strcmp(size, "<= 2 MB") == 0 ||
           strcmp(size, "> 2 MB") == 0;
}

/* Blocking calls of long messages that take a good part of the run. */
static void tip_nonblocking(tips *t)
{
    const sk_run_data *d = t->d;
    for (int i = 0; i < d->ncells; i++) {
        const sk_run_cell *c = &d->cells[i];
        double s = c->skein + c->host;
        if (!is_long(c->size) || part(s, d->run_seconds) < LITTLE)
            continue;
        add(t, sk_format(t->a, "%s of %s could be nonblocking", c->coll, c->size),
            sk_format(t->a,
                      "%s calls took %s, %s of the run. MPI_I%s, with computation between it and "
                      "MPI_Wait, hides what "
                      "the computation lasts; if buffers do not change, the persistent form saves "
                      "the start too.",
                      sk_show_count(t->a, c->calls), sk_show_seconds(t->a, s),
                      sk_show_part(t->a, part(s, d->run_seconds)), c->coll));
        return;
    }
}

static void tip_neighbours(tips *t)
{
    const sk_run_data *d = t->d;
    double filled = part(d->sparse_filled, d->sparse_blocks);
    if (d->sparse_blocks <= 0 || filled > SPARSE)
        return;
    add(t, "alltoallv could be a neighbourhood collective",
        sk_format(
            t->a,
            "Of the blocks of its calls only %s are not empty: a rank sends to %.1f of %.0f ranks. "
            "MPI_Neighbor_alltoallv on a communicator of MPI_Dist_graph_create_adjacent names only "
            "these, so "
            "that nothing grows with the number of ranks and Skein can combine messages between "
            "nodes.",
            sk_show_part(t->a, filled), filled * d->ranks, d->ranks));
}

static void tip_barriers(tips *t)
{
    const sk_run_data *d = t->d;
    for (int i = 0; i < d->ncells; i++) {
        const sk_run_cell *c = &d->cells[i];
        double s = c->skein + c->host;
        if (strcmp(c->coll, "barrier") == 0 && part(s, all_seconds(d)) >= LITTLE)
            add(t, "Barriers may not be needed",
                sk_format(t->a,
                          "%s barriers took %s, %s of the time in collectives. Messages and "
                          "collectives order "
                          "themselves; a barrier is needed before shared files or timers, hardly "
                          "ever else.",
                          sk_show_count(t->a, c->calls), sk_show_seconds(t->a, s),
                          sk_show_part(t->a, part(s, all_seconds(d)))));
    }
}

/* ---- Skein itself ---- */

static double host_seconds(const sk_run_data *d, const char *why)
{
    double s = 0;
    for (int i = 0; i < d->nrows; i++)
        if (d->rows[i].host && strncmp(d->rows[i].host, why, strlen(why)) == 0)
            s += d->rows[i].seconds;
    return s;
}

static void tip_host(tips *t)
{
    const sk_run_data *d = t->d;
    double early = host_seconds(d, "first calls"), fits = host_seconds(d, "no algorithm");
    if (part(early, all_seconds(d)) >= LITTLE)
        add(t, "Communicators that live short",
            sk_format(t->a,
                      "%s, %s of the time in collectives, was spent in first calls on "
                      "communicators, which the host "
                      "MPI serves. Communicators that are made once and kept are served by Skein; "
                      "SKEIN_FIND=0 has it "
                      "serve from the first call on.",
                      sk_show_seconds(t->a, early),
                      sk_show_part(t->a, part(early, all_seconds(d)))));
    if (part(fits, all_seconds(d)) >= LITTLE)
        add(t, "Calls that no algorithm of Skein fits",
            sk_format(t->a, "They took %s. `skein explain` says what an algorithm needs.",
                      sk_show_seconds(t->a, fits)));
}

static void tip_value(tips *t)
{
    const sk_run_data *d = t->d;
    if (d->comparisons > 0 && d->saved < -0.01 * all_seconds(d))
        add(t, "Skein lost time",
            sk_format(t->a,
                      "About %s by %.0f comparisons with the host MPI. `skein tune --app` measures "
                      "the calls of this "
                      "program, and Skein chooses by that from then on.",
                      sk_show_seconds(t->a, -d->saved), d->comparisons));
    if (d->evicted > 0)
        add(t, "Plans are made again and again",
            sk_format(t->a,
                      "%.0f of %.0f plans were evicted from the cache: the program makes many "
                      "different calls. "
                      "SKEIN_CACHE=%.0f keeps them all.",
                      d->evicted, d->built, exp2(ceil(log2(d->built + 1)))));
}

/* ---- placement and matching ---- */

static void tip_placement(tips *t)
{
    const sk_run_data *d = t->d;
    for (int i = 0; i < d->ngraphs && d->nodes > 1; i++) {
        const sk_run_graph *g = &d->graphs[i];
        if (g->local >= FEW_LOCAL || g->mean_out <= 0)
            continue;
        add(t, "Neighbours sit on other nodes",
            sk_format(t->a,
                      "In %s only %s of the edges stay on a node (%.1f neighbours for each rank). "
                      "Where the launcher "
                      "fills nodes one after the other, or the topology is made with reorder = 1, "
                      "neighbours can sit "
                      "together.",
                      sk_show_name(g->name), sk_show_part(t->a, g->local), g->mean_out));
    }
}

/* The nodes of the ranks that others waited for. */
static void tip_slow_node(tips *t)
{
    const sk_run_data *d = t->d;
    double sum = 0, same = 0;
    for (int i = 0; i < d->nlate; i++) {
        sum += d->late[i].caused;
        same += d->late[i].node == d->late[0].node ? d->late[i].caused : 0;
    }
    if (d->nodes > 1 && d->nlate > 2 && sk_run_waited_part(d) >= MUCH_WAITING && same > 0.8 * sum)
        add(t, "One node is late",
            sk_format(t->a,
                      "The ranks that others wait for are on node %.0f (%s of the waiting for the "
                      "%d latest ranks): "
                      "it may be slower, loaded by others, or have more to do.",
                      d->late[0].node, sk_show_part(t->a, part(same, sum)), d->nlate));
}

static void tip_queues(tips *t, const sk_traced *traced)
{
    const sk_run_data *d = t->d;
    if (d->matched && (d->posted.mean >= DEEP || d->unexpected.mean >= DEEP))
        add(t, "Deep matching queues: keep --match",
            sk_format(t->a,
                      "A search found %.0f posted receives and %.0f unexpected messages in the "
                      "mean (longest %.0f and "
                      "%.0f), which MPIs with lists compare one by one; the engine compared %.1f "
                      "for each search.",
                      d->posted.mean, d->unexpected.mean, d->posted.longest, d->unexpected.longest,
                      part(d->posted.compared + d->unexpected.compared,
                           d->posted.searches + d->unexpected.searches)));
    if (!traced)
        return;
    bool deep = traced->posted_mean >= DEEP || traced->unexpected_mean >= DEEP;
    add(t, deep ? "Deep matching queues: run with --match" : "Matching queues are short",
        sk_format(
            t->a,
            "By the trace of %.0f operations the posted queue has %.1f entries in the mean and "
            "%.0f at most, the "
            "unexpected one %.1f and %.0f. %s",
            traced->operations, traced->posted_mean, traced->posted_most, traced->unexpected_mean,
            traced->unexpected_most,
            deep ? "MPIs that search lists compare them one by one; `skein run --match` does not."
                 : "Faster matching would change little."));
}

const sk_tip *sk_tips(sk_arena *a, const sk_run_data *d, const sk_traced *traced, int *n)
{
    tips t = {.a = a, .d = d, .tip = sk_arena_need(a, MOST_TIPS * sizeof *t.tip)};
    tip_end(&t);
    if (tip_share(&t)) {
        tip_waiting(&t);
        tip_slow_node(&t);
        tip_cores(&t);
        tip_dominant(&t);
        tip_fuse(&t);
        tip_nonblocking(&t);
        tip_neighbours(&t);
        tip_barriers(&t);
        tip_placement(&t);
        tip_host(&t);
        tip_value(&t);
    }
    tip_queues(&t, traced);
    if (!t.n)
        add(&t, "Nothing stands out",
            "No collective dominates, and ranks do not wait for each other.");
    *n = t.n;
    return t.tip;
}
