#include "report/text.h"

#include <string.h>

#include "report/amounts.h"
#include "report/compare.h"
#include "strlist.h"

/* What comes from a file, without what a terminal would obey: C1 control characters are all that is left of these. */
static const char *plain(sk_arena *a, const char *text)
{
    char *copy = sk_format(a, "%s", text);
    for (char *c = copy; *c; c++)
        if ((unsigned char)c[0] == 0xc2 && (unsigned char)c[1] < 0xa0)
            c[0] = c[1] = '?';
    return copy;
}

static void head(FILE *out, sk_arena *a, const sk_run_data *d)
{
    fprintf(out, "%s: %.0f ranks, %.0f %s, %s, Skein %s; end: %s\n",
            plain(a, d->program ? d->program : "a program"), d->ranks, d->nodes,
            d->nodes == 1 ? "node" : "nodes", plain(a, d->mpi ? d->mpi : "unknown MPI"),
            plain(a, d->skein), plain(a, d->end));
    fprintf(out, "run %s, in collectives %s (%s)", sk_show_seconds(a, d->run_seconds),
            sk_show_seconds(a, d->mean_seconds),
            sk_show_part(a, d->run_seconds > 0 ? d->mean_seconds / d->run_seconds : 0));
    if (sk_run_waited_part(d) >= 0)
        fprintf(out, ", of blocking calls %s waiting for late ranks",
                sk_show_part(a, sk_run_waited_part(d)));
    fputc('\n', out);
}

static void cells(FILE *out, sk_arena *a, const sk_run_data *d)
{
    fprintf(out, "\n%-22s %-10s %12s %12s %12s %12s %8s\n", "collective", "size", "calls",
            "Skein ms", "host ms", "saved ms", "ratio");
    for (int i = 0; i < d->ncells; i++) {
        const sk_run_cell *c = &d->cells[i];
        fprintf(out, "%-22s %-10s %12s %12.3f %12.3f", plain(a, c->coll), plain(a, c->size),
                sk_show_count(a, c->calls), c->skein * 1e3, c->host * 1e3);
        if (c->value)
            fprintf(out, " %12.3f %8.2f\n", c->value->saved * 1e3, c->value->ratio);
        else
            fprintf(out, " %12s %8s\n", "-", "-");
    }
}

static const char *waited(sk_arena *a, const sk_run_sampled *s)
{
    return s->seconds > 0 ? sk_show_part(a, s->waited / s->seconds) : "-";
}

static void comms(FILE *out, sk_arena *a, const sk_run_data *d)
{
    if (!d->ncomms)
        return;
    fprintf(out, "\n%-32s %8s %8s %12s %12s %8s %12s\n", "communicator", "ranks", "groups", "calls",
            "ms", "waited", "entries");
    for (int i = 0; i < d->ncomms; i++) {
        const sk_run_comm *c = &d->comms[i];
        fprintf(out, "%-32s %8s %8s %12s %12.3f %8s %12s\n", plain(a, sk_show_name(c->name)),
                sk_show_count(a, c->ranks), sk_show_count(a, c->groups), sk_show_count(a, c->calls),
                c->seconds * 1e3, waited(a, &c->sampled),
                sk_show_seconds(a, 1e-6 * c->sampled.spread_us));
    }
}

static void late(FILE *out, sk_arena *a, const sk_run_data *d)
{
    if (!d->nlate)
        return;
    fprintf(out, "\n%-32s %8s %8s %12s\n", "others waited for", "node", "last", "ms");
    for (int i = 0; i < d->nlate; i++)
        fprintf(out, "%-32s %8s %8s %12.3f\n",
                sk_format(a, "rank %s", sk_show_count(a, d->late[i].rank)),
                sk_show_count(a, d->late[i].node), sk_show_count(a, d->late[i].last),
                d->late[i].caused * 1e3);
}

static void graphs(FILE *out, sk_arena *a, const sk_run_data *d)
{
    if (!d->ngraphs)
        return;
    fprintf(out, "\n%-32s %8s %12s %12s %12s %s\n", "neighbourhood", "ranks", "calls", "neighbours",
            "on the node", "pattern");
    for (int i = 0; i < d->ngraphs; i++) {
        const sk_run_graph *g = &d->graphs[i];
        fprintf(out, "%-32s %8s %12s %12.1f %12s %s\n", plain(a, sk_show_name(g->name)),
                sk_show_count(a, g->ranks), sk_show_count(a, g->calls), g->mean_out,
                sk_show_part(a, g->local), plain(a, g->algo ? g->algo : "host MPI"));
    }
}

static void rest(FILE *out, sk_arena *a, const sk_run_data *d)
{
    fprintf(out,
            "\nbetween nodes %s in %s messages, inside nodes %s in %s messages, shared memory %s\n",
            sk_show_bytes(a, d->off_bytes), sk_show_count(a, d->off_messages),
            sk_show_bytes(a, d->near_bytes), sk_show_count(a, d->near_messages),
            sk_show_bytes(a, d->shared_bytes));
    if (d->matched)
        fprintf(out,
                "matching by %s: posted queue at most %s, mean %.2f; unexpected at most %s, mean "
                "%.2f\n",
                plain(a, d->engine ? d->engine : "?"), sk_show_count(a, d->posted.longest),
                d->posted.mean, sk_show_count(a, d->unexpected.longest), d->unexpected.mean);
}

void sk_text_run(FILE *out, sk_arena *a, const sk_run_data *d)
{
    head(out, a, d);
    cells(out, a, d);
    comms(out, a, d);
    graphs(out, a, d);
    late(out, a, d);
    rest(out, a, d);
}

void sk_text_compare(FILE *out, sk_arena *a, const sk_run_data *was, const sk_run_data *now)
{
    int n;
    const char *warning = sk_compare_warning(a, was, now);
    const sk_figure *f = sk_figures(a, was, now, &n);
    fprintf(out, "A: %s\nB: %s\n", was->file, now->file);
    if (warning)
        fprintf(out, "note: %s\n", warning);
    fprintf(out, "\n%-34s %14s %14s %10s\n", "", "A", "B", "B to A");
    for (int i = 0; i < n; i++)
        fprintf(out, "%-34s %14s %14s %10s\n", f[i].name, f[i].was, f[i].now, f[i].change);
    const sk_pair *p = sk_pairs(a, was, now, &n);
    fprintf(out, "\n%-22s %-10s %12s %12s %12s %12s %10s\n", "collective", "size", "calls A",
            "calls B", "A ms", "B ms", "B to A");
    for (int i = 0; i < n; i++) {
        double x = sk_pair_seconds(p[i].was), y = sk_pair_seconds(p[i].now);
        fprintf(out, "%-22s %-10s %12s %12s %12.3f %12.3f %10s\n", plain(a, p[i].coll),
                plain(a, p[i].size), sk_show_count(a, p[i].was ? p[i].was->calls : 0),
                sk_show_count(a, p[i].now ? p[i].now->calls : 0), x * 1e3, y * 1e3,
                sk_show_change(a, x, y));
    }
}

/* Lines of at most 78 characters, each after three spaces. */
static void print_folded(FILE *out, const char *text)
{
    enum { WIDTH = 75 };
    while (*text) {
        size_t n = strlen(text);
        if (n > WIDTH) {
            for (n = WIDTH; n > 1 && text[n] != ' ';)
                n--;
            n = n > 1 ? n : strcspn(text, " ");
        }
        fprintf(out, "   %.*s\n", (int)n, text);
        text += n;
        text += strspn(text, " ");
    }
}

void sk_text_tips(FILE *out, sk_arena *a, const sk_run_data *d, const sk_traced *t)
{
    int n;
    const sk_tip *tip = sk_tips(a, d, t, &n);
    for (int i = 0; i < n; i++) {
        fprintf(out, "%d. %s\n", i + 1, plain(a, tip[i].title));
        print_folded(out, plain(a, tip[i].text));
    }
}
