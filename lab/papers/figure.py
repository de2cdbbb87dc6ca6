"""figure.py: the data file of a figure or table (README.md tells its form), the jobs it asks for, and
what its claims come to when the results are there."""
import csv
import hashlib
import io
import itertools
import os
import re
import shlex
import statistics
import tomllib

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
KEYS = {
    "": """paper figure where title text x xscale y yscale panel columns compute hide show style order run derive average printed claim
        note""",
    "run": "command series x only with quick seconds timeout alone",
    "derive": "series over under",
    "average": "series over under by",
    "printed": "series x y panel",
    "claim": "text where printed unit sense value best slack floor why goal full",
    "note": "text full",
}


def short(v):
    return f"{v:g}" if isinstance(v, float) else v


class Mistake(Exception):
    """Of a data file or of what a command printed."""


class Job:
    """One command, and the constant columns of its rows."""

    def __init__(self, figure, command, columns, run):
        self.figure, self.command, self.columns, self.data = figure, command, columns, run
        self.seconds, self.timeout = run.get("seconds", 5), run.get("timeout", 1200)
        self.alone = run.get("alone", False)
        self.rows = self.error = None
        self.took = 0

    def key(self):
        """Names the result: the command, and the contents of every file that it names."""
        h = hashlib.sha256()
        for word in shlex.split(self.command):
            h.update(word.encode() + b"\0")
            path = os.path.join(ROOT, word)
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    h.update(hashlib.sha256(f.read()).digest())
        return h.hexdigest()[:20]

    def read(self, text):
        """Takes the CSV that the command has printed."""
        rows = list(csv.DictReader(io.StringIO(text)))
        if not rows:
            raise Mistake("printed no rows")
        kept = []
        for row in rows:
            for name, value in row.items():
                try:
                    row[name] = float(value)
                except (TypeError, ValueError):
                    pass
            wanted = {**{k: v for k, v in self.columns.items() if k in row}, **self.data.get("only", {})}
            if all(row.get(k) == v for k, v in wanted.items()):
                kept.append(self.place(row))
        if not kept:
            raise Mistake(f"printed no rows with {wanted}")
        self.rows = kept

    def place(self, row):
        """The row with its columns series, x and y."""
        row.update({k: v for k, v in self.columns.items() if k not in row})
        if "series" in self.data:
            row["series"] = self.data["series"].format_map({k: short(v) for k, v in row.items()})
        if "x" in self.data:
            row["x"] = row[self.data["x"]]
        if not {"series", "x"} <= row.keys() or "y" not in row and not self.figure.get("compute"):
            raise Mistake(f"no column series, x or y among {', '.join(row)}")
        return row


class Figure:
    def __init__(self, path, build, quick):
        self.name = os.path.splitext(os.path.basename(path))[0]
        with open(path, "rb") as f:
            try:
                self.data = tomllib.load(f)
            except tomllib.TOMLDecodeError as e:
                raise Mistake(f"{self.name}: {e}") from e
        self.check("", self.data)
        for part in ("run", "derive", "average", "printed", "claim", "note"):
            for table in self.data.get(part, []):
                self.check(part, table)
        self.quick = quick
        self.mistakes = []  # in notes
        self.jobs = [job for run in self.data.get("run", []) for job in self.jobs_of(run, build)]

    def check(self, part, table):
        unknown = table.keys() - set(KEYS[part].split())
        if unknown:
            raise Mistake(f"{self.name}: {part or 'the file'} has unknown {', '.join(sorted(unknown))}")

    def get(self, name, default=""):
        return self.data.get(name, default)

    def jobs_of(self, run, build):
        """A job for each combination of the values in `with`; `quick` replaces some of them."""
        values = dict(run.get("with", {}))
        if self.quick:
            if run.get("quick") is False:
                return
            values.update(run.get("quick", {}))
        lists = [v if isinstance(v, list) else [v] for v in values.values()]
        for chosen in itertools.product(*lists):
            columns = dict(zip(values, chosen))
            columns = {k: v.format(**columns) if isinstance(v, str) else v for k, v in columns.items()}
            words = {**columns, "build": build, "mode": "quick" if self.quick else "full"}
            yield Job(self, run["command"].format(**words), columns, run)

    def keys(self):
        """The columns that tell the points of a series from each other."""
        return ["x"] + [k for k in [self.get("panel"), *self.get("columns", [])] if k]

    def rows(self):
        """All points, with the derived series."""
        rows = [row for job in self.jobs for row in job.rows or []]
        if "compute" in self.data:
            rows = [{**row, "y": evaluate(self.data["compute"], row)} for row in rows]
        return rows + self.averages(rows) + self.derived(rows)

    def derived(self, rows):
        keys, more = self.keys(), []
        for d in self.get("derive", []):
            under = {tuple(r.get(k) for k in keys): r["y"] for r in rows if r["series"] == d["under"]}
            for r in [r for r in rows if r["series"] == d["over"]]:
                k = tuple(r.get(k) for k in keys)
                if under.get(k):
                    more.append({**{n: r.get(n) for n in keys}, "series": d["series"], "y": r["y"] / under[k]})
        return more

    def averages(self, rows):
        """A ratio of two series, its mean over all x, over a column."""
        keys, more = self.keys(), []
        for a in self.get("average", []):
            of = {}
            under = {tuple(r.get(k) for k in keys): r["y"] for r in rows if r["series"] == a["under"]}
            for r in rows:
                k = tuple(r.get(k) for k in keys)
                if r["series"] == a["over"] and under.get(k):
                    of.setdefault((r[a["by"]], r.get(self.get("panel"))), []).append(r["y"] / under[k])
            more += [{"series": a["series"], "x": by, self.get("panel") or "": panel, "y": statistics.fmean(ys)}
                     for (by, panel), ys in of.items()]
        return more

    def names(self):
        """What expressions may use; see README.md."""
        keys, rows = self.keys(), self.rows()

        def points(series, y="y", **only):
            """{(x, panel, columns...): y} of a series."""
            return {tuple(r.get(k) for k in keys): r[y] for r in rows
                    if r["series"] == series and all(r.get(k) == v for k, v in only.items())
                    and isinstance(r.get(y), float)}

        def ys(series, y="y", **only):
            found = list(points(series, y, **only).values())
            if not found:
                raise Mistake(f"no points of {series} {only or ''}")
            return found

        def at(series, x, y="y", **only):
            return ys(series, y, x=x, **only)[0]

        def ratio(over, under, y="y", **only):
            """over / under wherever both have a point."""
            a, b = points(over, y, **only), points(under, y, **only)
            both = [a[k] / b[k] for k in a if k in b and b[k]]
            if not both:
                raise Mistake(f"no points in common: {over}, {under} {only or ''}")
            return both

        def crossing(better, worse, **only):
            """The least x from which on `better` is never above `worse`; infinite if there is none."""
            a, b = points(better, **only), points(worse, **only)
            win = float("inf")
            for x in sorted({k[0] for k in a} & {k[0] for k in b}, reverse=True):
                if any(a[k] > b[k] for k in a if k in b and k[0] == x):
                    break
                win = x
            return win

        def value(text):
            """The number of a claim of this file, by its text."""
            return next(evaluate(c["value"], names) for c in self.get("claim", []) if c["text"] == text)

        names = dict(points=points, ys=ys, at=at, ratio=ratio, crossing=crossing, value=value,
                     rows=rows, mean=statistics.fmean, median=statistics.median,
                     size=size_text, quick=self.quick)
        return names

    def claims(self):
        names = self.names()
        for claim in self.get("claim", []):
            if not (self.quick and claim.get("full")):
                yield Verdict(claim, names)

    def notes(self):
        names = self.names()
        for note in self.get("note", []):
            if self.quick and note.get("full"):
                continue
            try:
                yield re.sub(r"\{((?:[^{}]|\{[^{}]*\})*?)(:[-+,.0-9]*[defg%]?)?\}",
                             lambda m: format(evaluate(m[1], names), (m[2] or ":")[1:]), note["text"])
            except Mistake as e:
                self.mistakes.append(str(e))
                yield f"{note['text']} ({e})"


def size_text(n):
    """Bytes as people write them."""
    if n == float("inf"):
        return "no size"
    for unit, name in ((1 << 20, "MB"), (1 << 10, "KB")):
        if n >= unit:
            return f"{n / unit:.4g} {name}"
    return f"{n:.4g} B"


def evaluate(text, names):
    try:
        return eval(str(text), dict(names))
    except Mistake:
        raise
    except Exception as e:
        raise Mistake(f"{text}: {e}") from e


class Verdict:
    """beaten: better than printed by more than `slack`; met: not worse by more than that; missed."""

    def __init__(self, claim, names):
        self.claim, self.error = claim, None
        self.value = self.best = None
        self.sense = claim.get("sense", ">=")
        self.printed = claim.get("printed", True)
        try:
            self.value = evaluate(claim["value"], names)
            if "best" in claim:
                self.best = evaluate(claim["best"], names)
            self.state = self.judge()
            self.holds = self.holding(names)
        except Mistake as e:
            self.error, self.state, self.holds = str(e), "missed", False

    def better(self, v, limit):
        if self.sense == "true":
            return bool(v)
        return v >= limit if self.sense == ">=" else v <= limit

    def judge(self):
        if self.sense == "true":
            return "met" if self.value else "missed"
        slack = self.claim.get("slack", 0.05)
        worse, beyond = (1 - slack, 1 + slack) if self.sense == ">=" else (1 + slack, 1 - slack)
        if self.sense == "~":
            return "met" if abs(self.value - self.printed) <= slack * abs(self.printed) else "missed"
        tops = [v for v in (self.value, self.best) if v is not None]
        if any(v != self.printed and self.better(v, self.printed * beyond) for v in tops):
            return "beaten"
        return "met" if any(self.better(v, self.printed * worse) for v in tops) else "missed"

    def holding(self, names):
        """False fails the run: worse than the floor, or missed and nothing says why."""
        if "floor" in self.claim:
            return self.better(self.value, evaluate(self.claim["floor"], names))
        return self.state != "missed" or "why" in self.claim
