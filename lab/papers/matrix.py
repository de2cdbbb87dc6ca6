#!/usr/bin/env python3
"""matrix.py ROWS NONZEROS: a matrix of this size in Matrix Market form: the diagonal, and nonzeros most of which are near it, as
those of a mesh are; one in ten is anywhere. The same each time."""
import random
import sys

rows, nonzeros = int(sys.argv[1]), int(sys.argv[2])
dice = random.Random(rows * 1000003 + nonzeros)
band = max(2, round(0.75 * nonzeros / rows))
cells = {(i, i) for i in range(rows)}
while len(cells) < nonzeros:
    i = dice.randrange(rows)
    j = dice.randrange(rows) if dice.random() < 0.1 else i + dice.randint(-band, band)
    if 0 <= j < rows:
        cells.add((i, j))
print("%%MatrixMarket matrix coordinate pattern general")
print(rows, rows, len(cells))
for i, j in sorted(cells):
    print(i + 1, j + 1)
