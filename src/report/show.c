/* show.c: the counts as a table or as JSON. */
#include <inttypes.h>
#include <string.h>

#include "report/json.h"
#include "report/report_inner.h"
#include "report/value.h"
#include "report/waits.h"
#include "skein.h"

static const char *const reason_text[SK_NHOST_REASONS] = {
    [SK_HOST_OFF] = "switched off",
    [SK_HOST_INTER] = "intercommunicator",
    [SK_HOST_ARGS] = "arguments left to the host",
    [SK_HOST_NOFIT] = "no algorithm fits",
    [SK_HOST_SAME] = "a message for each block is best, and the host does it",
    [SK_HOST_DEVICE] = "GPU memory, or nonblocking where it is possible",
    [SK_HOST_EARLY] = "first calls on a communicator",
    [SK_HOST_FOREIGN] = "ranks outside MPI_COMM_WORLD",
    [SK_HOST_BITS] = "the host did the first ones: same bits",
    [SK_HOST_FORTRAN] = "its Fortran library uses the request",
    [SK_HOST_MEMORY] = "no shared memory is left",
    [SK_HOST_FASTER] = "faster here, or tried",
    [SK_HOST_TUNED] = "faster by the tuning file, or tried",
};

/* A row for each pair of cells that was used, in the order of collectives. */
typedef struct report_row {
    const char *coll, *size;
    const char *algo;   /* NULL: the host served the calls */
    const char *reason; /* then */
    int64_t calls;
    double seconds;
} report_row;

typedef void visit_fn(void *state, const report_row *row);

static void visit_cells(const sk_report *r, int at, report_row row, visit_fn *fn, void *state)
{
    row.calls = sk_report_get(r, at);
    row.seconds = 1e-9 * (double)sk_report_get(r, at + 1);
    if (row.calls > 0)
        fn(state, &row);
}

static void visit(const sk_report *r, visit_fn *fn, void *state)
{
    for (int coll = 0; coll < SK_NCOLLS; coll++) {
        report_row row = {.coll = sk_coll_name((sk_coll)coll)};
        for (int cls = 0; cls < SK_NSIZES; cls++)
            for (int a = 0; a < r->nalgos; a++) {
                row.size = sk_report_size_name(cls);
                row.algo = sk_algos()[a]->name;
                if ((int)sk_algos()[a]->coll == coll)
                    visit_cells(r, sk_served_at(a, cls), row, fn, state);
            }
        row.algo = NULL;
        for (int why = 0; why < SK_NHOST_REASONS; why++)
            for (int cls = 0; cls < SK_NSIZES; cls++) {
                row.size = sk_report_size_name(cls);
                row.reason = reason_text[why];
                visit_cells(r, sk_host_at(r, coll, why, cls), row, fn, state);
            }
    }
}

static void table_row(void *out, const report_row *row)
{
    fprintf(out, "skein: %-20s %-10s %-18s %12" PRId64 " %12.3f%s%s\n", row->coll, row->size,
            row->algo ? row->algo : "-", row->calls, row->seconds * 1e3,
            row->algo ? "" : "   host MPI: ", row->algo ? "" : row->reason);
}

/* A cache in which nothing would have been evicted: the next power of two is easy to remember. */
static int64_t cache_for(int64_t built)
{
    int64_t n = 128;
    while (n < built)
        n *= 2;
    return n;
}

static void table_plans(const sk_report *r, FILE *out)
{
    int64_t built = sk_report_get(r, sk_plans_at(r)),
            evicted = sk_report_get(r, sk_plans_at(r) + 1);
    fprintf(out, "skein: plans built %" PRId64 ", evicted %" PRId64, built, evicted);
    if (evicted)
        fprintf(out, "; SKEIN_CACHE=%" PRId64 " would keep all of them", cache_for(built));
    fputc('\n', out);
}

static void table_head(const sk_report_scope *of, FILE *out)
{
    if (!of->end)
        fprintf(out, "skein: report, %d ranks (calls and time: largest over ranks)\n", of->nranks);
    else if (!of->counted)
        fprintf(out, "skein: report without counts: %s\n", of->end);
    else
        fprintf(out, "skein: report of %d of %d ranks: %s\n", of->counted, of->nranks, of->end);
}

void sk_report_table(const sk_report *r, const sk_report_scope *of, FILE *out)
{
    table_head(of, out);
    if (of->end && !of->counted)
        return;
    fprintf(out, "skein: %-20s %-10s %-18s %12s %12s\n", "collective", "size", "algorithm", "calls",
            "time ms");
    visit(r, table_row, out);
    table_plans(r, out);
    if (sk_report_get(r, sk_off_node_at(r)))
        fprintf(out,
                "skein: sent to other nodes by the busiest rank: %" PRId64 " messages, %" PRId64
                " bytes\n",
                sk_report_get(r, sk_off_node_at(r)), sk_report_get(r, sk_off_node_at(r) + 1));
    int at = sk_setup_at(r);
    if (sk_report_get(r, at + SETUPS))
        fprintf(out,
                "skein: neighbourhood set-ups %" PRId64 " in %.3f ms, %" PRId64
                " messages; a call saves up to %" PRId64 " messages per rank, pays after %" PRId64
                " calls\n",
                sk_report_get(r, at + SETUPS), 1e-6 * (double)sk_report_get(r, at + SETUP_NS),
                sk_report_get(r, at + SETUP_MESSAGES), sk_report_get(r, at + SETUP_SAVED),
                sk_report_get(r, at + SETUP_BREAKEVEN));
    sk_report_cell cells[SK_NREPORT_CELLS];
    sk_report_cells(r, cells);
    sk_value_table(cells, out);
}

typedef struct json_state {
    FILE *out;
    bool more;
} json_state;

static void json_row(void *state, const report_row *row)
{
    json_state *j = state;
    fprintf(j->out, "%s\n    {", j->more ? "," : "");
    sk_json_text(j->out, "collective", row->coll);
    fputs(", ", j->out);
    sk_json_text(j->out, "size", row->size);
    fputs(", ", j->out);
    sk_json_text(j->out, "algorithm", row->algo);
    fputs(", ", j->out);
    sk_json_text(j->out, "host", row->algo ? NULL : row->reason);
    fprintf(j->out, ", \"calls\": %" PRId64 ", \"seconds\": %.9f}", row->calls, row->seconds);
    j->more = true;
}

static void json_timeline(const sk_report *r, const sk_report_scope *of, FILE *out)
{
    double bin = sk_timeline_seconds(sk_report_get(r, sk_run_at(r) + RUN_WIDTH)),
           run = 1e-9 * (double)sk_report_get(r, sk_run_at(r) + RUN_NS);
    int used = (int)(run / bin) + 1;
    used = used < SK_TIMELINE_BINS ? used : SK_TIMELINE_BINS;
    bool more = false;
    fprintf(out, "  \"timeline\": {\n    \"bin_seconds\": %.9f,\n    \"rows\": [", bin);
    for (int coll = 0; coll < SK_NCOLLS; coll++) {
        int64_t sum = 0;
        for (int i = 0; i < used; i++)
            sum += sk_report_get(r, sk_timeline_at(r) + i * SK_NCOLLS + coll);
        if (!sum)
            continue;
        fprintf(out, "%s\n      {\"collective\": \"%s\", \"seconds\": [", more ? "," : "",
                sk_coll_name((sk_coll)coll));
        for (int i = 0; i < used; i++)
            fprintf(out, "%s%.4g", i ? ", " : "",
                    1e-9 * (double)sk_report_get(r, sk_timeline_at(r) + i * SK_NCOLLS + coll) /
                        (of->counted > 0 ? of->counted : 1));
        fputs("]}", out);
        more = true;
    }
    fputs("]\n  },\n", out);
}

static void json_queue(const sk_report *r, const char *name, int first, FILE *out)
{
    int at = sk_match_at(r) + first;
    fprintf(out,
            "\"%s\": {\"longest\": %" PRId64 ", \"mean\": %.3f, \"searches\": %" PRId64
            ", \"compared\": %" PRId64 "}",
            name, sk_report_get(r, at), 1e-3 * (double)sk_report_get(r, at + 1),
            sk_report_get(r, at + 2), sk_report_get(r, at + 3));
}

static void json_matching(const sk_report *r, const sk_report_scope *of, FILE *out)
{
    fputs("  \"matching\": ", out);
    if (sk_report_get(r, sk_match_at(r) + MATCH_RAN)) {
        fputc('{', out);
        sk_json_text(out, "engine", of->engine);
        fputs(", ", out);
        json_queue(r, "posted", 0, out);
        fputs(", ", out);
        json_queue(r, "unexpected", SK_NMATCH_COUNTS / 2, out);
        fputs("},\n", out);
    } else {
        fputs("null,\n", out);
    }
}

static void json_traffic(const sk_report *r, FILE *out)
{
    int at = sk_traffic_at(r);
    fprintf(out,
            "  \"traffic\": {\n    \"between_nodes\": {\"messages\": %" PRId64
            ", \"bytes\": %" PRId64 ", \"busiest_messages\": %" PRId64
            ", \"busiest_bytes\": %" PRId64 "},\n    \"inside_nodes\": {\"messages\": %" PRId64
            ", \"bytes\": %" PRId64 "},\n    \"shared_memory_bytes\": %" PRId64
            ",\n    \"alltoallv_blocks\": %" PRId64 ", \"alltoallv_filled\": %" PRId64 "\n  },\n",
            sk_report_get(r, at), sk_report_get(r, at + 1), sk_report_get(r, sk_off_node_at(r)),
            sk_report_get(r, sk_off_node_at(r) + 1), sk_report_get(r, at + 2),
            sk_report_get(r, at + 3), sk_report_get(r, at + 4), sk_report_get(r, at + BLOCKS),
            sk_report_get(r, at + FILLED));
}

static void json_head(const sk_report *r, const sk_report_scope *of, FILE *out)
{
    fprintf(out,
            "{\n  \"format\": \"skein-report\",\n  \"version\": %d,\n  \"skein\": \"%s\",\n  "
            "\"ranks\": %d,\n  \"counted\": %d,\n  ",
            SK_REPORT_VERSION, SKEIN_VERSION, of->nranks, of->counted);
    sk_json_text(out, "end", of->end ? of->end : "MPI_Finalize");
    fprintf(out, ",\n  \"nodes\": %d,\n  \"cores\": %d,\n  \"run_seconds\": %.9f,\n  ", of->nnodes,
            of->cores, 1e-9 * (double)sk_report_get(r, sk_run_at(r) + RUN_NS));
    sk_json_text(out, "mpi", of->mpi);
    fputs(",\n  ", out);
    sk_json_text(out, "program", of->program);
    fputs(",\n  ", out);
    sk_json_text(out, "copy", of->copy);
    fputs(",\n  ", out);
    sk_json_text(out, "network", of->network);
}

static void json_setups(const sk_report *r, FILE *out)
{
    int at = sk_setup_at(r);
    fprintf(out,
            ",\n  \"setups\": %" PRId64
            ",\n  \"setup_seconds\": %.9f,\n  \"setup_messages\": %" PRId64
            ",\n  \"messages_saved_per_call\": %" PRId64 ",\n  \"breakeven_calls\": %" PRId64 ",\n",
            sk_report_get(r, at + SETUPS), 1e-9 * (double)sk_report_get(r, at + SETUP_NS),
            sk_report_get(r, at + SETUP_MESSAGES), sk_report_get(r, at + SETUP_SAVED),
            sk_report_get(r, at + SETUP_BREAKEVEN));
}

void sk_report_json(const sk_report *r, const sk_report_scope *of, FILE *out)
{
    json_state j = {.out = out};
    json_head(r, of, out);
    fputs(",\n  \"rows\": [", out);
    visit(r, json_row, &j);
    fprintf(out, "\n  ],\n  \"shapes\": [%s", of->shapes ? of->shapes : "");
    fprintf(out, "\n  ],\n  \"plans_built\": %" PRId64 ",\n  \"plans_evicted\": %" PRId64,
            sk_report_get(r, sk_plans_at(r)), sk_report_get(r, sk_plans_at(r) + 1));
    fprintf(out, ",\n  \"off_node_messages\": %" PRId64 ",\n  \"off_node_bytes\": %" PRId64,
            sk_report_get(r, sk_off_node_at(r)), sk_report_get(r, sk_off_node_at(r) + 1));
    json_setups(r, out);
    json_timeline(r, of, out);
    json_traffic(r, out);
    json_matching(r, of, out);
    if (of->waits)
        sk_waits_json(of->waits, out);
    sk_report_cell cells[SK_NREPORT_CELLS];
    sk_report_cells(r, cells);
    sk_value_json(cells, out);
    fputs("\n}\n", out);
}

sk_status sk_report_save(const sk_report *r, const sk_report_scope *of, const char *where)
{
    bool table = strcmp(where, "1") == 0;
    FILE *out = table ? NULL : fopen(where, "we");
    if (!out) {
        sk_report_table(r, of, stderr);
        return table ? SK_OK : SK_BADARG;
    }
    sk_report_json(r, of, out);
    return fclose(out) == 0 ? SK_OK : SK_BADARG;
}
