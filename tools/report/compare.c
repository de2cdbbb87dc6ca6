#include "report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/amounts.h"
#include "strlist.h"

double sk_pair_seconds(const sk_run_cell *c)
{
    return c ? c->skein + c->host : 0;
}

static int by_difference(const void *a, const void *b)
{
    const sk_pair *x = a, *y = b;
    double s = fabs(sk_pair_seconds(x->was) - sk_pair_seconds(x->now)),
           t = fabs(sk_pair_seconds(y->was) - sk_pair_seconds(y->now));
    return (s < t) - (s > t);
}

const sk_pair *sk_pairs(sk_arena *a, const sk_run_data *was, const sk_run_data *now, int *n)
{
    sk_pair *pair = sk_arena_need(a, (size_t)(was->ncells + now->ncells + 1) * sizeof *pair);
    *n = 0;
    for (int i = 0; i < was->ncells; i++)
        pair[(*n)++] = (sk_pair){was->cells[i].coll, was->cells[i].size, &was->cells[i], NULL};
    for (int i = 0; i < now->ncells; i++) {
        const sk_run_cell *c = &now->cells[i];
        int k = 0;
        while (k < was->ncells &&
               (strcmp(pair[k].coll, c->coll) != 0 || strcmp(pair[k].size, c->size) != 0))
            k++;
        if (k == was->ncells)
            pair[k = (*n)++] = (sk_pair){c->coll, c->size, NULL, NULL};
        pair[k].now = c;
    }
    qsort(pair, (size_t)*n, sizeof *pair, by_difference);
    return pair;
}

const char *sk_show_change(sk_arena *a, double was, double now)
{
    return was > 0 && now > 0 ? sk_format(a, "x %.2f", now / was) : was == now ? "same" : "-";
}

static sk_figure seconds(sk_arena *a, const char *name, double was, double now)
{
    return (sk_figure){name, sk_show_seconds(a, was), sk_show_seconds(a, now),
                       sk_show_change(a, was, now)};
}

static sk_figure bytes(sk_arena *a, const char *name, double was, double now)
{
    return (sk_figure){name, sk_show_bytes(a, was), sk_show_bytes(a, now),
                       sk_show_change(a, was, now)};
}

static sk_figure counts(sk_arena *a, const char *name, double was, double now)
{
    return (sk_figure){name, sk_show_count(a, was), sk_show_count(a, now),
                       sk_show_change(a, was, now)};
}

static const char *waited(sk_arena *a, const sk_run_data *d)
{
    double part = sk_run_waited_part(d);
    return part < 0 ? "not known" : sk_show_part(a, part);
}

const sk_figure *sk_figures(sk_arena *a, const sk_run_data *was, const sk_run_data *now, int *n)
{
    enum { MOST = 12 };
    sk_figure *f = sk_arena_need(a, MOST * sizeof *f), *at = f;
    *at++ = counts(a, "ranks", was->ranks, now->ranks);
    *at++ = seconds(a, "run", was->run_seconds, now->run_seconds);
    *at++ = seconds(a, "in collectives, mean over ranks", was->mean_seconds, now->mean_seconds);
    *at++ = seconds(a, "served by Skein", was->skein_seconds, now->skein_seconds);
    *at++ = seconds(a, "served by the host MPI", was->host_seconds, now->host_seconds);
    *at++ = seconds(a, "saved by Skein", was->saved, now->saved);
    *at++ = counts(a, "calls", was->calls, now->calls);
    *at++ = (sk_figure){"waiting for late ranks", waited(a, was), waited(a, now), ""};
    *at++ = counts(a, "messages between nodes", was->off_messages, now->off_messages);
    *at++ = bytes(a, "bytes between nodes", was->off_bytes, now->off_bytes);
    *at++ = bytes(a, "bytes of messages inside nodes", was->near_bytes, now->near_bytes);
    *at++ = bytes(a, "bytes read from shared memory", was->shared_bytes, now->shared_bytes);
    *n = (int)(at - f);
    return f;
}

const char *sk_compare_warning(sk_arena *a, const sk_run_data *was, const sk_run_data *now)
{
    if (was->ranks != now->ranks)
        return sk_format(a, "The runs have different numbers of ranks, %.0f and %.0f.", was->ranks,
                         now->ranks);
    if (was->calls > 0 && fabs(now->calls / was->calls - 1) > 0.1)
        return sk_format(
            a, "The runs made different numbers of calls, %s and %s: times differ also for that.",
            sk_show_count(a, was->calls), sk_show_count(a, now->calls));
    return NULL;
}
