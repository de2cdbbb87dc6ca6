/* plot.c: see plot.h. */
#include "plot/plot.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

const char *sk_plot_time(double ns, char *out, size_t size)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int u = 0;
    for (; u < 3 && ns >= 999.5; u++)
        ns /= 1e3;
    snprintf(out, size, ns < 9.995 ? "%.2f %s" : ns < 99.95 ? "%.1f %s" : "%.0f %s", ns, units[u]);
    return out;
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
        fprintf(out, "%9s %c%s\n", named ? sk_plot_time(y, text, sizeof text) : "",
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

static void svg_escape(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '<' || *text == '&')
            fprintf(out, *text == '<' ? "&lt;" : "&amp;");
        else
            fputc(*text, out);
}

static void svg_text(FILE *out, double x, double y, const char *anchor, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    svg_escape(out, text);
    fprintf(out, "</text>\n");
}

static void svg_grid(const sk_plot *p, plot_range r, FILE *out)
{
    char text[32];
    for (int e = (int)ceil(r.lo); e <= (int)floor(r.hi); e++) {
        double y = svg_y((e - r.lo) / (r.hi - r.lo));
        fprintf(out, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#ddd\"/>\n", svg_x(0), y, svg_x(1));
        svg_text(out, LEFT - 8, y + 4, "end", sk_plot_time(pow(10, e), text, sizeof text));
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

/* One plot, below `at` others. */
static void svg_panel(const sk_plot *p, int at, FILE *out)
{
    plot_range r = range_of(p);
    fprintf(out, "<g transform=\"translate(0 %d)\" role=\"img\"><title>", at * HEIGHT);
    svg_escape(out, p->title);
    fprintf(out, "</title>\n");
    svg_grid(p, r, out);
    for (int i = 0; i < p->nlines; i++)
        svg_line(p, r, i, out);
    fprintf(out, "</g>\n");
}

static void write_svg(const sk_plot *p, int n, FILE *out)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            WIDTH, n * HEIGHT, WIDTH, n * HEIGHT);
    for (int i = 0; i < n; i++)
        svg_panel(&p[i], i, out);
    fprintf(out, "</svg>\n");
}

/* ---- gnuplot ---- */

/* A text in double quotes, without the marks of gnuplot's enhanced text. */
static void gnuplot_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if (*text != '\n')
            fputc(*text, out);
    fputc('"', out);
}

static void gnuplot_panel(const sk_plot *p, FILE *out)
{
    fprintf(out, "$data << END\n");
    for (int i = 0; i < p->nlines; i++, fprintf(out, "\n\n"))
        for (int k = 0; k < p->npoints; k++) {
            if (p->y[i][k] > 0)
                fprintf(out, "%.17g %.6g\n", p->x[k], 1e-3 * p->y[i][k]);
            else
                fprintf(out, "\n"); /* a gap */
        }
    fprintf(out, "END\nset title ");
    gnuplot_text(out, p->title);
    fprintf(out, " noenhanced\nset xlabel ");
    gnuplot_text(out, p->x_name);
    fprintf(out, " noenhanced\nplot");
    for (int i = 0; i < p->nlines; i++) {
        fprintf(out,
                "%s $data index %d with linespoints lw 2 pt 7 ps 0.5 lc rgb \"%s\" dt %d title ",
                i ? ", \\\n" : "", i, colours[i % NCOLOURS], i < NCOLOURS ? 1 : 2);
        gnuplot_text(out, p->name[i]);
        fprintf(out, " noenhanced");
    }
    fprintf(out, "\nundefine $data\n");
}

static void write_gnuplot(const sk_plot *p, int n, FILE *out)
{
    fprintf(out,
            "set terminal svg size %d,%d dynamic background \"#ffffff\" font \"sans-serif,12\"\n"
            "set logscale x 2\nset logscale y 10\nset format x \"%%.0b%%B\"\nset ylabel \"us\"\n"
            "set grid lc rgb \"#dddddd\"\nset key outside right top Left reverse\n",
            WIDTH, n * HEIGHT);
    if (n > 1)
        fprintf(out, "set multiplot layout %d,1\n", n);
    for (int i = 0; i < n; i++)
        gnuplot_panel(&p[i], out);
    if (n > 1)
        fprintf(out, "unset multiplot\n");
}

/* ---- CSV ---- */

static void write_csv(const sk_plot *p, FILE *out)
{
    fprintf(out, "algorithm,bytes,us\n");
    for (int i = 0; i < p->nlines; i++)
        for (int k = 0; k < p->npoints; k++)
            if (p->y[i][k] > 0)
                fprintf(out, "%s,%.0f,%.6g\n", p->name[i], p->x[k], p->y[i][k] * 1e-3);
}

/* ---- files ---- */

/* Whether a gnuplot that draws SVG is there. */
static bool has_gnuplot(void)
{
    return system("gnuplot -e 'set terminal svg' </dev/null >/dev/null 2>&1") == 0;
}

/* Its picture in `file`; false: it failed. */
static bool run_gnuplot(const sk_plot *p, int n, const char *file)
{
    fflush(NULL);
    setenv("SK_PLOT_FILE", file, 1);
    FILE *f = popen("exec 2>/dev/null; exec gnuplot >\"$SK_PLOT_FILE\"", "w");
    if (!f)
        return false;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* it may end early */
    write_gnuplot(p, n, f);
    bool written = fflush(f) == 0 && !ferror(f);
    written = pclose(f) == 0 && written;
    signal(SIGPIPE, before);
    return written;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Below each other, with an empty line between them. */
static void write_csvs(const sk_plot *p, int n, FILE *out)
{
    for (int i = 0; i < n; i++) {
        if (i)
            fputc('\n', out);
        write_csv(&p[i], out);
    }
}

bool sk_plot_save(const sk_plot *p, int n, const char *file, char *err, size_t size)
{
    void (*write)(const sk_plot *, int, FILE *) = ends_with(file, ".gp")    ? write_gnuplot
                                                  : ends_with(file, ".csv") ? write_csvs
                                                                            : write_svg;
    if (write == write_svg && has_gnuplot() && run_gnuplot(p, n, file))
        return true;
    FILE *f = fopen(file, "w");
    if (f)
        write(p, n, f);
    bool written = f && !ferror(f);
    written = f && fclose(f) == 0 && written;
    if (!written)
        snprintf(err, size, "%s: %s", file, strerror(errno));
    return written;
}

int sk_plot_line(sk_plot *p, const char *name)
{
    int i = 0;
    while (i < p->nlines && strcmp(p->name[i], name) != 0)
        i++;
    if (i == SK_PLOT_LINES)
        return -1;
    p->name[i] = name;
    p->nlines += i == p->nlines;
    return i;
}
