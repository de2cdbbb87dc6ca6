#!/usr/bin/env python3
"""predict.py SKEIN [--prices FILE] [--all-blocks] [SETTING=VALUE...] COLLECTIVE RANKS MACHINE [ALGORITHM...]

Prints the predicted times of the algorithms of a collective (all, or those named) over sizes: series, x, y in us.
--all-blocks: x is the size of all blocks together, not of one.
"""
import csv
import os
import re
import subprocess
import sys
import tempfile


def main():
    skein, *words = sys.argv[1:]
    settings = [w for w in words if re.match(r"SKEIN_\w+=", w)]
    words = [w for w in words if w not in settings]
    scale, prices = 1, []
    if "--all-blocks" in words:
        words.remove("--all-blocks")
        scale = None
    if words[0] == "--prices":
        prices, words = ["--prices", words[1]], words[2:]
    coll, ranks, machine, *algorithms = words
    with tempfile.NamedTemporaryFile("r", suffix=".csv") as f:
        done = subprocess.run([skein, "explain", coll, "--ranks", ranks, "--machine", machine, *prices, f"--plot={f.name}"],
                              env={**os.environ, **dict(s.split("=", 1) for s in settings)}, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        rows = list(csv.DictReader(f))
    out = csv.writer(sys.stdout)
    out.writerow(["series", "x", "y"])
    for r in rows:
        if not algorithms or r["algorithm"] in algorithms:
            out.writerow([r["algorithm"], int(r["bytes"]) * (scale or int(ranks)), r["us"]])


if __name__ == "__main__":
    main()
