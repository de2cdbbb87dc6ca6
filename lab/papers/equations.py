#!/usr/bin/env python3
"""equations.py: equations 1 to 8 of the distance-halving paper: us of direct messages and of halving, by bytes."""
import argparse
import math

parser = argparse.ArgumentParser()
parser.add_argument("--ranks", type=int, required=True)
parser.add_argument("--sockets", type=int, required=True, help="of a node")
parser.add_argument("--socket-ranks", type=int, required=True)
parser.add_argument("--latency", type=float, required=True, help="us")
parser.add_argument("--bandwidth", type=float, required=True, help="GB/s")
parser.add_argument("--density", type=float, required=True)
a = parser.parse_args()
n, L, S, delta = a.ranks, a.socket_ranks, a.sockets, a.density
alpha, beta = a.latency, 1000 * a.bandwidth  # us, bytes per us
steps = math.ceil(math.log2(n / L)) + 1
off = min(steps, delta * (n - L))                   # 1
inside = (1 - (1 - delta) ** (steps + 1)) * L       # 2
print("series,x,y")
for k in range(3, 23):
    m = 2 ** k
    direct = 2 * delta * n * (alpha + m / beta) * S * L                          # 4, 5
    t_off = off * alpha + (2 ** (off + 1) - 1) * m / beta                        # 6
    t_in = inside * (alpha + delta * inside * m / beta)                          # 3, 7
    print(f"direct,{m},{direct:.3f}")
    print(f"halving,{m},{2 * S * L * (t_off + t_in):.3f}")                       # 8
