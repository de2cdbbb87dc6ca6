#!/usr/bin/env python3
"""winners.py SKEIN COLLECTIVE RANKS MACHINE [--prices FILE]

Which algorithm of a collective the model of `skein explain` says is the cheapest, and from which size on: one row with the
text, and with x the collective. Sizes are of a block, or of the vector, to a power of two.
"""
import csv
import subprocess
import sys
import tempfile


def size(n):
    return f"{n >> 20} MB" if n >= 1 << 20 else f"{n >> 10} KB" if n >= 1 << 10 else f"{n} B"


def main():
    skein, coll, ranks, machine, *options = sys.argv[1:]
    with tempfile.NamedTemporaryFile("r", suffix=".csv") as f:
        subprocess.run([skein, "explain", coll, "--ranks", ranks, "--machine", machine, *options, f"--plot={f.name}"],
                       check=True, stdout=subprocess.DEVNULL)
        times = {}
        for row in csv.DictReader(f):
            times.setdefault(int(row["bytes"]), {})[row["algorithm"]] = float(row["us"])
    text, last = "", None
    for n in sorted(times):
        best = min(times[n], key=times[n].get)
        if best != last:
            text += f", from {size(n)} {best}" if last else best
            last = best
    print(f'x,y\n{coll},"{text}"')


if __name__ == "__main__":
    main()
