#include "mpi/dispatch/ending.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mpi_library.h"
#include "mpi/dispatch/learn.h"
#include "mpi/dispatch/observe.h"
#include "mpi/state/world.h"
#include "report/channel.h"

static sk_news news_of(sk_news_kind kind)
{
    return (sk_news){.kind = kind, .rank = sk_proc.world_rank, .nranks = sk_proc.world_size};
}

static void tell(sk_news_kind kind)
{
    sk_news n = news_of(kind);
    sk_channel_send(&n, -1);
}

static void save(const sk_report *r, int counted, const char *end, const char *shapes,
                 const sk_waits_sum *waits)
{
    const char *where = sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_REPORT);
    const struct sk_world *w = sk_proc.world;
    char copy[160], network[160];
    const sk_report_scope of = {
        .nranks = sk_proc.world_size,
        .counted = counted,
        .end = end,
        .shapes = shapes,
        .nnodes = w ? w->nnodes : 0,
        .cores = w ? w->cores : 0,
        .mpi = sk_flavour_title(SK_HOST_FLAVOUR),
        .program = program_invocation_short_name,
        .engine = sk_proc.match_engine,
        .waits = waits,
        .copy = w && sk_copy_prices_known(&w->prices)
                    ? sk_copy_prices_text(&w->prices, copy, sizeof copy)
                    : NULL,
        .network = w && w->nnodes > 1
                       ? sk_model_text(sk_select_model(sk_proc.select), network, sizeof network)
                       : NULL};
    if (sk_report_save(r, &of, where) != SK_OK)
        fprintf(stderr, "skein: cannot write the report to %s; it is printed instead\n", where);
}

/* ---- start ---- */

static void find_world(void)
{
    sk_host.Comm_rank(MPI_COMM_WORLD, &sk_proc.world_rank);
    sk_host.Comm_size(MPI_COMM_WORLD, &sk_proc.world_size);
}

bool sk_ending_start(const char *where)
{
    int fd = -1;
    find_world();
    sk_proc.report = sk_report_new(*where ? &fd : NULL);
    if (!sk_proc.report)
        return false;
    sk_proc.host_counters = sk_report_host_counter(sk_proc.report, SK_BARRIER, SK_HOST_OFF, 0);
    sk_news n = news_of(SK_NEWS_START);
    n.layout = sk_report_layout(sk_proc.report);
    sk_proc.watched = sk_channel_send(&n, fd) && fd >= 0;
    if (fd >= 0)
        close(fd);
    return true;
}

void sk_ending_off(const char *where)
{
    find_world();
    tell(SK_NEWS_OFF);
    sk_report *none = *where && sk_proc.world_rank == 0 ? sk_report_new(NULL) : NULL;
    if (none)
        save(none, 0, "SKEIN=off, so every call went to the host MPI", NULL, NULL);
    sk_report_free(none);
}

/* ---- end ---- */

/* Cells of all ranks, at rank 0. */
static void reduce_cells(int64_t *cells, int n, MPI_Op op)
{
    sk_host.Reduce(sk_proc.world_rank == 0 ? MPI_IN_PLACE : cells, cells, n, MPI_INT64_T, op, 0,
                   MPI_COMM_WORLD);
}

/* sk_report_merge over all ranks, at rank 0. */
static bool merge(void)
{
    int n = sk_report_ncells(sk_proc.report), nlargest = sk_report_nlargest(sk_proc.report);
    int64_t *cells = malloc((size_t)n * sizeof *cells);
    if (!cells) {
        fputs("skein: out of memory for the report\n", stderr);
        sk_host.Abort(MPI_COMM_WORLD, 2); /* the others wait in the reduction */
        return false;
    }
    sk_report_read(sk_proc.report, cells);
    int64_t width = sk_report_width(sk_proc.report, cells);
    sk_host.Allreduce(MPI_IN_PLACE, &width, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    sk_report_widen(sk_proc.report, cells, width);
    reduce_cells(cells, nlargest, MPI_MAX);
    reduce_cells(cells + nlargest, n - nlargest, MPI_SUM);
    if (sk_proc.world_rank == 0)
        sk_report_write(sk_proc.report, cells);
    free(cells);
    return true;
}

void sk_ending_finalize(void)
{
    long long served = 0, host = 0;
    sk_report_total(sk_proc.report, "served", &served);
    sk_report_total(sk_proc.report, "host", &host);
    /* Both are agreed; whether this rank has any shapes is not. */
    char *shapes = sk_proc.reporting && sk_proc.world ? sk_learn_shapes() : NULL;
    sk_observe_counts();
    sk_waits_sum *waits = sk_observe_gather();
    if (sk_proc.reporting && merge() && sk_proc.world_rank == 0)
        save(sk_proc.report, sk_proc.world_size, NULL, shapes, waits);
    /* MPICH 4.0 over TCP may hang if a rank comes late to its MPI_Finalize */
    if (sk_proc.reporting)
        sk_host.Barrier(MPI_COMM_WORLD);
    sk_waits_sum_free(waits);
    sk_observe_end();
    free(shapes);
    sk_news n = news_of(SK_NEWS_END);
    n.collectives = served + host > 0;
    sk_channel_send(&n, -1);
}

static bool must_save(void)
{
    return atomic_load(&sk_proc.state) == SK_PROC_READY && sk_proc.reporting && !sk_proc.watched &&
           *sk_settings_text(sk_select_settings(sk_proc.select), SK_SET_REPORT);
}

void sk_ending_abort(void)
{
    char end[64];
    tell(SK_NEWS_ABORT);
    snprintf(end, sizeof end, "MPI_Abort by rank %d, the counts are its own", sk_proc.world_rank);
    if (must_save())
        save(sk_proc.report, 1, end, NULL, NULL);
    sk_proc.reporting = false; /* exit may follow */
}

#if SK_HAVE_NEXT

__attribute__((destructor)) static void ended(void)
{
    if (must_save() && sk_proc.world_rank == 0)
        save(sk_proc.report, 1, "exit without MPI_Finalize, the counts are those of rank 0", NULL,
             NULL);
}

#endif
