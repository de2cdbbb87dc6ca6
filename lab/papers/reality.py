#!/usr/bin/env python3
"""reality.py BUILD COLLECTIVE: calls of two ranks on this machine, predicted with the copy prices measured here and measured by
`skein bench`, for several sizes: us of both and the ratio predicted / measured. Nothing else should run."""
import csv
import os
import subprocess
import sys
import tempfile

build, coll = sys.argv[1:3]
skein = f"{build}/bin/skein"
sizes = "8,512,4K,32K,256K,1M"
with tempfile.TemporaryDirectory() as tmp:
    measured, predicted = os.path.join(tmp, "measured.csv"), os.path.join(tmp, "predicted.csv")
    subprocess.run([skein, "bench", f"--collective={coll}", "--ranks=2", f"--bytes={sizes}", "--mpi=openmpi", "--seconds=8",
                    f"--csv={measured}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    subprocess.run([skein, "explain", coll, "--ranks=2", "--bytes=1M", f"--plot={predicted}"], stdout=subprocess.DEVNULL, check=True)
    with open(predicted) as f:
        model = {(r["algorithm"], int(r["bytes"])): float(r["us"]) for r in csv.DictReader(f)}
    print("series,x,y,predicted,measured")
    with open(measured) as f:
        for r in csv.DictReader(f):
            key = (r["skein_algorithm"], int(r["bytes"]))
            us = float(r["skein_us"])
            if key in model and us > 0:
                print(f"{coll},{key[1]},{model[key] / us:.3f},{model[key]},{us}")
