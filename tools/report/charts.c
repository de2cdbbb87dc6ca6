#include "report/charts.h"

#include <math.h>

#include "report/amounts.h"
#include "strlist.h"

enum { COLOURS = 6 }; /* of collectives; the others share one */

/* ---- timeline ---- */

/* How long bin i was: the last one ends with the run. */
static double bin_length(const sk_run_data *d, int i)
{
    double left = d->run_seconds - i * d->bin_seconds;
    return left > 0 && left < d->bin_seconds ? left : d->bin_seconds;
}

/* The share of bin i in the lines from `first` on, at most up to `last`. */
static double share(const sk_run_data *d, int first, int last, int i)
{
    double sum = 0;
    for (int k = first; k < last && k < d->nlines; k++)
        sum += i < d->lines[k].n ? d->lines[k].seconds[i] : 0;
    double part = sum / (d->bin_seconds > 0 ? bin_length(d, i) : 1);
    return part < 1 ? part : 1;
}

static double highest(const sk_run_data *d, int *at)
{
    double most = 0;
    for (int i = 0; i < d->nbins; i++) {
        double s = share(d, 0, d->nlines, i);
        if (s > most) {
            most = s;
            *at = i;
        }
    }
    return most;
}

/* The top of the axis: the next of 1, 2, 5, 10, 20, 50, 100 per cent. */
static double axis_of(double most)
{
    static const double steps[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5};
    for (int i = 0; i < (int)(sizeof steps / sizeof *steps); i++)
        if (most <= steps[i])
            return steps[i];
    return 1;
}

/* The area of colour k on top of those before it. */
static void area(const sk_html *h, const sk_run_data *d, int k, double top)
{
    int last = k < COLOURS ? k + 1 : d->nlines;
    const char *name = k < COLOURS ? d->lines[k].coll : "others";
    sk_html_put(h, "<path class=\"$\" d=\"M0 100", sk_format(h->arena, "c%d", k));
    for (int i = 0; i < d->nbins; i++)
        sk_html_put(h, "V$H$", sk_css(h, 100 - 100 * share(d, 0, last, i) / top), sk_css(h, i + 1));
    for (int i = d->nbins - 1; i >= 0; i--)
        sk_html_put(h, "V$H$", sk_css(h, 100 - 100 * share(d, 0, k, i) / top), sk_css(h, i));
    sk_html_put(h, "Z\"><title>$</title></path>", name);
}

static void timeline_key(const sk_html *h, const sk_run_data *d, int colours)
{
    sk_html_put(h, "<ul class=\"key\">");
    for (int k = 0; k < colours; k++) {
        double sum = 0;
        for (int i = k; i < (k < COLOURS ? k + 1 : d->nlines); i++)
            sum += d->lines[i].sum;
        sk_html_put(h, "<li><i class=\"$\"></i>$ $</li>", sk_format(h->arena, "c%d", k),
                    k < COLOURS ? d->lines[k].coll : "others", sk_show_seconds(h->arena, sum));
    }
    sk_html_put(h, "</ul>");
}

void sk_chart_timeline(const sk_html *h, const sk_run_data *d)
{
    int at = 0, colours = d->nlines < COLOURS ? d->nlines : COLOURS + (d->nlines > COLOURS);
    double most = highest(d, &at), top = axis_of(most);
    sk_html_put(h, "<figure>");
    timeline_key(h, d, colours);
    sk_html_put(
        h,
        "<div class=\"plot\"><div class=\"y\"><span>$</span><span>$</span><span>0 %</span></div>"
        "<svg viewBox=\"0 0 $ 100\" preserveAspectRatio=\"none\" role=\"img\" "
        "aria-label=\"Share of time in "
        "collectives over the run: $ in the mean, most ($) at $\">",
        sk_show_part(h->arena, top), sk_show_part(h->arena, top / 2),
        sk_format(h->arena, "%d", d->nbins),
        sk_show_part(h->arena, d->run_seconds > 0 ? d->mean_seconds / d->run_seconds : 0),
        sk_show_part(h->arena, most), sk_show_seconds(h->arena, at * d->bin_seconds));
    for (int k = colours - 1; k >= 0; k--)
        area(h, d, k, top);
    sk_html_put(h,
                "</svg><div class=\"x\"><span>0 s</span><span>$</span><span>$</span></div></div>",
                sk_show_seconds(h->arena, d->nbins * d->bin_seconds / 2),
                sk_show_seconds(h->arena, d->nbins * d->bin_seconds));
    sk_html_put(h,
                "<figcaption>Share of the time that a rank spends in blocking collectives and in "
                "waiting for "
                "nonblocking ones, mean over ranks, from MPI_Init to "
                "MPI_Finalize.</figcaption></figure>\n");
}

/* ---- waiting ---- */

static double largest(const double *v, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = v[i] > most ? v[i] : most;
    return most;
}

static void rank_axis(const sk_html *h, const sk_run_data *d)
{
    sk_html_put(h, "<div class=\"x of28\"><span>0</span><span>rank</span><span>$</span></div>",
                sk_format(h->arena, "%.0f", d->ranks - 1));
}

static void cell(const sk_html *h, const sk_run_data *d, int row, int col, double most)
{
    double waited = d->matrix[row * d->nbuckets + col];
    if (waited <= 1e-4 * most)
        return;
    sk_html_put(
        h,
        "<rect x=\"$\" y=\"$\" width=\"1\" height=\"1\" fill-opacity=\"$\"><title>$ waited $ for "
        "$</title></rect>",
        sk_css(h, col), sk_css(h, row), sk_css(h, sqrt(waited / most)),
        sk_show_ranks(h->arena, row, d->ranks_each, d->ranks), sk_show_seconds(h->arena, waited),
        sk_show_ranks(h->arena, col, d->ranks_each, d->ranks));
}

void sk_chart_matrix(const sk_html *h, const sk_run_data *d)
{
    int n = d->nbuckets;
    double most = largest(d->matrix, n * n);
    sk_html_put(
        h,
        "<figure><div class=\"plot\"><div "
        "class=\"y\"><span>0</span><span>waits</span><span>$</span></div>"
        "<svg class=\"heat\" viewBox=\"0 0 $ $\" role=\"img\" aria-label=\"Heat map of $ by $: "
        "rows wait for "
        "columns, at most $; the table of late ranks has the numbers\">",
        sk_format(h->arena, "%.0f", d->ranks - 1), sk_css(h, n), sk_css(h, n), sk_css(h, n),
        sk_css(h, n), sk_show_seconds(h->arena, most));
    for (int row = 0; row < n; row++)
        for (int col = 0; col < n; col++)
            cell(h, d, row, col, most);
    sk_html_put(h, "</svg>");
    rank_axis(h, d);
    sk_html_put(
        h,
        "</div><figcaption>Row: who waits; column: for whom. A dark column is a rank that comes "
        "late. Darkest: "
        "$, by the calls that were looked at.</figcaption></figure>\n",
        sk_show_seconds(h->arena, most));
}

static void column(const sk_html *h, const char *class, int i, double from, double to)
{
    sk_html_put(h, "<rect class=\"$\" x=\"$\" y=\"$\" width=\".86\" height=\"$\"/>", class,
                sk_css(h, i + 0.07), sk_css(h, 100 - to), sk_css(h, to - from));
}

void sk_chart_ranks(const sk_html *h, const sk_run_data *d)
{
    int n = d->nbuckets;
    double most = largest(d->rank_seconds, n), scale = most > 0 ? 100 / most : 0;
    sk_html_put(
        h,
        "<figure><ul class=\"key\"><li><i class=\"wait\"></i>waits for others</li><li><i "
        "class=\"skein\"></i>the "
        "rest</li></ul><div class=\"plot\"><div class=\"y\"><span>$</span><span>0 s</span></div>"
        "<svg class=\"low\" viewBox=\"0 0 $ 100\" preserveAspectRatio=\"none\" role=\"img\" "
        "aria-label=\"Time in "
        "collectives of each rank, at most $\">",
        sk_show_seconds(h->arena, most), sk_css(h, n), sk_show_seconds(h->arena, most));
    for (int i = 0; i < n; i++) {
        double all = scale * d->rank_seconds[i], waited = scale * d->rank_waited[i];
        waited = waited < all ? waited : all;
        sk_html_put(h, "<g><title>$: $ in collectives, of which $ waiting</title>",
                    sk_show_ranks(h->arena, i, d->ranks_each, d->ranks),
                    sk_show_seconds(h->arena, d->rank_seconds[i]),
                    sk_show_seconds(h->arena, d->rank_waited[i]));
        column(h, "fw", i, 0, waited);
        column(h, "fs", i, waited, all);
        sk_html_put(h, "</g>");
    }
    sk_html_put(h, "</svg>");
    rank_axis(h, d);
    sk_html_put(
        h, "</div><figcaption>Time of each rank in collectives. A rank that waits less than the "
           "others is the one "
           "they wait for.</figcaption></figure>\n");
}

/* ---- bars ---- */

void sk_chart_bar(const sk_html *h, const sk_bar_part *parts, int n, double most)
{
    sk_html_put(h, "<div class=\"bar\" aria-hidden=\"true\">");
    for (int i = 0; i < n; i++)
        if (parts[i].length > 0 && most > 0)
            sk_html_put(h, "<i class=\"$\" style=\"width:$%\"></i>", parts[i].class,
                        sk_css(h, 100 * parts[i].length / most));
    sk_html_put(h, "</div>");
}
