#!/usr/bin/env python3
"""crosscheck.py SKEIN-SIM PROGRAM NODES CORES DENSITY BYTES METHOD...: the same call by two simulators. SimGrid runs the library on simulated
ranks, without shared memory, with the CPU time of messages from sim/niagara.prices; skein-sim walks the same schedules. Prints
us of both and the ratio. The graphs are different ones of the same density."""
import csv
import os
import re
import subprocess
import sys
import tempfile

sim, program, nodes, cores, density, size = *sys.argv[1:3], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], sys.argv[6]
methods = sys.argv[7:]
n, usual = nodes * cores, "0:2.5e-7:0"
CALLS = 12  # in calls 1, 2, 4 and 8 the ranks may plan; the fastest call counts
print("series,x,y,simgrid,walker")
walked = subprocess.run([sim, "--messages", "-p", "sim/niagara.prices", "-g", f"random:{density}", "-n", str(n),
                         "-m", f"node:* core:{cores}", "-b", size, "-a", ",".join(methods)],
                        capture_output=True, text=True, check=True)
walker = {r["series"]: float(r["y"]) for r in csv.DictReader(walked.stdout.splitlines())}
with tempfile.NamedTemporaryFile("w", suffix=".hosts") as f:
    f.write("".join(f"node-{r // cores}\n" for r in range(n)))
    f.flush()
    for method in methods:
        env = {**os.environ, "SKEIN_SHM": "0", "SKEIN_MACHINE": f"node:{nodes} core:{cores}",
               "SKEIN_NEIGHBOR_ALLGATHER": method, "SKEIN_NEIGHBOR_ALLTOALLV": "direct"}
        done = subprocess.run(
            ["smpirun", "-np", str(n), "-platform", "sim/niagara.xml", "-hostfile", f.name,
             "--cfg=smpi/simulate-computation:no", "--log=root.thres:critical", f"--cfg=smpi/os:{usual}", f"--cfg=smpi/or:{usual}",
             f"--cfg=smpi/ois:{usual}", "--cfg=network/crosstraffic:0", "--cfg=smpi/bw-factor:0:1", "--cfg=smpi/lat-factor:0:1",
             "--cfg=network/weight-S:0", program, density, size, str(CALLS)],
            env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        found = re.search(r"simulated ([0-9.]+) us per neighbor_allgather", done.stdout)
        if not found:
            sys.exit(done.stdout[-300:] + done.stderr[-600:])
        us = float(found[1])
        print(f"{method},{size},{us / walker[method]:.3f},{us},{walker[method]}")
