#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    COLUMNS = 66,
    ROWS = 20,
    WIDTH = 800,
    HEIGHT = 480,
    LEFT = 80,
    RIGHT = 170,
    TOP = 40,
    BOTTOM = 50
};

/* ---- scales ---- */

typedef struct plot_range {
    double lo, hi; /* of y, as log10 */
} plot_range;

static plot_range range_of(const sk_plot *p)
{
    plot_range r = {INFINITY, -INFINITY};
    for (int i = 0; i < p->nlines; i++)
        for (int k = 0; k < p->npoints; k++) {
            double y = p->y[i][k] > 0 ? log10(p->y[i][k]) : NAN;
            r.lo = y < r.lo ? y : r.lo;
            r.hi = y > r.hi ? y : r.hi;
        }
    if (!(r.hi - r.lo >= 0.5)) /* also when there is nothing */
        r = isfinite(r.lo) ? (plot_range){r.lo - 0.25, r.lo + 0.5} : (plot_range){0, 1};
    return r;
}

/* From 0 to 1 over the axis. */
static double x_part(const sk_plot *p, double x)
{
    return (log2(x) - log2(p->x[0])) / (log2(p->x[p->npoints - 1]) - log2(p->x[0]));
}

static double y_part(plot_range r, double y)
{
    return (log10(y) - r.lo) / (r.hi - r.lo);
}

/* The line at a part of the axis, between its points; <= 0: there is nothing. */
static double line_at(const sk_plot *p, int line, double part)
{
    for (int k = 0; k + 1 < p->npoints; k++) {
        double a = x_part(p, p->x[k]), b = x_part(p, p->x[k + 1]);
        if (part < a - 1e-9 || part > b + 1e-9)
            continue;
        double ya = p->y[line][k], yb = p->y[line][k + 1], f = (part - a) / (b - a);
        if (ya > 0 && yb > 0)
            return pow(10, log10(ya) + f * (log10(yb) - log10(ya)));
        if ((ya > 0 && f < 0.5) || (yb > 0 && f >= 0.5))
            return ya > 0 ? ya : yb;
    }
    return 0;
}

static const char *bytes_text(double bytes, char *out, size_t size)
{
    static const char *const units[] = {"", "K", "M", "G"};
    int u = 0;
    for (; u < 3 && bytes >= 1024; u++)
        bytes /= 1024;
    snprintf(out, size, "%.4g%s", bytes, units[u]);
    return out;
}

/* ---- text ---- */

static char mark_of(int line)
{
    return (char)('a' + line);
}

/* Of lines that fall on one place the first one is seen: lines are drawn from the last to the first. */
static void draw(const sk_plot *p, plot_range r, char cell[ROWS][COLUMNS + 1])
{
    for (int i = p->nlines - 1; i >= 0; i--)
        for (int c = 0; c < COLUMNS; c++) {
            double y = line_at(p, i, (double)c / (COLUMNS - 1));
            if (y > 0)
                cell[(int)((ROWS - 1) * (1 - y_part(r, y)) + 0.5)][c] = mark_of(i);
        }
}

void sk_plot_text(const sk_plot *p, FILE *out)
{
    char cell[ROWS][COLUMNS + 1], text[32], ruler[COLUMNS + 16];
    plot_range r = range_of(p);
    for (int i = 0; i < ROWS; i++) {
        memset(cell[i], ' ', COLUMNS);
        cell[i][COLUMNS] = '\0';
    }
    draw(p, r, cell);
    fprintf(out, "%s\n", p->title);
    for (int i = 0; i < ROWS; i++) {
        double y = pow(10, r.hi - (r.hi - r.lo) * i / (ROWS - 1));
        bool named = i % 4 == 0 || i == ROWS - 1;
        fprintf(out, "%9s %c%s\n", named ? sk_pricing_text(y, text, sizeof text) : "",
                named ? '+' : '|', cell[i]);
    }
    memset(ruler, ' ', sizeof ruler);
    for (int k = 0, free_from = 0; k < p->npoints; k++) {
        int at = (int)(x_part(p, p->x[k]) * (COLUMNS - 1) + 0.5);
        size_t len = strlen(bytes_text(p->x[k], text, sizeof text));
        if (at < free_from || at + (int)len > (int)sizeof ruler)
            continue;
        memcpy(ruler + at, text, len);
        free_from = at + (int)len + 4;
    }
    int end = (int)sizeof ruler;
    while (end > 0 && ruler[end - 1] == ' ')
        end--;
    fprintf(out, "%9s %.*s\n%9s %s\n", "", end, ruler, "", p->x_name);
    for (int i = 0; i < p->nlines; i++)
        fprintf(out, "%9s %c  %s\n", "", mark_of(i), p->name[i]);
}

/* ---- SVG ---- */

static double svg_x(double part)
{
    return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double svg_y(double part)
{
    return TOP + (1 - part) * (HEIGHT - TOP - BOTTOM);
}

/* Colours that can be told apart by those who do not see red and green as well (Okabe and Ito). */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#999999"};
enum { NCOLOURS = sizeof colours / sizeof *colours };

static void svg_text(FILE *out, double x, double y, const char *anchor, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    for (; *text; text++)
        if (*text == '<' || *text == '&')
            fprintf(out, *text == '<' ? "&lt;" : "&amp;");
        else
            fputc(*text, out);
    fprintf(out, "</text>\n");
}

static void svg_grid(const sk_plot *p, plot_range r, FILE *out)
{
    char text[32];
    for (int e = (int)ceil(r.lo); e <= (int)floor(r.hi); e++) {
        double y = svg_y((e - r.lo) / (r.hi - r.lo));
        fprintf(out, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#ddd\"/>\n", svg_x(0), y, svg_x(1));
        svg_text(out, LEFT - 8, y + 4, "end", sk_pricing_text(pow(10, e), text, sizeof text));
    }
    for (int k = 0; k < p->npoints; k += 1 + p->npoints / 10) {
        double x = svg_x(x_part(p, p->x[k]));
        fprintf(out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#ddd\"/>\n", x, svg_y(0), svg_y(1));
        svg_text(out, x, HEIGHT - BOTTOM + 18, "middle", bytes_text(p->x[k], text, sizeof text));
    }
    svg_text(out, LEFT, TOP - 18, "start", p->title);
    svg_text(out, svg_x(0.5), HEIGHT - 10, "middle", p->x_name);
}

static void svg_line(const sk_plot *p, plot_range r, int line, FILE *out)
{
    const char *colour = colours[line % NCOLOURS];
    bool drawn = false;
    fprintf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s d=\"", colour,
            line < NCOLOURS ? "" : " stroke-dasharray=\"6 3\"");
    for (int k = 0; k < p->npoints; k++) {
        double y = p->y[line][k];
        if (y > 0)
            fprintf(out, "%c%.1f %.1f", drawn ? 'L' : 'M', svg_x(x_part(p, p->x[k])),
                    svg_y(y_part(r, y)));
        drawn = y > 0;
    }
    fprintf(out, "\"/>\n<path d=\"M%d %dh20\" stroke=\"%s\" stroke-width=\"2\"/>\n",
            WIDTH - RIGHT + 12, TOP + 18 * line, colour);
    svg_text(out, WIDTH - RIGHT + 38, TOP + 18 * line + 4, "start", p->name[line]);
}

static void plot_svg(const sk_plot *p, FILE *out)
{
    plot_range r = range_of(p);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    svg_grid(p, r, out);
    for (int i = 0; i < p->nlines; i++)
        svg_line(p, r, i, out);
    fprintf(out, "</svg>\n");
}

/* ---- CSV ---- */

static void plot_csv(const sk_plot *p, FILE *out)
{
    fprintf(out, "algorithm,bytes,us\n");
    for (int i = 0; i < p->nlines; i++)
        for (int k = 0; k < p->npoints; k++)
            if (p->y[i][k] > 0)
                fprintf(out, "%s,%.0f,%.6g\n", p->name[i], p->x[k], p->y[i][k] * 1e-3);
}

/* ---- */

/* All algorithms that have a price at some size, over sizes of powers of two. */
static void price_all(sk_pricing *x, sk_plot *p)
{
    const sk_callspec *s = &x->spec;
    const char *mean = sk_coll_bytes_mean(s->coll);
    snprintf(p->title, sizeof p->title, "%s on %d ranks, predicted time", sk_coll_name(s->coll),
             s->nranks);
    snprintf(p->x_name, sizeof p->x_name, "bytes: %s",
             strncmp(mean, "unknown", 7) == 0 ? "one block" : mean);
    for (int64_t e = 1; e <= sk_pricing_largest(x) && p->npoints < SK_PLOT_POINTS; e *= 2)
        p->x[p->npoints++] = (double)(e * s->elem_size);
    for (int i = 0; i < x->n; i++) {
        int known = 0;
        for (int k = 0; k < p->npoints; k++) {
            sk_priced priced;
            bool got = sk_pricing_of(x, x->algo[i], (int64_t)p->x[k] / s->elem_size, &priced);
            p->y[p->nlines][k] = got ? priced.ns : 0;
            known += got;
        }
        p->name[p->nlines] = x->algo[i]->name;
        p->nlines += known > 0;
    }
}

bool sk_plot_prices(sk_pricing *x, const char *file, char *err, size_t size)
{
    sk_plot p = {0};
    price_all(x, &p);
    if (p.nlines == 0 || p.npoints < 2) {
        snprintf(err, size, "no algorithm has a price here");
        return false;
    }
    if (!file) {
        sk_plot_text(&p, stdout);
        return true;
    }
    FILE *f = fopen(file, "w");
    const char *end = strrchr(file, '.');
    if (f)
        (end && strcmp(end, ".csv") == 0 ? plot_csv : plot_svg)(&p, f);
    bool written = f && !ferror(f);
    written = f && fclose(f) == 0 && written;
    if (!written)
        snprintf(err, size, "%s: %s", file, strerror(errno));
    return written;
}
