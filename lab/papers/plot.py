"""plot.py: a panel of a figure as SVG, drawn by gnuplot. Colours become variables of the page's style, so
that it shows in light and in dark."""
import math
import re
import subprocess

WIDTH, HEIGHT, COLOURS = 480, 330, 8
SHAPES = (7, 5, 9, 13)
TEXT, GRID = "#010203", "#010204"  # replaced by variables below


def colour(i):
    return f"#0a0b{i % COLOURS:02x}"


def scale_of(kind, axis, values):
    """The commands for an axis."""
    if kind == "linear" or not values:
        return [f"set {axis}range [0:*]"] if kind == "linear" else []
    lines = [f"set logscale {axis} {2 if kind == 'bytes' else 10}"]
    if kind == "bytes":
        low, high = (round(math.log2(max(v, 1))) for v in (min(values), max(values)))
        step = max(1, math.ceil((high - low) / 6))
        tics = ", ".join(f'"{short_size(1 << e)}" {1 << e}' for e in range(low, high + 1, step))
        lines.append(f"set {axis}tics ({tics})")
    elif axis == "x" and len(set(values)) <= 8:
        lines.append(f"set xtics ({', '.join(f'{v:g}' for v in sorted(set(values)))})")
    return lines


def short_size(n):
    for e, unit in ((30, "G"), (20, "M"), (10, "K")):
        if n >= 1 << e:
            return f"{n >> e}{unit}"
    return str(n)


def quoted(text):
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def script(figure, rows, printed, names, span):
    """rows and printed: of one panel; names: the series of the whole figure, for equal colours; span: its
    least and greatest y, for equal scales."""
    bars = figure.get("style") == "bars"
    xs = [r["x"] for r in rows + printed if isinstance(r["x"], (int, float))]
    ys = [r["y"] for r in rows + printed if isinstance(r["y"], (int, float)) and r["y"] > 0]
    lines = [f'set terminal svg size {WIDTH},{HEIGHT} dynamic font "sans-serif,13" noenhanced',
             f'set border 3 lc rgb "{TEXT}"', f'set tics nomirror textcolor rgb "{TEXT}"',
             f'set grid lc rgb "{GRID}" lt 1 lw 1', f'set xlabel {quoted(figure.get("x"))} textcolor rgb "{TEXT}"',
             f'set ylabel {quoted(figure.get("y"))} textcolor rgb "{TEXT}" offset 1', "unset key", "set datafile missing '?'"]
    lines += scale_of(figure.get("yscale", "log"), "y", ys)
    if figure.get("yscale", "log") == "log" and span:
        low, high = (math.log10(v) for v in span)
        margin = 0.05 * (high - low) + 0.02
        lines.append(f"set yrange [{10 ** (low - margin):g}:{10 ** (high + margin):g}]")
        if low >= 0:
            lines.append('set format y "%.0s%c"')  # 100k, not 1e+05
        if high - low < 2.2:
            tics = [m * 10.0 ** e for e in range(math.floor(low) - 1, math.ceil(high) + 1) for m in (1, 2, 5)]
            lines.append("set ytics (" + ", ".join(f"{t:g}" for t in tics) + ")")
    if bars:
        return lines + bar_script(rows + printed, names)
    lines += scale_of(figure.get("xscale", "bytes"), "x", xs)
    parts, data = [], []
    for i, name in enumerate(names):
        for points, style in ((rows, f"linespoints lw {2.4 if i % 2 else 2} dt {1 + i % 2} pt {SHAPES[i % 4]} ps 0.6"),
                              (printed, "points pt 3 ps 1.2 lw 2")):
            found = sorted((p["x"], p["y"]) for p in points if p["series"] == name and p["y"] != "")
            if found:
                parts.append(f"'-' using 1:2 with {style} lc rgb '{colour(i)}' notitle")
                data += [f"{x:.10g} {y:.10g}" for x, y in found] + ["e"]
    return lines + ["plot " + ", ".join(parts)] + data if parts else []


def bar_script(rows, names):
    xs = list(dict.fromkeys(r["x"] for r in rows))
    shown = [n for n in names if any(r["series"] == n for r in rows)]
    lines = ["set style data histogram", "set style histogram clustered gap 1", "set style fill solid 1 noborder",
             "set boxwidth 0.9 relative", f"set xrange [-0.6:{len(xs) - 0.4}]", "set grid noxtics"]
    parts, data = [], []
    for name in shown:
        of = {r["x"]: r["y"] for r in rows if r["series"] == name}
        parts.append(f"'-' using 2:xtic(1) lc rgb '{colour(names.index(name))}' notitle")
        data += [f"{quoted(short(x))} {of.get(x, '?')}" for x in xs] + ["e"]
    return lines + ["plot " + ", ".join(parts)] + data


def short(x):
    return f"{x:g}" if isinstance(x, float) else x


def svg(figure, rows, printed, names, span, prefix):
    """The SVG's text; its ids begin with `prefix`, because a page has many. "": nothing to draw."""
    text = "\n".join(script(figure, rows, printed, names, span))
    if not text:
        return ""
    done = subprocess.run(["gnuplot"], input=text, capture_output=True, text=True)
    if done.returncode or "<svg" not in done.stdout:
        return f"<pre>gnuplot: {done.stderr[-500:]}</pre>"
    out = done.stdout[done.stdout.index("<svg"):]
    out = re.sub(r"(id=[\"']|href=[\"']#|url\(#)", rf"\g<1>{prefix}", out)
    out = re.sub(r"<title>.*?</title>|<desc>.*?</desc>", "", out, flags=re.S)
    out = re.sub(r' color="\w+"|<g [^>]*>\s*</g>|<filter.*?</filter>', "", out, flags=re.S)
    out = re.sub(r"rgb\( *(\d+), *(\d+), *(\d+)\)", lambda m: variable(*(int(v) for v in m.groups())), out)
    return out


def variable(r, g, b):
    text = f"#{r:02x}{g:02x}{b:02x}"
    if text == GRID:
        return "var(--grid)"
    if (r, g) == (0x0a, 0x0b):
        return f"var(--s{b})"
    return "var(--text)" if text in (TEXT, "#000000") else text
