#!/usr/bin/env python3
"""spmm.py SKEIN-SIM MATRIX COLUMN,COLUMN...: the exchange of a product with a matrix of Table II of the distance-halving paper and
a dense one, simulated: rows by method and number of columns, with the time of direct messages."""
import os
import subprocess
import sys
import tempfile

from speedup import simulated, with_direct, write

HERE = os.path.dirname(os.path.realpath(__file__))
TABLE = {"dwt_193": (193, 1843), "journals": (128, 6096), "heart1": (3600, 1387773), "ash292": (292, 2208),
         "bcsstk13": (2003, 83883), "cegb2802": (2802, 277362), "comsol": (1500, 97645)}
sim, name, columns = sys.argv[1], sys.argv[2], [int(c) for c in sys.argv[3].split(",")]
rows, nonzeros = TABLE[name]
ranks = 36 * min(rows // 36, 60)
each = -(-rows // ranks)  # rows of a rank
size = {each * c * 8: c for c in columns}
with tempfile.NamedTemporaryFile("w", suffix=".mtx") as f:
    subprocess.run([os.path.join(HERE, "matrix.py"), str(rows), str(nonzeros)], stdout=f, check=True)
    found = simulated([sim, "-p", "sim/niagara.prices", "-g", f"matrix:{f.name}", "-n", str(ranks),
                       "-m", "node:* socket:2 core:18", "-b", ",".join(map(str, size)), "-l", name])
write([{**r, "x": size[int(r["x"])]} for r in with_direct(found)])
