#!/usr/bin/env python3
"""setup.py [--x VALUE] COMMAND...: runs skein-sim --setup; --x: what the column x has instead of the number of ranks, which
goes to the column `ranks`. Each method has a second series, `phase 2`: from pattern to schedule, CPU time of a rank as measured here."""
import sys

from speedup import simulated, write

words, x = sys.argv[1:], None
if words[0] == "--x":
    x, words = words[1], words[2:]
rows = []
for r in simulated(words):
    rows.append({**r, "ranks": r["x"], "x": x or r["x"]})
    if not r["series"].startswith("gather"):
        rows.append({**rows[-1], "series": r["series"] + ", phase 2", "y": r["schedule"]})
write(rows)
