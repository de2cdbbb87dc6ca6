#!/usr/bin/env python3
"""setup.py [--x VALUE] COMMAND...: runs skein-sim --setup; --x: what the column x has instead of the number of ranks, which
goes to the column `ranks`. Each method has a second series, `phase 2`: from pattern to schedule, CPU time of a rank as measured here."""
import csv
import subprocess
import sys

words, x = sys.argv[1:], None
if words[0] == "--x":
    x, words = words[1], words[2:]
done = subprocess.run(words, capture_output=True, text=True)
if done.returncode:
    sys.exit(done.stderr)
rows = list(csv.DictReader(done.stdout.splitlines()))
out = csv.DictWriter(sys.stdout, [*rows[0], "ranks"], lineterminator="\n")
out.writeheader()
for r in rows:
    row = {**r, "ranks": r["x"], "x": x or r["x"]}
    out.writerow(row)
    if not r["series"].startswith("gather"):
        out.writerow({**row, "series": r["series"] + ", phase 2", "y": r["schedule"]})
