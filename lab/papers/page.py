"""page.py: the page: one file with everything in it, for phones and for wide screens, light and dark."""
import base64
import datetime
import html
import io
import csv
import os
import re
import shutil
import tomllib

import plot

HERE = os.path.dirname(os.path.realpath(__file__))


def esc(text):
    return html.escape(str(text))


def rich(text):
    """Text with `code` in it."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", esc(text))


def digits(v, unit=""):
    if isinstance(v, str):
        return esc(v)
    if isinstance(v, bool):
        return "yes" if v else "no"
    if unit == "bytes":
        from figure import size_text
        return size_text(v)
    text = f"{v:.3g}" if abs(v) < 1000 else f"{v:,.0f}"
    return text + (unit if unit in ("x", "%", "") else " " + unit)


def number(v):
    """What a claim's expression gives."""
    unit = v.claim.get("unit", "x")
    text = digits(v.value, unit)
    return text if v.best is None else f"{text}, Skein's own {digits(v.best, unit)}"


def printed(v):
    return "as said" if v.sense == "true" else digits(v.printed, v.claim.get("unit", "x"))


def claim_rows(figure):
    out = []
    for v in figure.claims():
        c = v.claim
        notes = []
        if v.error:
            notes.append(f'<p class="bad">{esc(v.error)}</p>')
        elif not v.holds:
            notes.append('<p class="bad">Worse than it was: this fails the run.</p>')
        alone = v.value is not None and v.better(v.value, v.printed)  # without Skein's own algorithm
        if "why" in c and not alone:
            notes.append(f"<p class=why>{rich(c['why'])}</p>")
        where = "Skein's goal" if c.get("goal") else c.get("where", "")
        got = "&ndash;" if v.value is None else digits(v.value, c.get("unit", "x"))
        best = "" if v.best is None else f"<br><small>Skein's own: {digits(v.best, c.get('unit', 'x'))}</small>"
        sign = {">=": "&ge; ", "<=": "&le; ", "~": "about "}.get(v.sense, "")
        out.append(f'<tr><td><b class="chip {v.state}">{v.state}</b></td>'
                   f"<td>{rich(c['text'])} <small>{esc(where)}</small>{''.join(notes)}</td>"
                   f'<td class=n data-l="stated">{sign}{printed(v)}</td>'
                   f'<td class=n data-l="here">{got}{best}</td></tr>')
    if not out:
        return ""
    return ("<table class=claims><thead><tr><th></th><th>claim</th><th>stated</th><th>here</th></tr></thead>"
            f"<tbody>{''.join(out)}</tbody></table>")


def legend(names, with_printed):
    items = [f'<span><i style="background:var(--s{i % plot.COLOURS})"></i>{esc(n)}</span>' for i, n in enumerate(names)]
    if with_printed:
        items.append("<span><i class=star>&#10033;</i>printed in the paper</span>")
    return f'<p class=legend>{"".join(items)}</p>'


def panels(figure, rows, out):
    """The plots, one per value of the column `panel`."""
    column = figure.get("panel")
    prints = figure.get("printed", [])
    names = list(dict.fromkeys(r["series"] for r in rows + prints))
    values = list(dict.fromkeys(r.get(column) for r in rows)) if column else [None]
    ys = [r["y"] for r in rows + prints if isinstance(r["y"], (int, float)) and r["y"] > 0]
    span = (min(ys), max(ys)) if ys else None
    parts = []
    for i, value in enumerate(values):
        mine = [r for r in rows if not column or r.get(column) == value]
        here = [p for p in prints if not column or str(p.get("panel", value)) == plot_value(value)]
        text = plot.svg(figure, mine, here, names, span, f"{figure.name}-{i}-")
        if not text:
            continue
        with open(os.path.join(out, f"{figure.name}{f'-{i}' if column else ''}.svg"), "w") as f:
            f.write(text.replace("<svg", "<svg style='--text:#222;--grid:#ddd;" + "".join(
                f"--s{k}:{c};" for k, c in enumerate(LIGHT)) + "'", 1))
        caption = f"<figcaption>{esc(panel_name(column, value))}</figcaption>" if column else ""
        parts.append(f"<figure>{caption}{text}</figure>")
    return legend(names, bool(prints)) + f'<div class="plots">{"".join(parts)}</div>' if parts else ""


def panel_name(column, value):
    """8 processes; density 0.1"""
    if isinstance(value, str):
        return value
    return f"{column} {value:g}" if value % 1 else f"{value:g} {column}"


def plot_value(v):
    return f"{v:g}" if isinstance(v, float) else str(v)


def table(figure, rows):
    """style = "table": a row for each x and panel, a column for each series."""
    names = list(dict.fromkeys(r["series"] for r in rows + figure.get("printed", [])))
    column = figure.get("panel")
    cells = {}
    for r in figure.get("printed", []) + rows:
        cells.setdefault((plot_value(r.get(column, r.get("panel", ""))) if column else "", plot_value(r["x"])), {})[r["series"]] = r["y"]
    head = "".join(f"<th>{esc(n)}</th>" for n in names)
    body = "".join(
        f"<tr>{f'<th>{esc(p)}</th>' if column else ''}<th>{esc(x)}</th>"
        + "".join(f"<td class={'t' if isinstance(of.get(n), str) else 'n'}>{digits(of[n]) if n in of else ''}</td>" for n in names) + "</tr>"
        for (p, x), of in cells.items())
    first = f"<th class=h>{esc(column)}</th>" if column else ""
    return (f'<div class=wide><table class=values><thead><tr>{first}<th class=h>{esc(figure.get("x"))}</th>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div><p class=unit>{esc(figure.get('y'))}</p>")


def details(figure, rows):
    text = io.StringIO()
    names = list(dict.fromkeys(k for row in rows for k in row))
    w = csv.DictWriter(text, names, restval="")
    w.writeheader()
    w.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in r.items()} for r in rows)
    data = base64.b64encode(text.getvalue().encode()).decode()
    commands = "\n".join(dict.fromkeys(job.command for job in figure.jobs))
    return (f"<details><summary>{len(rows)} values, {len(figure.jobs)} commands</summary>"
            f'<p><a download="{figure.name}.csv" href="data:text/csv;base64,{data}">{figure.name}.csv</a></p>'
            f"<pre>{esc(commands)}</pre></details>")


def section(figure, out):
    rows = figure.rows()
    shown = [r for r in rows if r["series"] not in figure.get("hide", [])]
    if figure.get("show"):
        shown = [r for r in rows if re.search(figure.get("show"), r["series"])]
    if figure.get("average"):
        shown = [r for r in rows if r["series"] in [a["series"] for a in figure.get("average")]]
    parts = [f'<section id="{figure.name}"><h3><small>{esc(figure.get("figure"))}</small> {esc(figure.get("title"))}</h3>']
    if figure.get("text"):
        parts.append(f"<p>{rich(figure.get('text'))}</p>")
    parts.append(claim_rows(figure))
    parts += [f"<p class=note>{rich(n)}</p>" for n in figure.notes()]
    for job in figure.jobs:
        if job.error:
            parts.append(f"<p class=bad>{esc(job.command)}: {esc(job.error)}</p>")
    if rows:
        parts.append(table(figure, shown) if figure.get("style") == "table" else panels(figure, shown, out))
        parts.append(details(figure, rows))
    parts.append("</section>")
    return "".join(parts)


def counts(figures):
    n = {"beaten": 0, "met": 0, "missed": 0}
    for f in figures:
        for v in f.claims():
            n[v.state] += 1
    return n


def chips(n):
    return " ".join(f'<b class="chip {k}">{v} {k}</b>' for k, v in n.items() if v)


def write(figures, out, quick):
    with open(os.path.join(HERE, "papers.toml"), "rb") as f:
        papers = tomllib.load(f)
    svgs = os.path.join(out, "svg")
    shutil.rmtree(svgs, ignore_errors=True)
    os.makedirs(svgs)
    body, contents = [], []
    for key, paper in papers.items():
        mine = sorted((f for f in figures if f.get("paper") == key), key=lambda f: (f.get("order", 0), f.name))
        if not mine:
            continue
        contents.append(f'<li><a href="#{key}">{esc(paper["title"])}</a> {chips(counts(mine))}</li>')
        body.append(f'<h2 id="{key}">{esc(paper["title"])}</h2><p>{rich(paper["text"])}</p>'
                    + "".join(section(f, svgs) for f in mine))
    mode = "Quick run: fewer sizes and ranks than the papers have." if quick else "Full run."
    when = datetime.date.today().isoformat()
    text = TEMPLATE.format(style=STYLE, mode=mode, when=when, chips=chips(counts(figures)), contents="".join(contents),
                           body="".join(body))
    with open(os.path.join(out, "index.html"), "w") as f:
        f.write(text)


LIGHT = ["#c2410c", "#1d4ed8", "#15803d", "#9333ea", "#1f2937", "#0891b2", "#be185d", "#8a8a8a"]
DARK = ["#fb923c", "#60a5fa", "#4ade80", "#c084fc", "#f5f5f4", "#22d3ee", "#f472b6", "#8a8a8a"]


def palette(colours):
    return "".join(f"--s{i}:{c};" for i, c in enumerate(colours))


STYLE = f"""
:root{{color-scheme:light dark;--text:#1c1c1e;--soft:#5c5c66;--ground:#fff;--card:#f6f6f4;--line:#deded8;--grid:#e2e2dc;
--good:#15803d;--great:#1d4ed8;--bad:#b91c1c;{palette(LIGHT)}}}
@media (prefers-color-scheme:dark){{:root{{--text:#ececf0;--soft:#a4a4b0;--ground:#121214;--card:#1c1c20;--line:#34343a;
--grid:#2e2e34;--good:#4ade80;--great:#60a5fa;--bad:#f87171;{palette(DARK)}}}}}
""" + """
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:68rem;background:var(--ground);color:var(--text);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
h1{margin:0 0 .3rem;font-size:1.7rem;line-height:1.2}
h2{margin:3rem 0 .2rem;padding-top:1rem;border-top:2px solid var(--line);font-size:1.35rem}
h3{margin:0 0 .5rem;font-size:1.05rem}h3 small{color:var(--soft);font-weight:600;margin-right:.4rem}
p{margin:.4rem 0;max-width:46rem}a{color:var(--great)}small,.unit,figcaption,summary{color:var(--soft);font-size:.85rem}
code,pre{font:.85em/1.45 ui-monospace,monospace}pre{overflow-x:auto;background:var(--ground);padding:.6rem;border-radius:6px}
nav ul{list-style:none;padding:0;display:grid;grid-template-columns:repeat(auto-fill,minmax(19rem,1fr));gap:.35rem 1.5rem}
section{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem;margin:1rem 0}
table{border-collapse:collapse;width:100%;margin:.6rem 0;font-size:.93rem}
th,td{padding:.35rem .5rem;text-align:left;vertical-align:top;border-top:1px solid var(--line)}thead th{border:0;color:var(--soft);
font-weight:600;font-size:.8rem}.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.claims thead th:nth-child(n+3){text-align:right}.claims td:first-child{width:5.2rem}.claims td p{font-size:.88rem;color:var(--soft)}td p.bad,.bad{color:var(--bad)!important}
.chip{display:inline-block;padding:0 .5em;border-radius:99px;font-size:.78rem;font-weight:600;border:1px solid;white-space:nowrap}
.met{color:var(--good)}.beaten{color:var(--great)}.missed{color:var(--bad)}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:.8rem}
figure{margin:0;max-width:36rem}figcaption{text-align:center;font-weight:600}svg{display:block;width:100%;height:auto}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:.85rem;max-width:none}
.legend i{display:inline-block;width:.8rem;height:.8rem;border-radius:3px;margin-right:.4rem;vertical-align:-.08em}
.legend i.star{font-style:normal;border-radius:0;line-height:.8rem}.wide{overflow-x:auto}.note{border-left:3px solid var(--great);padding-left:.7rem}
.values th,.values td{white-space:nowrap}.values td.t{white-space:normal;min-width:11rem}.values thead th{text-align:right}.values thead th.h{text-align:left}
@media (max-width:40rem){body{padding:1rem .6rem}section{padding:.8rem .7rem}.claims thead{display:none}
.claims tr{display:grid;grid-template-columns:auto auto 1fr;gap:0 1rem;border-top:1px solid var(--line);padding:.4rem 0}
.claims td{border:0;padding:.1rem 0}.claims td:first-child{width:auto;grid-row:1}.claims td:nth-child(2){grid-column:1/-1;grid-row:2}
.claims td.n{text-align:left;grid-row:1}.claims td.n::before{content:attr(data-l) " ";color:var(--soft);font-size:.8rem}}
"""

TEMPLATE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Skein: the papers' figures</title><style>{style}</style></head><body>
<h1>The papers' figures, on Skein</h1>
<p>{mode} {when}. <b>met</b>: as the paper says. <b>beaten</b>: better than that, by the paper's algorithm or by
Skein's own. <b>missed</b>: not reached; the reason is with the claim.</p>
<p>{chips}</p>
<nav><ul>{contents}</ul></nav>
{body}
</body></html>
"""
