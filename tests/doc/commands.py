#!/usr/bin/env python3
"""commands.py DIR FILE...: the commands of `console` blocks and of job scripts in Markdown files, a folder of DIR each.
commands.py --compare CASE: whether the output of a command (CASE/out) has the lines that the page shows (CASE/shown)."""
import os
import re
import sys


def blocks(text):
    """Pairs of the comments right before a block, and the block with its language."""
    for m in re.finditer(r"((?:^<!-- .*? -->\n)*)^```(\w*)\n(.*?)\n```$", text, flags=re.S | re.M):
        yield dict(re.findall(r"<!-- (\w+): (.*?) -->", m.group(1))), m.group(2), m.group(3)


def commands(body):
    """A command and the lines shown below it; a line that ends in a backslash goes on in the next."""
    for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
        command, _, shown = re.match(r"((?:.*\\\n)*.*)(\n?)((?s:.*))", part).groups()
        yield command, shown


def write(folder, **files):
    os.makedirs(folder)
    for name, text in files.items():
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)


def extract(out, paths):
    n = 0
    for path in paths:
        page = os.path.basename(path).rsplit(".", 1)[0]
        for notes, language, body in blocks(open(path).read()):
            if "script" in notes:
                cases = [(body, "")]
            elif language == "console":
                cases = commands(body)
            else:
                continue
            for command, shown in cases:
                n += 1
                title = notes.get("script") or command.replace("\n", " ")
                write(os.path.join(out, f"{n:03}"), name=f"{page}: {title}", needs=notes.get("needs", ""), command=command, shown=shown,
                      kind="script" if "script" in notes else notes.get("in", "here"), variable=notes.get("script", ""))
    if n == 0:
        sys.exit("no commands found")


def pattern(line):
    words = [re.sub(r"\\?\d+(?:\\?\.\d+)?", r"[0-9.]+", re.escape(w)) for w in line.split()]
    return re.compile(r"^\s*" + r"\s+".join(words) + r"\s*$", flags=re.M)


def compare(case):
    shown, out = (open(os.path.join(case, name)).read() for name in ("shown", "out"))
    missing = [line for line in shown.split("\n") if line.strip() not in ("", "...") and not pattern(line).search(out)]
    if missing:
        sys.exit("not in the output: " + missing[0] + "\n" + out[:1000])


if sys.argv[1] == "--compare":
    compare(sys.argv[2])
else:
    extract(sys.argv[1], sys.argv[2:])
