#!/usr/bin/env python3
"""fixture.py [RANKS [SEED]]: a report in JSON as a large run writes it: RANKS ranks (1000), 10^6 calls, every collective
and size, 60 communicators, some with names that try to become markup."""
import json
import math
import random
import sys

ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
rnd = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
COLLS = """barrier bcast scatter scatterv gather gatherv allgather allgatherv alltoall alltoallv alltoallw reduce allreduce
    reduce_scatter reduce_scatter_block scan exscan neighbor_allgather neighbor_allgatherv neighbor_alltoall
    neighbor_alltoallv neighbor_alltoallw""".split()
SIZES = ["0 B", "<= 64 B", "<= 512 B", "<= 4 KB", "<= 32 KB", "<= 256 KB", "<= 2 MB", "> 2 MB", "unknown"]
HOSTILE = ["<script>top.hacked=1</script>", "\"><img src=x onerror=\"top.hacked=1\">", "</style></title><svg onload=top.hacked=1>",
           "&lt;b&gt; 'quoted' $ % \\u0041", "\u202egnp.exe\u2066", "</td></table><h1>mine</h1>", "<!--", "javascript:top.hacked=1",
           "\x1b[31mred\u009b31m", "x" * 63]


def sampled(calls, seconds):
    return {"sampled_calls": calls, "sampled_seconds": round(seconds, 9), "waited_seconds": round(seconds * rnd.random(), 9),
            "spread_us": round(rnd.random() * 900, 3), "most_spread_us": round(900 + rnd.random() * 900, 3)}


rows, values = [], []
for coll in COLLS:
    for size in SIZES:
        calls, seconds = rnd.randrange(1, 10000), rnd.random() ** 4
        rows.append({"collective": coll, "size": size, "algorithm": "shm", "host": None, "calls": calls,
                     "seconds": round(seconds, 9)})
        rows.append({"collective": coll, "size": size, "algorithm": None, "host": "faster here, or tried",
                     "calls": rnd.randrange(1, 99), "seconds": round(seconds / 50, 9)})
        if rnd.random() < 0.7:
            ratio = 0.8 + 3 * rnd.random()
            values.append({"collective": coll, "size": size, "comparisons": rnd.randrange(1, 9), "host_won": 0, "calls": calls,
                           "seconds": round(seconds, 9), "skein_us": round(1e6 * seconds / calls, 3),
                           "host_us": round(1e6 * seconds / calls * ratio, 3), "ratio": round(ratio, 4),
                           "saved_seconds": round(seconds * (ratio - 1), 9)})
rows[0]["calls"] += max(0, 10**6 - sum(r["calls"] for r in rows))
buckets = min(32, ranks)
each = math.ceil(ranks / buckets)
buckets = math.ceil(ranks / each)
names = ["MPI_COMM_WORLD", ""] + HOSTILE + ["group %d" % i for i in range(48)]
busy = sum(r["seconds"] for r in rows)
json.dump({
    "format": "skein-report", "version": 1, "skein": "0.2.0", "ranks": ranks, "counted": ranks, "end": "MPI_Finalize",
    "nodes": 16, "cores": 64, "run_seconds": 128 * 0.268435456, "mpi": "Open MPI", "program": "</title><script>top.hacked=1</script>",
    "copy": None, "rows": rows, "shapes": [], "plans_built": 900, "plans_evicted": 12, "off_node_messages": 4321,
    "off_node_bytes": 987654, "setups": 1, "setup_seconds": 0.001, "setup_messages": 8, "messages_saved_per_call": 3,
    "breakeven_calls": 17,
    "timeline": {"bin_seconds": 0.268435456, "rows": [
        {"collective": c, "seconds": [round(0.268 / len(COLLS) * rnd.random(), 9) for _ in range(128)]} for c in COLLS]},
    "traffic": {"between_nodes": {"messages": 123456789, "bytes": 98765432101, "busiest_messages": 4321, "busiest_bytes": 987654},
                "inside_nodes": {"messages": 222333444, "bytes": 55566677788}, "shared_memory_bytes": 9998887776665,
                "alltoallv_blocks": 1000000, "alltoallv_filled": 12345},
    "matching": {"engine": "flat<i>", "posted": {"longest": 54321, "mean": 1234.5, "searches": 7654321, "compared": 8765432},
                 "unexpected": {"longest": 65432, "mean": 543.25, "searches": 6543217, "compared": 7654329}},
    "communicators": [dict({"name": n, "ranks": ranks if i < 2 else 1 + i, "groups": 1, "communicators": 1, "calls": rnd.randrange(10**6),
                            "seconds": round(rnd.random(), 9), "most_seconds": round(1 + rnd.random(), 9)},
                           **sampled(rnd.randrange(500), rnd.random())) for i, n in enumerate(names)],
    "neighborhoods": [{"name": n, "ranks": ranks, "groups": 1, "calls": 777 + i, "least_in": 2, "mean_in": 5.5, "most_in": 26,
                       "least_out": 2, "mean_out": 5.5, "most_out": 26, "local_part": round(rnd.random(), 4),
                       "algorithm": rnd.choice(["node", None, "halving<b>"])} for i, n in enumerate(HOSTILE[:4])],
    "rank_time": {"ranks_each": each, "seconds": [round(rnd.random(), 6) for _ in range(buckets)],
                  "waited_seconds": [round(rnd.random() / 2, 6) for _ in range(buckets)]},
    "waiting": dict({"collectives": [dict({"collective": c}, **sampled(rnd.randrange(500), rnd.random())) for c in COLLS],
                     "ranks_each": each, "matrix": [[round(rnd.random() ** 6, 6) for _ in range(buckets)] for _ in range(buckets)],
                     "late": [{"rank": rnd.randrange(ranks), "node": rnd.randrange(16), "last": 100 - i, "caused_seconds": 10 - i}
                              for i in range(8)]}, **sampled(12345, busy)),
    "value": {"comparisons": sum(v["comparisons"] for v in values), "skein_seconds": busy, "compared_part": 0.7,
              "saved_seconds": round(sum(v["saved_seconds"] for v in values), 9), "seconds_without_skein": round(busy * 2, 9),
              "saved_part": 0.3, "rows": values}}, sys.stdout)
