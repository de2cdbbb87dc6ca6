#!/usr/bin/env python3
"""match.py SKEIN APP RANKS [OPTION of skein bench match...]

Runs `skein bench match` on the model of an application and prints a row for each engine, queue (side: UMQ, PRQ,
both) and kind of item (p2p, coll, all): searches, elements (queued items compared), added (items queued),
queues (made by the engine), bytes (of the engine's memory), ns (per match, measured), and how many times fewer
elements were compared than by a list (fewer).
"""
import csv
import subprocess
import sys
import tempfile

SIDES = {"PRQ": ["posted"], "UMQ": ["unexpected"], "both": ["posted", "unexpected"]}
KINDS = {"p2p": ["p2p"], "coll": ["coll"], "all": ["p2p", "coll"]}
NAMES = {"list": "list", "source": "OMPI", "col+pnp": "COL+PNP", "col+list": "COL+LL", "list+pnp": "LL+PNP", "flat": "Skein's flat"}


def measured(skein, app, ranks, options):
    with tempfile.NamedTemporaryFile("r", suffix=".csv") as f:
        done = subprocess.run([skein, "bench", "match", f"--stream={app}", f"--ranks={ranks}", "--rounds=1", "--limit=300",
                               f"--csv={f.name}", *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return list(csv.DictReader(f))


def total(row, sides, kinds, what):
    return sum(int(row[f"{s}_{k}_{what}"]) for s in sides for k in kinds)


def main():
    rows = measured(*sys.argv[1:4], sys.argv[4:])
    base = next(r for r in rows if r["engine"] == "list")
    out = csv.writer(sys.stdout)
    out.writerow("app ranks engine side kind searches elements added queues bytes ns fewer".split())
    for r in rows:
        for side, sides in SIDES.items():
            for kind, kinds in KINDS.items():
                searches, elements, added, queues = (total(r, sides, kinds, w)
                                                     for w in ("searches", "traversals", "added", "queues"))
                by_list = total(base, sides, kinds, "traversals")
                out.writerow([r["stream"], r["ranks"], NAMES[r["engine"]], side, kind, searches, elements, added, queues,
                              r["bytes"], r["ns"], by_list / elements if elements else 1])


if __name__ == "__main__":
    main()
