#!/usr/bin/env python3
"""speedup.py COMMAND...: runs skein-sim and adds to each row a column `direct`: the time of direct messages of that size."""
import csv
import subprocess
import sys


def simulate(command, x=lambda size: size):
    """Prints the rows; `x`: what the column x has instead of bytes."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    direct = {r["x"]: r["y"] for r in rows if r["series"] == "direct"}
    out = csv.DictWriter(sys.stdout, [*rows[0], "direct"], lineterminator="\n")
    out.writeheader()
    for r in rows:
        out.writerow({**r, "x": x(r["x"]), "direct": direct[r["x"]]})


if __name__ == "__main__":
    simulate(sys.argv[1:])
