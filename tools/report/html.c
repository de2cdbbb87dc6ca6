#include "report/html.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "strlist.h"

static void escape(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            fputc(*text, out);
        }
}

void sk_html_put(const sk_html *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (; *format; format++)
        if (*format == '$')
            escape(h->out, va_arg(args, const char *));
        else
            fputc(*format, h->out);
    va_end(args);
}

const char *sk_css(const sk_html *h, double x)
{
    return isfinite(x) ? sk_format(h->arena, "%.4g", x) : "0";
}

/* Colours are chosen so that text has a contrast of at least 4.5 in both schemes; collectives differ in lightness too,
 * for those who see fewer colours. */
static const char style[] =
    ":root{color-scheme:light "
    "dark;--bg:#f6f7f9;--card:#fff;--text:#1b2330;--dim:#566173;--line:#d9dee6;"
    "--skein:#1f6fd1;--host:#8a94a3;--saved:#188556;--lost:#c0392b;--wait:#d0562a;--heat:#c2410c;"
    "--c0:#1f6fd1;--c1:#e08a1e;--c2:#188556;--c3:#a8509e;--c4:#5fb3d9;--c5:#8b6b3d;--c6:#a7afbb}"
    "@media(prefers-color-scheme:dark){:root{--bg:#10151c;--card:#18202a;--text:#e7ecf2;--dim:#"
    "a3afbf;"
    "--line:#2d3845;--skein:#5aa2f5;--host:#7d8898;--saved:#41c08a;--lost:#f0796b;--wait:#f08a5d;--"
    "heat:#ff8a4c;"
    "--c0:#5aa2f5;--c1:#f2b05e;--c2:#41c08a;--c3:#d48bcb;--c4:#9ad8f2;--c5:#c8a46e;--c6:#66717f}}"
    "*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--text);"
    "font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif}"
    "header,main,footer{max-width:70rem;margin:0 auto;padding:0 1rem}header{padding-top:1.6rem}"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .3rem;overflow-wrap:anywhere}"
    "h2{font-size:1.2rem;margin:0 0 .2rem}h3{font-size:1rem;margin:1.2rem 0 .2rem}"
    "p{margin:.3rem 0 .7rem;max-width:46rem}header p,.dim,figcaption,footer{color:var(--dim)}"
    "section{background:var(--card);border:1px solid var(--line);border-radius:.7rem;padding:1rem "
    "1.1rem;"
    "margin:1rem 0}nav{font-size:.92rem;margin:.4rem 0}nav a{color:var(--skein);margin-right:.9rem;"
    "display:inline-block}.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(10rem,"
    "1fr));"
    "gap:.7rem;margin:1rem 0}.cards div{background:var(--card);border:1px solid var(--line);"
    "border-radius:.7rem;padding:.7rem .9rem}.cards dt{color:var(--dim);font-size:.86rem}"
    ".cards dd{margin:0;font-size:1.45rem;font-weight:600;line-height:1.25}"
    ".cards dd.more{font-size:.84rem;font-weight:400;color:var(--dim);line-height:1.35}"
    "figure{margin:.6rem 0}figcaption{font-size:.88rem;margin-top:.3rem;max-width:46rem}"
    ".wide{overflow-x:auto;margin:.5rem 0}.wide:focus{outline:2px solid var(--skein)}"
    "table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}"
    "caption{text-align:left;color:var(--dim);font-size:.88rem;padding-bottom:.3rem}"
    "th,td{padding:.32rem .6rem;border-bottom:1px solid "
    "var(--line);text-align:left;vertical-align:top}"
    "thead th{color:var(--dim);font-weight:600;font-size:.84rem;white-space:nowrap}"
    "tbody "
    "th{font-weight:500;min-width:8.5rem;overflow-wrap:anywhere}.n{text-align:right;white-space:"
    "nowrap}"
    ".bar{display:flex;height:.5rem;margin-top:.3rem;border-radius:.25rem;overflow:hidden;min-"
    "width:7rem}"
    ".bar i{display:block;height:100%}.skein{background:var(--skein)}.host{background:var(--host)}"
    ".saved{background:repeating-linear-gradient(135deg,var(--saved) 0 3px,transparent 3px 6px)}"
    ".wait{background:var(--wait)}.a{background:var(--c0)}.b{background:var(--c1)}"
    ".key{list-style:none;padding:0;margin:.4rem 0;display:flex;flex-wrap:wrap;gap:.2rem "
    "1.1rem;font-size:.9rem}"
    ".key i{display:inline-block;width:.85rem;height:.85rem;border-radius:.2rem;margin-right:.4rem;"
    "vertical-align:-.08rem}.plot{display:grid;grid-template-columns:auto 1fr;gap:0 "
    ".4rem;font-size:.8rem;"
    "color:var(--dim)}.plot .y{display:flex;flex-direction:column;justify-content:space-between;"
    "text-align:right}.plot .x{grid-column:2;display:flex;justify-content:space-between}"
    ".plot svg{width:100%;height:14rem;background:var(--bg);border-radius:.3rem;display:block}"
    ".c0{fill:var(--c0);background:var(--c0)}.c1{fill:var(--c1);background:var(--c1)}"
    ".c2{fill:var(--c2);background:var(--c2)}.c3{fill:var(--c3);background:var(--c3)}"
    ".c4{fill:var(--c4);background:var(--c4)}.c5{fill:var(--c5);background:var(--c5)}"
    ".c6{fill:var(--c6);background:var(--c6)}.heat rect{fill:var(--heat)}"
    ".two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,19rem),1fr));gap:0 "
    "2rem}"
    ".plot svg.heat{height:auto;aspect-ratio:1;max-width:28rem}.plot "
    "svg.low{height:9rem;max-width:28rem}"
    ".of28{max-width:28rem}.fw{fill:var(--wait)}.fs{fill:var(--skein)}"
    "ol.tips{padding-left:1.3rem;margin:.4rem 0}ol.tips li{margin:.55rem 0;max-width:48rem}"
    "ol.tips strong{display:block}summary{cursor:pointer;color:var(--skein);margin:.4rem 0}"
    ".good{color:var(--saved)}.bad{color:var(--lost)}footer{font-size:.86rem;padding-bottom:2rem}"
    "@media print{section{break-inside:avoid}nav{display:none}}";

void sk_page_begin(const sk_html *h, const char *title)
{
    sk_html_put(
        h,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n"
        "<meta name=\"referrer\" content=\"no-referrer\">\n<title>$</title>\n<style>",
        title);
    fputs(style, h->out);
    sk_html_put(h, "</style>\n</head>\n<body>\n");
}

void sk_page_end(const sk_html *h)
{
    sk_html_put(h, "</body>\n</html>\n");
}

void sk_table_begin(const sk_html *h, const char *caption, const char *heads)
{
    sk_strlist list = sk_strlist_new(h->arena);
    sk_strlist_split(&list, heads, "|");
    sk_html_put(h,
                "<div class=\"wide\" role=\"region\" aria-label=\"$\" "
                "tabindex=\"0\"><table><caption>$</caption>"
                "<thead><tr>",
                caption, caption);
    for (int i = 0; i < list.n; i++)
        sk_html_put(h,
                    *list.v[i] == '#' ? "<th scope=\"col\" class=\"n\">$</th>"
                                      : "<th scope=\"col\">$</th>",
                    list.v[i] + (*list.v[i] == '#'));
    sk_html_put(h, "</tr></thead><tbody>\n");
}

void sk_table_end(const sk_html *h)
{
    sk_html_put(h, "</tbody></table></div>\n");
}

void sk_card(const sk_html *h, const char *name, const char *value, const char *more)
{
    sk_html_put(h, "<div><dt>$</dt><dd>$</dd><dd class=\"more\">$</dd></div>\n", name, value, more);
}
