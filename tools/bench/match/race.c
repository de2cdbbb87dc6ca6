#include "bench/match/race.h"

#include <math.h>
#include <string.h>

static void add_point(sk_race *r, const char *what, const char *source, int depth)
{
    sk_race_point *p = &r->points[r->npoints++];
    p->depth = depth;
    snprintf(p->what, sizeof p->what, "%s", what);
    snprintf(p->source, sizeof p->source, "%s", source);
}

sk_race sk_race_new(sk_arena *a, const sk_numbers *depths, int rounds, int nracers)
{
    sk_race r = {.arena = a, .rounds = rounds, .nracers = nracers};
    r.points = sk_arena_need(a, (1 + 4 * (size_t)depths->n) * sizeof *r.points);
    add_point(&r, "latency", "exact", 0);
    for (int side = 0; side < 2; side++)
        for (int any = 0; any < 2; any++)
            for (int i = 0; i < depths->n; i++)
                add_point(&r, side ? "unexpected" : "posted", any ? "any" : "exact",
                          (int)depths->v[i]);
    r.racers = sk_arena_need(a, (size_t)nracers * sizeof *r.racers);
    for (int i = 0; i < nracers; i++) {
        sk_cell *cells = sk_arena_need(a, (size_t)r.npoints * sizeof *cells);
        for (int k = 0; k < r.npoints; k++)
            cells[k] = (sk_cell){.us = sk_arena_need(a, (size_t)rounds * sizeof *cells[k].us)};
        r.racers[i] = (sk_racer){.cells = cells};
    }
    return r;
}

static int find_point(const sk_race *r, const char *what, const char *source, int depth)
{
    for (int i = 0; i < r->npoints; i++)
        if (r->points[i].depth == depth && strcmp(r->points[i].what, what) == 0 &&
            strcmp(r->points[i].source, source) == 0)
            return i;
    return -1;
}

bool sk_race_take(sk_race *r, int racer, const char *line)
{
    char word[8], what[16], source[8];
    int depth;
    double value;
    if (sscanf(line, "%7s %15s %7s %d %lf", word, what, source, &depth, &value) != 5)
        return false;
    int at = find_point(r, what, source, depth);
    if (at < 0)
        return false;
    sk_cell *c = &r->racers[racer].cells[at];
    if (strcmp(word, "late") == 0)
        c->late = value;
    else if (strcmp(word, "wrong") == 0)
        c->wrong = true;
    else if (strcmp(word, "match") == 0 && c->n < r->rounds)
        c->us[c->n++] = value;
    else
        return false;
    return true;
}

static double median(const sk_cell *c, sk_spread *spread)
{
    double v[SK_RACE_ROUNDS];
    memcpy(v, c->us, (size_t)c->n * sizeof *v);
    *spread = sk_spread_of(v, c->n);
    return spread->mid;
}

/* Microseconds with their spread: 24 columns. */
static void print_cell(FILE *f, const sk_cell *c, const char *trouble)
{
    sk_spread s;
    if (c->wrong) {
        fprintf(f, " %8s %14s", "WRONG", "");
    } else if (c->n) {
        char range[32];
        median(c, &s);
        snprintf(range, sizeof range, "%.3g..%.3g", s.lo, s.hi);
        fprintf(f, " %8.3g %-14s", s.mid, range);
    } else if (c->late > 0) {
        fprintf(f, " %8s %14s", "too long", "");
    } else {
        fprintf(f, " %8s %14s", trouble ? "failed" : "-", "");
    }
}

/* How much the last racer is ahead of each other: their median / its own. */
static void print_ratios(FILE *f, const sk_race *r, int point)
{
    sk_spread s;
    const sk_cell *own = &r->racers[r->nracers - 1].cells[point];
    for (int i = 0; i < r->nracers - 1; i++) {
        const sk_cell *c = &r->racers[i].cells[point];
        if (own->n && c->n && !own->wrong && !c->wrong)
            fprintf(f, " %7.3gx", median(c, &s) / median(own, &s));
        else
            fprintf(f, " %8s", "-");
    }
}

void sk_race_print(FILE *f, const sk_race *r)
{
    const char *own = r->racers[r->nracers - 1].name;
    fprintf(f,
            "\ntwo ranks, 8-byte messages, queues emptied in reverse order: us per message, median "
            "and 10%%..90%% of %d\nruns of each by turns; on the right how many times faster than "
            "each other %s is\n",
            r->rounds, own);
    fprintf(f, "%-10s %-6s %6s", "", "source", "depth");
    for (int i = 0; i < r->nracers; i++)
        fprintf(f, " %23.23s", r->racers[i].name);
    fprintf(f, " |");
    for (int i = 0; i < r->nracers - 1; i++)
        fprintf(f, " %8.8s", r->racers[i].name);
    fputc('\n', f);
    for (int p = 0; p < r->npoints; p++) {
        const sk_race_point *point = &r->points[p];
        fprintf(f, "%-10s %-6s ", point->what, point->source);
        if (point->depth)
            fprintf(f, "%6d", point->depth);
        else
            fprintf(f, "%6s", "");
        for (int i = 0; i < r->nracers; i++)
            print_cell(f, &r->racers[i].cells[p], r->racers[i].trouble);
        fprintf(f, " |");
        print_ratios(f, r, p);
        fputc('\n', f);
    }
    for (int i = 0; i < r->nracers; i++)
        if (r->racers[i].trouble)
            fprintf(f, "%s: %s\n", r->racers[i].name, r->racers[i].trouble);
}

void sk_race_csv(FILE *f, const sk_race *r)
{
    fputs("transport,what,source,depth,state,runs,us,us_p10,us_p90\n", f);
    for (int i = 0; i < r->nracers; i++)
        for (int p = 0; p < r->npoints; p++) {
            const sk_race_point *point = &r->points[p];
            const sk_cell *c = &r->racers[i].cells[p];
            sk_spread s;
            const char *state = c->wrong      ? "WRONG"
                                : c->n        ? "ok"
                                : c->late > 0 ? "too long"
                                              : "failed";
            fprintf(f, "%s,%s,%s,%d,%s,%d,", r->racers[i].name, point->what, point->source,
                    point->depth, state, c->n);
            median(c, &s);
            if (c->n)
                fprintf(f, "%.6g,%.6g,%.6g\n", s.mid, s.lo, s.hi);
            else
                fputs(",,\n", f);
        }
}

bool sk_race_wrong(const sk_race *r)
{
    for (int i = 0; i < r->nracers; i++)
        for (int p = 0; p < r->npoints; p++)
            if (r->racers[i].cells[p].wrong)
                return true;
    return false;
}

bool sk_race_empty(const sk_race *r)
{
    for (int i = 0; i < r->nracers; i++)
        for (int p = 0; p < r->npoints; p++)
            if (r->racers[i].cells[p].n)
                return false;
    return true;
}
