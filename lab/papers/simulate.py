#!/usr/bin/env python3
"""simulate.py --platform FILE --nodes M --cores Q [--map seq|rr] [SETTING=VALUE...] PROGRAM [ARG...]

Runs a program that is linked with Skein on M x Q simulated ranks, those that a mapping puts on a node on
the same host, and prints what it prints. Fails if Skein left one of the calls that the settings name to the host.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile


def hosts(platform, nodes, cores, mapping):
    """The host of each rank."""
    with open(platform) as f:
        m = re.search(r'prefix="([^"]*)" +suffix="([^"]*)"', f.read())
    return [f"{m[1]}{r % nodes if mapping == 'rr' else r // cores}{m[2]}" for r in range(nodes * cores)]


def unserved(report, settings):
    """Forced algorithms that the report does not show."""
    for name, value in (s.split("=", 1) for s in settings):
        coll = name.removeprefix("SKEIN_").lower()
        lines = re.findall(rf"^skein: +{coll} .*", report, re.M)
        if lines and not any(f" {value} " in line for line in lines):
            yield f"{coll} was not served by {value}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--platform", required=True)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--cores", type=int, required=True)
    parser.add_argument("--map", choices=["seq", "rr"], default="seq")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    settings = [w for w in args.words if re.match(r"SKEIN_\w+=", w)]
    words = [w for w in args.words if w not in settings]
    env = {**os.environ, **dict(s.split("=", 1) for s in settings), "SKEIN_REPORT": "1",
           "SKEIN_MACHINE": f"node:{args.nodes} core:{args.cores} map:{args.map}"}
    with tempfile.NamedTemporaryFile("w", suffix=".hosts") as f:
        f.write("\n".join(hosts(args.platform, args.nodes, args.cores, args.map)) + "\n")
        f.flush()
        done = subprocess.run(
            ["smpirun", "-np", str(args.nodes * args.cores), "-platform", args.platform, "-hostfile", f.name,
             "--cfg=smpi/simulate-computation:no", "--log=root.thres:critical", *words],
            env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    missing = list(unserved(done.stdout + done.stderr, settings))
    if done.returncode or missing:
        sys.exit(f"status {done.returncode} {'; '.join(missing)} {done.stderr[-600:]}")
    print("\n".join(line for line in done.stdout.splitlines() if not line.startswith("skein:")))


if __name__ == "__main__":
    main()
