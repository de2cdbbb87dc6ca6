#!/usr/bin/env python3
"""setup.py [--x VALUE] COMMAND...: runs skein-sim --setup; --x: what the column x has instead of the number of ranks, which
goes to the column `ranks`."""
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
    out.writerow({**r, "ranks": r["x"], "x": x or r["x"]})
