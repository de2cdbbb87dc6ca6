#include "report/value.h"

#include <inttypes.h>
#include <math.h>

sk_value_row sk_value_of_cell(const sk_report_cell *cell)
{
    sk_value_row v = {.cell = *cell, .comparisons = cell->skein_won.times + cell->host_won.times};
    const sk_report_compared *c = cell->skein_won.times ? &cell->skein_won : &cell->host_won;
    if (!c->times || c->skein_ns <= 0)
        return v;
    v.skein_us = 1e-3 * (double)c->skein_ns / (double)c->times;
    v.host_us = 1e-3 * (double)c->host_ns / (double)c->times;
    v.ratio = v.host_us / v.skein_us;
    double compared = 1e-6 * (double)cell->calls * v.skein_us;
    v.saved = (compared < cell->seconds ? compared : cell->seconds) * (v.ratio - 1);
    return v;
}

static void add_row(sk_value_sum *sum, const sk_value_row *row)
{
    sum->comparisons += row->comparisons;
    sum->seconds += row->cell.seconds;
    sum->compared += row->comparisons ? row->cell.seconds : 0; /* seconds so far */
    sum->saved += row->saved;
    sum->without += row->cell.seconds + row->cell.host_seconds + row->saved;
}

sk_value_sum sk_value_of_cells(const sk_report_cell cells[SK_NREPORT_CELLS])
{
    sk_value_sum sum = {0};
    for (int i = 0; i < SK_NREPORT_CELLS; i++) {
        sk_value_row row = sk_value_of_cell(&cells[i]);
        add_row(&sum, &row);
    }
    sum.compared = sum.seconds > 0 ? sum.compared / sum.seconds : 0;
    sum.part = sum.without > 0 ? sum.saved / sum.without : 0;
    return sum;
}

/* ---- table ---- */

static void table_row(FILE *out, const sk_value_row *row)
{
    fprintf(out, "skein: %-20s %-10s %8" PRId64 " %10.2f %10.2f %10.2f %12.3f\n", row->cell.coll,
            row->cell.size, row->comparisons, row->skein_us, row->host_us, row->ratio,
            row->saved * 1e3);
}

static void table_sum(const sk_value_sum *sum, FILE *out)
{
    bool long_run = sum->without >= 1;
    const char *unit = long_run ? "s" : "ms";
    double per_second = long_run ? 1 : 1e3;
    fprintf(
        out,
        "skein: Skein %s about %.1f %s of %.1f %s in collectives (%.0f %%); compared: %.0f %% of "
        "the time under Skein, %" PRId64 " %s\n",
        sum->saved < 0 ? "lost" : "saved", fabs(sum->saved) * per_second, unit,
        sum->without * per_second, unit, fabs(sum->part) * 100, sum->compared * 100,
        sum->comparisons, sum->comparisons == 1 ? "time" : "times");
}

void sk_value_table(const sk_report_cell cells[SK_NREPORT_CELLS], FILE *out)
{
    sk_value_sum sum = sk_value_of_cells(cells);
    if (!sum.comparisons) {
        fputs("skein: time saved: not known, no comparison with the host MPI is counted here\n",
              out);
        return;
    }
    fprintf(out, "skein: %-20s %-10s %8s %10s %10s %10s %12s\n", "collective", "size", "compared",
            "skein us", "host us", "host/skein", "saved ms");
    for (int i = 0; i < SK_NREPORT_CELLS; i++) {
        sk_value_row row = sk_value_of_cell(&cells[i]);
        if (row.comparisons)
            table_row(out, &row);
    }
    table_sum(&sum, out);
}

/* ---- JSON ---- */

static void json_row(FILE *out, const sk_value_row *row)
{
    fprintf(out,
            "\n      {\"collective\": \"%s\", \"size\": \"%s\", \"comparisons\": %" PRId64
            ", \"host_won\": %" PRId64 ", \"calls\": %" PRId64
            ", \"seconds\": %.9f, \"skein_us\": %.3f, \"host_us\": %.3f, \"ratio\": %.4f, "
            "\"saved_seconds\": %.9f}",
            row->cell.coll, row->cell.size, row->comparisons, row->cell.host_won.times,
            row->cell.calls, row->cell.seconds, row->skein_us, row->host_us, row->ratio,
            row->saved);
}

void sk_value_json(const sk_report_cell cells[SK_NREPORT_CELLS], FILE *out)
{
    bool more = false;
    sk_value_sum sum = sk_value_of_cells(cells);
    fprintf(out,
            "  \"value\": {\n    \"comparisons\": %" PRId64 ",\n    \"skein_seconds\": %.9f,\n    "
            "\"compared_part\": %.4f,\n    \"saved_seconds\": %.9f,\n    "
            "\"seconds_without_skein\": %.9f,\n    \"saved_part\": %.4f,\n    \"rows\": [",
            sum.comparisons, sum.seconds, sum.compared, sum.saved, sum.without, sum.part);
    for (int i = 0; i < SK_NREPORT_CELLS; i++) {
        sk_value_row row = sk_value_of_cell(&cells[i]);
        if (!row.comparisons)
            continue;
        fputs(more ? "," : "", out);
        json_row(out, &row);
        more = true;
    }
    fputs(more ? "\n    ]\n  }" : "]\n  }", out);
}
