#!/usr/bin/env python3
"""bench.py: Skein against the MPI underneath on several hosts of one machine. See --help."""
import argparse
import csv
import math
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GLOBAL = "8,1K,16K,64K,256K"
NEIGHBOR = "8,1K,16K"
GRAPHS = ["random:0.3", "random:0.7", "moore:2,1", "moore:2,2"]
SHAPES = [(2, 2), (2, 4), (4, 2), (4, 4), (8, 2), (2, 8), (4, 8)]
NETWORKS = [("", ""), ("30us", ""), ("", "1gbit"), ("", "10gbit")]
QUICK = ("8,16K", "8", ["random:0.3"], [(2, 2), (4, 2)], [("", "")])


def parse():
    p = argparse.ArgumentParser(
        description="Times global and neighbourhood collectives on emulated hosts, Skein and the MPI underneath"
        " alternately in one process. Writes OUT/bench.csv, OUT/bench.svg (with gnuplot) and a table: the"
        " geometric mean of host / Skein for each cluster, and the worst cells first.")
    p.add_argument("--build", default="build", help="where Skein was built (default: build)")
    p.add_argument("--out", default=None, help="folder of the results (default: BUILD/cluster)")
    p.add_argument("--mpi", default="openmpi", help="openmpi or mpich (default: openmpi)")
    p.add_argument("--seconds", type=int, default=60, help="for each bench on each cluster (default: 60)")
    p.add_argument("--again", type=int, default=0, metavar="N",
                   help="measure what is below 0.95 N times more; the median of these counts")
    p.add_argument("--form", default="blocking,nonblocking", help="forms of the global collectives")
    p.add_argument("--collective", default="all", help="global collectives (default: all)")
    p.add_argument("--hosts", help="only clusters of so many hosts")
    p.add_argument("--ranks", help="only clusters of so many ranks per host")
    p.add_argument("--delay", help="only this delay, such as 30us; none: without")
    p.add_argument("--rate", help="only this rate, such as 1gbit; none: without")
    p.add_argument("--place", help="only seq or rr")
    p.add_argument("--quick", action="store_true", help="few sizes, two clusters")
    return p.parse_args()


def plan(a):
    """The clusters and what is measured on each of them."""
    global_bytes, neighbor_bytes, graphs, shapes, networks = QUICK if a.quick else (
        GLOBAL, NEIGHBOR, GRAPHS, SHAPES, NETWORKS)
    if a.hosts or a.ranks:
        shapes = [(h, r) for h, r in shapes if a.hosts in (None, str(h)) and a.ranks in (None, str(r))]
        if not shapes and a.hosts and a.ranks:
            shapes = [(int(a.hosts), int(a.ranks))]
    if a.delay or a.rate:
        plain = {"none": "", None: ""}
        networks = [(plain.get(a.delay, a.delay), plain.get(a.rate, a.rate))]
    places = [a.place] if a.place else ["seq", "rr"]
    for hosts, ranks in shapes:
        for delay, rate in networks:
            for place in places:
                if place == "rr" and (delay or rate) and not a.place:
                    continue  # placement is compared on the bare network
                where = {"hosts": hosts, "per_host": ranks, "delay": delay, "rate": rate, "place": place}
                yield where, ["--form", a.form, "--bytes", global_bytes, "--collective", a.collective]
                yield where, ["neighbor", "--bytes", neighbor_bytes, "--collective", "allgather,alltoall"] + [
                    x for g in graphs for x in ("--graph", g)]


def measure(a, out, where, options):
    points = out / "points.csv"
    points.unlink(missing_ok=True)
    cluster = [str(HERE / "run.sh"), "--hosts", str(where["hosts"]), "--ranks", str(where["per_host"]),
               "--place", where["place"]]
    for name in ("delay", "rate"):
        if where[name]:
            cluster += ["--" + name, where[name]]
    skein = [str(Path(a.build).resolve() / "bin" / "skein"), "bench"]
    name = options[:1] if options[0] == "neighbor" else []
    bench = skein + name + ["--mpi", a.mpi, "--ranks", str(where["hosts"] * where["per_host"]), "--seconds",
                            str(a.seconds), "--csv", str(points)] + options[len(name):]
    if a.again:
        bench.append(f"--again={a.again}")
    log = out / "log.txt"
    with open(log, "a") as f:
        done = subprocess.run(cluster + ["--"] + bench, stdout=f, stderr=subprocess.STDOUT)
    if done.returncode == 77:
        sys.exit("bench.py: no cluster here: namespaces are not allowed")
    if done.returncode:
        sys.exit(f"bench.py: {' '.join(cluster + ['--'] + bench)} ended with {done.returncode}: see {log}")
    with open(points) as f:
        return [{**where, **row} for row in csv.DictReader(f)]


def mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def cluster_name(row):
    net = " ".join(x for x in (row["delay"], row["rate"]) if x) or "bare"
    return f"{row['hosts']} x {row['per_host']} {row['place']}, {net}"


def ratios(rows):
    for row in rows:
        for column, what in (("ratio", "one call"), ("b2b_ratio", "back to back")):
            if row[column]:
                yield float(row[column]), what, row


def tables(rows):
    names = list(dict.fromkeys(cluster_name(r) for r in rows))
    print(f"\n{'hosts x ranks':28} {'global':>8} {'worst':>6} {'neighbours':>11} {'worst':>6}   host / Skein")
    for name in names:
        line = f"{name:28}"
        for neighbor in (False, True):
            here = [x for x, _, r in ratios(rows)
                    if cluster_name(r) == name and r["collective"].startswith("neighbor") == neighbor]
            line += f" {mean(here):{10 if neighbor else 7}.2f}x {min(here, default=math.nan):6.2f}"
        print(line)
    print("\nworst cells")
    for x, what, r in sorted(ratios(rows), key=lambda t: t[0])[:12]:
        graph = " " + r["graph"] if r.get("graph") else ""
        print(f"{x:6.2f}x  {r['form']} {r['collective']}{graph} {r['bytes']} B, {what}: {cluster_name(r)}")
    wrong = [r for r in rows if r["equal"] == "no"]
    if wrong:
        sys.exit(f"bench.py: {len(wrong)} results were wrong: see the CSV file")


def plot(rows, out):
    """A box of ratios for each cluster, as far as gnuplot is there."""
    if not shutil.which("gnuplot"):
        print("no plot: gnuplot is not installed")
        return
    names = list(dict.fromkeys(cluster_name(r) for r in rows))
    data = "".join(f'"{cluster_name(r)}" {names.index(cluster_name(r)) + 1} {x}\n' for x, _, r in ratios(rows))
    script = f"""set terminal svg size {160 + 60 * len(names)},480 dynamic font 'sans,12'
set output '{out / "bench.svg"}'
set title 'time of the host / time of Skein (above 1: Skein is faster)'
set logscale y 2
set grid y
set style boxplot fraction 0.9
set style data boxplot
unset key
set xtics rotate by -35
$data << EOD
{data}EOD
plot $data using (1):3:(0.5):1 lc rgb '#336699', 1 lc rgb '#999999'
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
    print("plot:", out / "bench.svg")


def main():
    a = parse()
    out = Path(a.out or Path(a.build) / "cluster").resolve()
    out.mkdir(parents=True, exist_ok=True)
    (out / "log.txt").unlink(missing_ok=True)
    jobs = list(plan(a))
    if not jobs:
        sys.exit("bench.py: no such cluster: see --help")
    rows, begin = [], time.time()
    for i, (where, options) in enumerate(jobs):
        left = (time.time() - begin) / i * (len(jobs) - i) if i else len(jobs) * (a.seconds * 1.3 + 5)
        kind = "neighbourhoods" if options[0] == "neighbor" else "global collectives"
        print(f"[{i + 1}/{len(jobs)}] {cluster_name(where)}: {kind}; {left / 60:.0f} min left", file=sys.stderr,
              flush=True)
        rows += measure(a, out, where, options)
        names = list(dict.fromkeys(k for r in rows for k in r))
        with open(out / "bench.csv", "w", newline="") as f:
            writer = csv.DictWriter(f, names, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    tables(rows)
    print("\nall points:", out / "bench.csv")
    plot(rows, out)


if __name__ == "__main__":
    main()
