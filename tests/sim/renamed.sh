#!/bin/sh
# A ring on ranks that were dealt over the nodes: renamed.sh BUILD_DIR
# Simulated time, which is exact, of long allreduces on 2, 4 and 8 nodes of 8 ranks (the paper's
# figures 3 to 5): with the ranks' own names, renamed, and on ranks that fill node after node. Renamed
# must be 1.8 times as fast as not renamed, and within 2 % of ranks in order. One line per size.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${1:?usage: renamed.sh BUILD_DIR}" && pwd) || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

if ! command -v smpicc >/dev/null || ! command -v smpirun >/dev/null; then
    echo "skip sim renamed: there is no smpicc"
    exit 0
fi
if [ ! -e "$build/lib/libskein-smpi.a" ]; then
    echo "skip sim renamed: there is no $build/lib/libskein-smpi.a"
    exit 0
fi
out=$build/tests-sim
mkdir -p "$out"
if ! smpicc -O1 -Wall -Wextra -Werror "$here/renamed.c" -o "$out/renamed" \
    -Wl,--whole-archive "$build/lib/libskein-smpi.a" -Wl,--no-whole-archive -lm >"$work/log" 2>&1; then
    cat "$work/log"
    echo "FAIL sim renamed: the program does not link with libskein-smpi.a"
    exit 1
fi

# hosts NODES MAP: one line per rank, 8 to a node
hosts() {
    i=0
    while [ $i -lt $(($1 * 8)) ]; do
        case $2 in
        rr) echo "node-$((i % $1))" ;;
        seq) echo "node-$((i / 8))" ;;
        esac
        i=$((i + 1))
    done
}

# run NODES MAP RENAME RESULT: the times of all sizes
run() {
    n=$(($1 * 8))
    hosts "$1" "$2" >"$work/hosts"
    SKEIN_MACHINE="node:$1 core:8 map:$2" SKEIN_ALLREDUCE=ring SKEIN_RENAME=$3 SKEIN_REPORT=1 \
        timeout 300 smpirun -np $n -platform "$root/sim/star16.xml" -hostfile "$work/hosts" \
        --cfg=smpi/simulate-computation:no --log=root.thres:critical "$out/renamed" \
        >"$work/log" 2>&1 </dev/null
    rc=$?
    if [ $rc != 0 ] || ! grep -q "^$n ranks, 0 wrong values" "$work/log"; then
        echo "FAIL sim renamed, $1 x 8 ranks, map:$2, SKEIN_RENAME=$3: exit $rc: $(tail -n 1 "$work/log")"
        return 1
    fi
    if ! grep -q 'allreduce.* ring ' "$work/log"; then
        echo "FAIL sim renamed, $1 x 8 ranks: the report does not show that the library served the calls"
        return 1
    fi
    awk 'NF == 2 && /^[0-9]+ [0-9.]+$/' "$work/log" >"$4"
}

for nodes in 2 4 8; do
    if ! run $nodes rr off "$work/plain" || ! run $nodes rr auto "$work/renamed" ||
        ! run $nodes seq off "$work/inorder"; then
        failed=1
        continue
    fi
    paste -d' ' "$work/plain" "$work/renamed" "$work/inorder" | awk -v nodes=$nodes '
        NF == 6 && $1 == $3 && $1 == $5 {
            faster = $2 / $4
            off = 100 * ($4 - $6) / $6
            good = faster >= 1.8 && off <= 2 && off >= -2
            printf "%s sim ring on %d x 8 ranks, %d bytes: dealt %.1f us, renamed %.1f us (%.2fx), " \
                   "in order %.1f us (%+.1f %%)\n",
                good ? "ok" : "FAIL", nodes, $1, $2, $4, faster, $6, off
            bad += !good
            n++
        }
        END { if (n != 5) print "FAIL sim ring on " nodes " x 8 ranks: " n + 0 " sizes, not 5"; exit bad || n != 5 }' ||
        failed=1
done
exit $failed
