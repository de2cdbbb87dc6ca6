#!/usr/bin/env python3
"""circles.py OBJECT...: prints every ring of object files that call each other through symbols sk_*.

Exits with 1 if there is one. The objects of a folder in the build tree are the input, for instance
build/lib/libskein-openmpi.so.p/.._src_mpi_*.o."""
import subprocess
import sys


def symbols(path):
    """The sk_* symbols that an object defines and that it needs."""
    defined, needed = set(), set()
    for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
        kind, name = line.split()[-2:]
        if name.startswith("sk_"):
            (needed if kind == "U" else defined).add(name)
    return defined, needed


def rings(graph):
    """Strongly connected components of more than one node (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in graph[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            ring = stack[stack.index(v):]
            del stack[stack.index(v):]
            if len(ring) > 1:
                found.append(sorted(ring))

    sys.setrecursionlimit(10000)
    for v in graph:
        if v not in index:
            visit(v)
    return found


def main(paths):
    tables = {p: symbols(p) for p in paths}
    owner = {name: p for p, (defined, _) in tables.items() for name in defined}
    graph = {p: {owner[n] for n in needed if n in owner and owner[n] != p} for p, (_, needed) in tables.items()}
    found = rings(graph)
    for ring in found:
        print("files that call each other in a ring: " + " ".join(p.rsplit("/", 1)[-1] for p in ring))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
