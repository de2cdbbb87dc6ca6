#!/usr/bin/env python3
"""speedup.py COMMAND...: runs skein-sim and adds to each row a column `direct`: the time of direct messages of that size."""
import csv
import subprocess
import sys


def simulated(command):
    """The rows that skein-sim prints."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return list(csv.DictReader(done.stdout.splitlines()))


def write(rows):
    out = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
    out.writeheader()
    out.writerows(rows)


def with_direct(rows):
    direct = {r["x"]: r["y"] for r in rows if r["series"] == "direct"}
    return [{**r, "direct": direct[r["x"]]} for r in rows]


if __name__ == "__main__":
    write(with_direct(simulated(sys.argv[1:])))
