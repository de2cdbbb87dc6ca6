/* page_compare.c: the page of two runs. */
#include "report/amounts.h"
#include "report/charts.h"
#include "report/compare.h"
#include "report/page.h"
#include "strlist.h"

static void figures(const sk_html *h, const sk_run_data *was, const sk_run_data *now)
{
    int n;
    const sk_figure *f = sk_figures(h->arena, was, now, &n);
    sk_html_put(h, "<section id=\"figures\" aria-labelledby=\"figures-h\"><h2 id=\"figures-h\">The "
                   "runs</h2>\n");
    sk_table_begin(h, "Key figures of both runs", "Figure|#A|#B|#B to A");
    for (int i = 0; i < n; i++)
        sk_html_put(h,
                    "<tr><th scope=\"row\">$</th><td class=\"n\">$</td><td class=\"n\">$</td><td "
                    "class=\"n\">$</td></tr>\n",
                    f[i].name, f[i].was, f[i].now, f[i].change);
    sk_table_end(h);
    sk_html_put(h, "</section>\n");
}

static const char *ms(const sk_html *h, double seconds)
{
    return sk_format(h->arena, "%.3f", seconds * 1e3);
}

static void pair_row(const sk_html *h, const sk_pair *p, double most)
{
    double was = sk_pair_seconds(p->was), now = sk_pair_seconds(p->now);
    sk_html_put(h, "<tr><th scope=\"row\">$ $", p->coll, p->size);
    sk_chart_bar(h, (sk_bar_part[]){{"a", was}}, 1, most);
    sk_chart_bar(h, (sk_bar_part[]){{"b", now}}, 1, most);
    sk_html_put(h,
                "</th><td class=\"n\">$</td><td class=\"n\">$</td><td class=\"n\">$</td><td "
                "class=\"n\">$</td><td class=\"n "
                "$\">$</td><td class=\"n\">$</td></tr>\n",
                sk_show_count(h->arena, p->was ? p->was->calls : 0),
                sk_show_count(h->arena, p->now ? p->now->calls : 0), ms(h, was), ms(h, now),
                now <= was ? "good" : "bad", ms(h, now - was), sk_show_change(h->arena, was, now));
}

static void calls(const sk_html *h, const sk_run_data *was, const sk_run_data *now)
{
    int n;
    double most = 0;
    const sk_pair *p = sk_pairs(h->arena, was, now, &n);
    for (int i = 0; i < n; i++) {
        double a = sk_pair_seconds(p[i].was), b = sk_pair_seconds(p[i].now);
        most = a > most ? a : most;
        most = b > most ? b : most;
    }
    sk_html_put(
        h, "<section id=\"calls\" aria-labelledby=\"calls-h\"><h2 id=\"calls-h\">Collectives by "
           "size</h2><ul "
           "class=\"key\"><li><i class=\"a\"></i>A</li><li><i class=\"b\"></i>B</li></ul>\n");
    sk_table_begin(h, "Time by collective and size, largest difference first",
                   "Collective and size|#calls A|#calls B|#A ms|#B ms|#B less A ms|#B to A");
    for (int i = 0; i < n; i++)
        pair_row(h, &p[i], most);
    sk_table_end(h);
    sk_html_put(h, "</section>\n");
}

static void timelines(const sk_html *h, const sk_run_data *was, const sk_run_data *now)
{
    const sk_run_data *d[] = {was, now};
    sk_html_put(h, "<section id=\"time\" aria-labelledby=\"time-h\"><h2 id=\"time-h\">Time in "
                   "collectives over the "
                   "runs</h2>\n");
    for (int i = 0; i < 2; i++) {
        sk_html_put(h, "<h3>$: $</h3>", i ? "B" : "A", sk_basename(d[i]->file));
        if (d[i]->nlines)
            sk_chart_timeline(h, d[i]);
        else
            sk_html_put(h, "<p>No blocking collective was called.</p>");
    }
    sk_html_put(h, "</section>\n");
}

void sk_page_compare(FILE *out, sk_arena *a, const sk_run_data *was, const sk_run_data *now)
{
    sk_html h = {out, a};
    const char *warning = sk_compare_warning(a, was, now);
    sk_page_begin(&h,
                  sk_format(a, "Skein: %s and %s", sk_basename(was->file), sk_basename(now->file)));
    sk_html_put(
        &h,
        "<header><h1>Two runs</h1><p>A: <bdi>$</bdi>, $, Skein $, $ ranks.<br>B: <bdi>$</bdi>, "
        "$, Skein $, $ "
        "ranks.</p>",
        sk_basename(was->file), was->program ? was->program : "a program", was->skein,
        sk_show_count(a, was->ranks), sk_basename(now->file),
        now->program ? now->program : "a program", now->skein, sk_show_count(a, now->ranks));
    if (warning)
        sk_html_put(&h, "<p><strong class=\"bad\">$</strong></p>", warning);
    sk_html_put(&h, "</header>\n<main>\n");
    figures(&h, was, now);
    calls(&h, was, now);
    timelines(&h, was, now);
    sk_html_put(
        &h,
        "</main>\n<footer><p>Made by skein report. skein(1) describes the numbers.</p></footer>\n");
    sk_page_end(&h);
}
