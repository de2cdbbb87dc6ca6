#!/usr/bin/env python3
"""choice.py SKEIN COLLECTIVE RANKS MACHINE [--prices FILE] BYTES...

What Skein chooses and what the model of `skein explain` says is the cheapest, over sizes. Prints bytes, the two algorithms,
their predicted times in us, and their ratio. BYTES: all blocks of a rank together, or the vector.
"""
import re
import subprocess
import sys

VECTOR = {"bcast", "reduce", "allreduce", "reduce_scatter", "scan"}
UNITS = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}
LINE = re.compile(r"^([* ]) ([a-z-]+) +\d+ .*? ([0-9.]+) (ns|us|ms|s)\b", re.M)


def main():
    skein, coll, ranks, machine, *rest = sys.argv[1:]
    options = []
    if rest[0] == "--prices":
        options, rest = rest[:2], rest[2:]
    print("x,chosen,cheapest,chosen_us,cheapest_us,y")
    for total in map(int, rest):
        one = total if coll in VECTOR else max(total // int(ranks), 1)
        text = subprocess.run([skein, "explain", coll, "--ranks", ranks, "--machine", machine, "--bytes", str(one), *options],
                              capture_output=True, text=True, check=True).stdout
        times = {name: float(v) * UNITS[unit] for _, name, v, unit in LINE.findall(text)}
        chosen = re.search(r"^chosen +([a-z-]+)", text, re.M)[1]
        if chosen not in times:
            continue
        best = min(times, key=times.get)
        print(f"{total},{chosen},{best},{times[chosen]:.6g},{times[best]:.6g},{times[chosen] / times[best]:.4f}")


if __name__ == "__main__":
    main()
