#include "mpi/dispatch/learn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/dispatch/gathered.h"
#include "mpi/state/tuned.h"
#include "select/tuning_file.h"

static const char anywhere[] = "*"; /* the machine is known at the end */

/* ---- during the program ---- */

static void keep(const sk_tuned *e)
{
    pthread_mutex_lock(&sk_proc.lock);
    sk_tuning_add(sk_proc.learnt, anywhere, e);
    pthread_mutex_unlock(&sk_proc.lock);
}

/* Where not all ranks know the size one rank says it, as a power of two: they may be many. */
static void set_size(sk_tuned *e, const sk_call *call)
{
    int64_t size = sk_call_size(call);
    if (e->bytes != SK_TUNED_ANY_SIZE)
        return;
    for (e->bytes = size > 0; e->bytes < size;)
        e->bytes *= 2;
}

sk_learn_call sk_learn_about(sk_comm *c, const sk_args *a)
{
    sk_mpi_call read;
    sk_choice choice;
    sk_learn_call l = {0};
    if (!sk_proc.learnt || c->rank != 0 || !sk_args_read(a, c, &read) ||
        !sk_select_tuned_call(&read.call, &l.as))
        return l;
    set_size(&l.as, &read.call);
    sk_select_choose(sk_proc.select, &read.call, &choice);
    l.algo[SK_GUARD_SKEIN] = choice.algo;
    l.algo[SK_GUARD_OTHER] = sk_select_other(sk_proc.select, &read.call);
    l.known = true;
    return l;
}

void sk_learn_comparison(const sk_guard *g, const sk_learn_call *call)
{
    sk_tuned e = call->as;
    for (int i = 0; call->known && i < SK_GUARD_SIDES; i++) {
        int64_t ns = sk_guard_last_time(g, (sk_guard_side)i, &e.calls);
        e.us = 1e-3 * (double)ns;
        e.algo = call->algo[i];
        if (ns > 0 && e.calls > 0 && (e.algo || i == SK_GUARD_HOST))
            keep(&e);
    }
}

/* How many ranks a call with a count for each one sends to. */
static void count_blocks(const sk_call *call)
{
    const sk_side *side = call->in_place ? &call->recv : &call->send;
    int64_t filled = 0;
    if ((call->coll != SK_ALLTOALLV && call->coll != SK_ALLTOALLW) || !side->counts)
        return;
    for (int i = 0; i < call->nranks; i++)
        filled += side->counts[i] > 0;
    sk_report_blocks(sk_proc.report, call->nranks, filled);
}

void sk_learn_shape(const sk_call *call, const sk_plan *plan)
{
    enum { MOST = 4096, TIDY = 1024 };
    sk_tuned e;
    count_blocks(call);
    if (call->nranks < 2 || !sk_select_tuned_call(call, &e) ||
        (e.bytes == SK_TUNED_ANY_SIZE && call->rank != 0))
        return;
    set_size(&e, call);
    e.algo = plan->algo;
    e.us = 1;
    e.calls = 1;
    pthread_mutex_lock(&sk_proc.lock);
    int n = 0;
    if (++sk_proc.nshapes % TIDY == 0 && sk_tuning_machine(sk_proc.shapes, 0))
        sk_tuning_times(sk_proc.shapes, 0, &n);
    sk_proc.shapes_full = sk_proc.shapes_full || n > MOST;
    if (!sk_proc.shapes_full)
        sk_tuning_add(sk_proc.shapes, anywhere, &e);
    pthread_mutex_unlock(&sk_proc.lock);
}

/* ---- at the end ---- */

/* Adds what the ranks found, text after text, each ended by 0. */
static void take_texts(sk_tuning *into, const char *text, const char *end)
{
    char err[SK_TUNING_ERR];
    for (; text < end; text += strlen(text) + 1)
        if (*text)
            sk_tuning_read(into, text, strlen(text), err, sizeof err);
}

/* The text of all ranks' tunings together, at rank 0, to be freed; NULL at the others, or if there is nothing.
 * Collective over MPI_COMM_WORLD. */
static char *gather(sk_tuning *t)
{
    char *mine = t && sk_tuning_machine(t, 0) ? sk_tuning_text(t, NULL) : NULL, *text = NULL;
    sk_tuning *sum = sk_tuning_new();
    if (!sum)
        sk_host.Abort(MPI_COMM_WORLD, MPI_ERR_NO_MEM); /* the others wait */
    sk_gathered all = sk_gather_bytes(mine, mine ? strlen(mine) + 1 : 0);
    int last = sk_proc.world_size - 1;
    if (all.bytes && all.at[last] + all.counts[last]) {
        take_texts(sum, all.bytes, all.bytes + all.at[last] + all.counts[last]);
        text = sk_tuning_text(sum, NULL);
    }
    sk_tuning_free(sum);
    sk_gathered_free(&all);
    free(mine);
    return text;
}

/* At rank 0: merges with the file. */
static void write_file(const char *text, const char *path)
{
    char err[SK_TUNING_PATH + SK_TUNING_ERR], name[SK_TUNING_NAME];
    sk_tuning *found = sk_tuning_new(), *file = sk_tuning_new();
    snprintf(err, sizeof err, "%s", sk_status_text(SK_NOMEM));
    bool ok = found && file && sk_tuning_read(found, text, strlen(text), err, sizeof err) == SK_OK;
    FILE *old = ok ? fopen(path, "re") : NULL;
    if (old) {
        fclose(old);
        ok = sk_tuning_load(path, file, err, sizeof err) == SK_OK;
    }
    if (ok) {
        int n;
        const sk_tuned *v = sk_tuning_times(found, 0, &n);
        sk_tuned_machine(name);
        for (int i = 0; i < n; i++)
            ok = sk_tuning_add(file, name, &v[i]) == SK_OK && ok;
        ok = ok && sk_tuning_save(path, file, err, sizeof err) == SK_OK;
    }
    if (!ok)
        fprintf(stderr, "skein: SKEIN_LEARN: %s\n", err);
    sk_tuning_free(file);
    sk_tuning_free(found);
}

char *sk_learn_shapes(void)
{
    char err[SK_TUNING_ERR], *json = NULL, *text = gather(sk_proc.shapes);
    size_t size = 0;
    int n = 0;
    sk_tuning *t = text ? sk_tuning_new() : NULL;
    if (t && sk_tuning_read(t, text, strlen(text), err, sizeof err) == SK_OK) {
        const sk_tuned *v = sk_tuning_times(t, 0, &n);
        FILE *out = open_memstream(&json, &size);
        for (int i = 0; out && i < n; i++)
            fprintf(out,
                    "%s\n    {\"collective\": \"%s\", \"ranks\": %d, \"nodes\": %d, "
                    "\"neighbours\": %d, \"bytes\": %" PRId64 "}",
                    i ? "," : "", sk_form_name(v[i].coll, v[i].form), v[i].ranks, v[i].nodes,
                    v[i].neighbours, v[i].bytes);
        if (out && fclose(out) != 0) {
            free(json);
            json = NULL;
        }
    }
    sk_tuning_free(t);
    free(text);
    return json;
}

void sk_learn_finish(void)
{
    if (!sk_proc.learnt)
        return;
    const char *path = sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_LEARN);
    char *text = sk_proc.world ? gather(sk_proc.learnt) : NULL; /* else settings may differ */
    if (text)
        write_file(text, path);
    else if (sk_proc.world_rank == 0)
        fprintf(stderr, "skein: SKEIN_LEARN: nothing was learnt, as no calls were compared; more "
                        "calls, or a smaller SKEIN_GUARD_AFTER, may help\n");
    free(text);
    sk_tuning_free(sk_proc.learnt);
    sk_proc.learnt = NULL;
}
