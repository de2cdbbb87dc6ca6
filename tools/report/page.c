#include "report/page.h"

#include "report/amounts.h"
#include "report/charts.h"
#include "report/tips.h"
#include "strlist.h"

static const char *program(const sk_run_data *d)
{
    return d->program ? d->program : "a program";
}

static const char *count(const sk_html *h, double n)
{
    return sk_show_count(h->arena, n);
}

static const char *ms(const sk_html *h, double seconds)
{
    return sk_format(h->arena, "%.3f", seconds * 1e3);
}

static void section(const sk_html *h, const char *id, const char *title)
{
    sk_html_put(h, "<section id=\"$\" aria-labelledby=\"$-h\"><h2 id=\"$-h\">$</h2>\n", id, id, id,
                title);
}

static void section_end(const sk_html *h)
{
    sk_html_put(h, "</section>\n");
}

static void heading(const sk_html *h, const sk_run_data *d)
{
    sk_html_put(
        h, "<header><h1>Collectives of <bdi>$</bdi></h1><p>$ $ on $ $, $, Skein $. End: $$</p>\n",
        program(d), count(h, d->ranks), d->ranks == 1 ? "rank" : "ranks",
        d->nodes > 0 ? count(h, d->nodes) : "an unknown number of",
        d->nodes == 1 ? "node" : "nodes", d->mpi ? d->mpi : "an unknown MPI", d->skein, d->end,
        d->counted < d->ranks
            ? sk_format(h->arena, "; %.0f of %.0f ranks are counted.", d->counted, d->ranks)
            : ".");
    sk_html_put(h,
                "<nav aria-label=\"Sections\"><a href=\"#advice\">Advice</a><a href=\"#time\">Over "
                "time</a><a "
                "href=\"#calls\">Calls</a>");
    if (d->nbuckets)
        sk_html_put(h, "<a href=\"#waiting\">Waiting</a>");
    sk_html_put(h, "<a href=\"#traffic\">Traffic</a>");
    if (d->ncomms)
        sk_html_put(h, "<a href=\"#comms\">Communicators</a>");
    if (d->ngraphs)
        sk_html_put(h, "<a href=\"#graphs\">Neighbourhoods</a>");
    if (d->matched)
        sk_html_put(h, "<a href=\"#matching\">Matching</a>");
    sk_html_put(h, "<a href=\"#rows\">All counts</a></nav></header>\n<main>\n");
}

static void card_saved(const sk_html *h, const sk_run_data *d)
{
    sk_arena *a = h->arena;
    if (d->comparisons > 0)
        sk_card(h, d->saved < 0 ? "Skein lost about" : "Skein saved about",
                sk_show_seconds(a, d->saved < 0 ? -d->saved : d->saved),
                sk_format(a, "of %s in collectives; %s of the time was compared, %.0f times",
                          sk_show_seconds(a, d->without), sk_show_part(a, d->compared_part),
                          d->comparisons));
    else
        sk_card(h, "Saved by Skein", "not known", "no call was compared with the host MPI");
}

static void cards(const sk_html *h, const sk_run_data *d)
{
    sk_arena *a = h->arena;
    double waited = sk_run_waited_part(d);
    sk_html_put(h, "<dl class=\"cards\">\n");
    sk_card(h, "Run", sk_show_seconds(a, d->run_seconds), "from MPI_Init to MPI_Finalize");
    sk_card(h, "In collectives", sk_show_seconds(a, d->mean_seconds),
            d->run_seconds > 0 ? sk_format(a, "%s of the run, mean over ranks",
                                           sk_show_part(a, d->mean_seconds / d->run_seconds))
                               : "mean over ranks");
    card_saved(h, d);
    if (waited >= 0)
        sk_card(h, "Waiting for late ranks", sk_show_part(a, waited),
                sk_format(a, "of the time in blocking calls; first to last entry %s in the mean",
                          sk_show_seconds(a, 1e-6 * d->sampled.spread_us)));
    sk_card(h, "Calls", count(h, d->calls),
            sk_format(a, "of a rank; Skein %s, host MPI %s", sk_show_seconds(a, d->skein_seconds),
                      sk_show_seconds(a, d->host_seconds)));
    sk_card(h, "Sent between nodes", sk_show_bytes(a, d->off_bytes),
            sk_format(a, "in %s messages by all ranks", count(h, d->off_messages)));
    sk_html_put(h, "</dl>\n");
}

static void advice(const sk_html *h, const sk_run_data *d)
{
    int n;
    const sk_tip *tip = sk_tips(h->arena, d, NULL, &n);
    section(h, "advice", "What could be better");
    sk_html_put(h, "<ol class=\"tips\">\n");
    for (int i = 0; i < n; i++)
        sk_html_put(h, "<li><strong>$</strong> $</li>\n", tip[i].title, tip[i].text);
    sk_html_put(h, "</ol>\n");
    section_end(h);
}

static void over_time(const sk_html *h, const sk_run_data *d)
{
    section(h, "time", "Time in collectives over the run");
    if (!d->nlines) {
        sk_html_put(h, "<p>No blocking collective was called.</p>");
    } else {
        sk_chart_timeline(h, d);
        sk_html_put(h, "<details><summary>The same as a table</summary>");
        sk_table_begin(h, "Time in collectives, mean over ranks", "Collective|#ms|#of the run");
        for (int i = 0; i < d->nlines; i++)
            sk_html_put(
                h,
                "<tr><th scope=\"row\">$</th><td class=\"n\">$</td><td class=\"n\">$</td></tr>\n",
                d->lines[i].coll, ms(h, d->lines[i].sum),
                sk_show_part(h->arena, d->run_seconds > 0 ? d->lines[i].sum / d->run_seconds : 0));
        sk_table_end(h);
        sk_html_put(h, "</details>");
    }
    section_end(h);
}

static void call_row(const sk_html *h, const sk_run_cell *c, double most)
{
    double saved = c->value ? c->value->saved : 0;
    sk_html_put(h, "<tr><th scope=\"row\">$ $", c->coll, c->size);
    sk_chart_bar(h, (sk_bar_part[]){{"skein", c->skein}, {"host", c->host}, {"saved", saved}}, 3,
                 most);
    sk_html_put(h, "</th><td class=\"n\">$</td><td class=\"n\">$</td><td class=\"n\">$</td>",
                count(h, c->calls), ms(h, c->skein), ms(h, c->host));
    if (c->value)
        sk_html_put(h,
                    "<td class=\"n $\">$</td><td class=\"n\">$</td><td class=\"n\">$</td><td "
                    "class=\"n\">$</td></tr>\n",
                    saved < 0 ? "bad" : "good", ms(h, saved),
                    sk_format(h->arena, "%.2f", c->value->skein_us),
                    sk_format(h->arena, "%.2f", c->value->host_us),
                    sk_format(h->arena, "%.2f", c->value->ratio));
    else
        sk_html_put(h, "<td class=\"n dim\" colspan=\"4\">not compared</td></tr>\n");
}

static void calls(const sk_html *h, const sk_run_data *d)
{
    double most = 0;
    section(h, "calls", "Collectives by size");
    sk_html_put(h,
                "<p>The largest time over ranks. Saved is what the host MPI would have taken more, "
                "by the calls that were "
                "compared while the program ran.</p><ul class=\"key\"><li><i "
                "class=\"skein\"></i>Skein</li><li><i "
                "class=\"host\"></i>host MPI</li><li><i class=\"saved\"></i>saved</li></ul>\n");
    for (int i = 0; i < d->ncells; i++) {
        const sk_run_cell *c = &d->cells[i];
        double all = c->skein + c->host + (c->value && c->value->saved > 0 ? c->value->saved : 0);
        most = all > most ? all : most;
    }
    sk_table_begin(h, "Time by collective and size, longest first",
                   "Collective and size|#calls|#Skein ms|#host ms|#saved ms|#Skein us each|#host "
                   "us each|#host/Skein");
    for (int i = 0; i < d->ncells; i++)
        call_row(h, &d->cells[i], most);
    sk_table_end(h);
    section_end(h);
}

static void sampled_cells(const sk_html *h, const sk_run_sampled *s)
{
    sk_html_put(h,
                "<td class=\"n\">$</td><td class=\"n\">$</td><td class=\"n\">$</td><td "
                "class=\"n\">$</td></tr>\n",
                count(h, s->calls),
                s->seconds > 0 ? sk_show_part(h->arena, s->waited / s->seconds) : "-",
                sk_show_seconds(h->arena, 1e-6 * s->spread_us),
                sk_show_seconds(h->arena, 1e-6 * s->most_spread_us));
}

static void late_table(const sk_html *h, const sk_run_data *d)
{
    sk_table_begin(h, "Ranks for which others waited longest",
                   "Rank|#node|#was last|#others waited ms");
    for (int i = 0; i < d->nlate; i++)
        sk_html_put(
            h,
            "<tr><th scope=\"row\">rank $</th><td class=\"n\">$</td><td class=\"n\">$</td><td "
            "class=\"n\">$</td></tr>\n",
            count(h, d->late[i].rank), count(h, d->late[i].node), count(h, d->late[i].last),
            ms(h, d->late[i].caused));
    sk_table_end(h);
}

static void waiting(const sk_html *h, const sk_run_data *d)
{
    if (!d->nbuckets)
        return;
    section(h, "waiting", "Who waits for whom");
    sk_html_put(
        h,
        "<p>A call waits from its entry until the last rank enters: that comes from the program "
        "or from the "
        "machine, not from the network. $ calls were looked at, chosen alike on all "
        "ranks.</p><div class=\"two\">",
        count(h, d->sampled.calls));
    if (d->nbuckets > 1)
        sk_chart_matrix(h, d);
    sk_chart_ranks(h, d);
    sk_html_put(h, "</div>\n");
    if (d->nlate)
        late_table(h, d);
    sk_table_begin(h, "Waiting by collective",
                   "Collective|#calls looked at|#waited|#first to last entry|#at most");
    for (int i = 0; i < d->nwaits; i++) {
        sk_html_put(h, "<tr><th scope=\"row\">$</th>", d->waits[i].coll);
        sampled_cells(h, &d->waits[i].sampled);
    }
    sk_table_end(h);
    section_end(h);
}

static void traffic_row(const sk_html *h, const char *name, const char *messages, double bytes,
                        double most)
{
    sk_html_put(h, "<tr><th scope=\"row\">$", name);
    sk_chart_bar(h, (sk_bar_part[]){{"skein", bytes}}, 1, most);
    sk_html_put(h, "</th><td class=\"n\">$</td><td class=\"n\">$</td><td class=\"n\">$</td></tr>\n",
                messages, count(h, bytes), sk_show_bytes(h->arena, bytes));
}

static void traffic(const sk_html *h, const sk_run_data *d)
{
    double most = d->off_bytes > d->near_bytes ? d->off_bytes : d->near_bytes;
    most = d->shared_bytes > most ? d->shared_bytes : most;
    section(h, "traffic", "Messages and bytes inside and between nodes");
    sk_html_put(h,
                "<p>Of the calls that Skein served, by all ranks. What the host MPI sends for its "
                "calls is not "
                "seen.</p>\n");
    sk_table_begin(h, "What was sent", "Where|#messages|#bytes|#that is");
    traffic_row(h, "between nodes", count(h, d->off_messages), d->off_bytes, most);
    traffic_row(h, "of these, by the busiest rank", count(h, d->busiest_messages), d->busiest_bytes,
                most);
    traffic_row(h, "messages inside nodes", count(h, d->near_messages), d->near_bytes, most);
    traffic_row(h, "read from shared memory", "-", d->shared_bytes, most);
    sk_table_end(h);
    section_end(h);
}

static void comms(const sk_html *h, const sk_run_data *d)
{
    double most = 0;
    if (!d->ncomms)
        return;
    for (int i = 0; i < d->ncomms; i++)
        most = d->comms[i].seconds > most ? d->comms[i].seconds : most;
    section(h, "comms", "Communicators");
    sk_html_put(
        h, "<p>By the names that MPI_Comm_set_name gave them and by their number of ranks. Time "
           "is the mean over "
           "their ranks.</p>\n");
    sk_table_begin(h, "Communicators by name",
                   "Name|#ranks|#groups|#made|#calls|#ms|#most ms|#looked at|#waited|#first to "
                   "last entry|#at most");
    for (int i = 0; i < d->ncomms; i++) {
        const sk_run_comm *c = &d->comms[i];
        double part = c->sampled.seconds > 0 ? c->sampled.waited / c->sampled.seconds : 0;
        sk_html_put(h, "<tr><th scope=\"row\"><bdi>$</bdi>", sk_show_name(c->name));
        sk_chart_bar(
            h, (sk_bar_part[]){{"wait", part * c->seconds}, {"skein", (1 - part) * c->seconds}}, 2,
            most);
        sk_html_put(h,
                    "</th><td class=\"n\">$</td><td class=\"n\">$</td><td class=\"n\">$</td><td "
                    "class=\"n\">$</td><td "
                    "class=\"n\">$</td><td class=\"n\">$</td>",
                    count(h, c->ranks), count(h, c->groups), count(h, c->communicators),
                    count(h, c->calls), ms(h, c->seconds), ms(h, c->most_seconds));
        sampled_cells(h, &c->sampled);
    }
    sk_table_end(h);
    section_end(h);
}

static const char *degrees(const sk_html *h, double least, double mean, double most)
{
    return least == most ? count(h, most)
                         : sk_format(h->arena, "%.0f to %.0f, mean %.1f", least, most, mean);
}

static void graphs(const sk_html *h, const sk_run_data *d)
{
    if (!d->ngraphs)
        return;
    section(h, "graphs", "Neighbourhoods");
    sk_table_begin(
        h, "Graphs of neighbourhood collectives",
        "Communicator|#ranks|#groups|#calls|#sources of a rank|#targets of a rank|#edges on the "
        "node|pattern");
    for (int i = 0; i < d->ngraphs; i++) {
        const sk_run_graph *g = &d->graphs[i];
        sk_html_put(h, "<tr><th scope=\"row\"><bdi>$</bdi>", sk_show_name(g->name));
        sk_chart_bar(h, (sk_bar_part[]){{"skein", g->local}, {"host", 1 - g->local}}, 2, 1);
        sk_html_put(h,
                    "</th><td class=\"n\">$</td><td class=\"n\">$</td><td class=\"n\">$</td><td "
                    "class=\"n\">$</td><td "
                    "class=\"n\">$</td><td class=\"n\">$</td><td>$</td></tr>\n",
                    count(h, g->ranks), count(h, g->groups), count(h, g->calls),
                    degrees(h, g->least_in, g->mean_in, g->most_in),
                    degrees(h, g->least_out, g->mean_out, g->most_out),
                    sk_show_part(h->arena, g->local), g->algo ? g->algo : "host MPI");
    }
    sk_table_end(h);
    section_end(h);
}

static void queue_row(const sk_html *h, const char *name, const sk_run_queue *q)
{
    sk_html_put(h,
                "<tr><th scope=\"row\">$</th><td class=\"n\">$</td><td class=\"n\">$</td><td "
                "class=\"n\">$</td><td "
                "class=\"n\">$</td><td class=\"n\">$</td></tr>\n",
                name, count(h, q->longest), sk_format(h->arena, "%.2f", q->mean),
                count(h, q->searches), count(h, q->compared),
                sk_format(h->arena, "%.2f", q->searches > 0 ? q->compared / q->searches : 0));
}

static void matching(const sk_html *h, const sk_run_data *d)
{
    if (!d->matched)
        return;
    section(h, "matching", "Matching queues");
    sk_html_put(h, "<p>Engine $; each number is the largest over ranks.</p>\n",
                d->engine ? d->engine : "not known");
    sk_table_begin(h, "Queues of the provider",
                   "Queue|#longest|#mean length|#searches|#items compared|#for each search");
    queue_row(h, "posted receives", &d->posted);
    queue_row(h, "unexpected messages", &d->unexpected);
    sk_table_end(h);
    section_end(h);
}

static void rows(const sk_html *h, const sk_run_data *d)
{
    section(h, "rows", "All counts");
    sk_table_begin(
        h, "Calls and time of every collective, size and algorithm, each the largest over ranks",
        "Collective|size|algorithm, or why the host MPI served|#calls|#ms");
    for (int i = 0; i < d->nrows; i++) {
        const sk_run_row *r = &d->rows[i];
        sk_html_put(h,
                    "<tr><th scope=\"row\">$</th><td>$</td><td>$$</td><td class=\"n\">$</td><td "
                    "class=\"n\">$</td></tr>\n",
                    r->coll, r->size, r->algo ? "" : "host MPI: ", r->algo ? r->algo : r->host,
                    count(h, r->calls), ms(h, r->seconds));
    }
    sk_table_end(h);
    section_end(h);
}

void sk_page_run(FILE *out, sk_arena *a, const sk_run_data *d)
{
    sk_html h = {out, a};
    sk_page_begin(&h, sk_format(a, "Skein: %s, %.0f ranks", program(d), d->ranks));
    heading(&h, d);
    cards(&h, d);
    advice(&h, d);
    over_time(&h, d);
    calls(&h, d);
    waiting(&h, d);
    traffic(&h, d);
    comms(&h, d);
    graphs(&h, d);
    matching(&h, d);
    rows(&h, d);
    sk_html_put(&h,
                "</main>\n<footer><p>Made from $ by skein report. skein(1) describes the "
                "numbers.</p></footer>\n",
                sk_basename(d->file));
    sk_page_end(&h);
}
