#!/bin/sh
# The library in simulation: run.sh BUILD_DIR
# Links programs with libskein-smpi.a and runs them on many simulated ranks. One line per run.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${1:?usage: run.sh BUILD_DIR}" && pwd) || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

if ! command -v smpicc >/dev/null || ! command -v smpirun >/dev/null; then
    echo "skip sim: there is no smpicc"
    exit 0
fi
if [ ! -e "$build/lib/libskein-smpi.a" ]; then
    echo "skip sim: there is no $build/lib/libskein-smpi.a"
    exit 0
fi

# The whole archive, so that its MPI_* stand before SMPI's; every rank gets a copy of its own.
out=$build/tests-sim
mkdir -p "$out"
for p in collectives neighbors; do
    if ! smpicc -O1 -Wall -Wextra -Werror "$here/$p.c" -o "$out/$p" \
        -Wl,--whole-archive "$build/lib/libskein-smpi.a" -Wl,--no-whole-archive -lm >"$work/log" 2>&1; then
        cat "$work/log"
        echo "FAIL sim: $p does not link with libskein-smpi.a"
        exit 1
    fi
done

# hosts NODES RANKS: a host file
hosts() {
    i=0
    while [ $i -lt "$1" ]; do
        echo "node-$i:$2"
        i=$((i + 1))
    done
}
hosts 16 16 >"$work/hosts16"
hosts 8 8 >"$work/hosts8"

# The report says that the library served the calls of a collective [by an algorithm].
served() { awk -v coll="$1" -v algo="${2:-}" '
    $1 == "skein:" && $2 == coll && !/ host / && (algo == "" || index($0, " " algo " ")) { found = 1 }
    END { exit !found }' "$work/log"; }

# run HOSTS RANKS "COLLECTIVE[=ALGORITHM]..." [NAME=VALUE...] -- PROGRAM [ARG...]
run() {
    file=$1 n=$2 colls=$3
    shift 3
    vars=
    while [ "$1" != -- ]; do
        vars="$vars $1"
        shift
    done
    shift
    program=$1
    shift
    name="sim $program${*:+ $*}$vars, $n ranks"
    cmd="smpirun -np $n -platform $root/sim/star16.xml -hostfile $work/$file \
--cfg=smpi/simulate-computation:no --log=root.thres:critical $out/$program $*"
    env $vars SKEIN_REPORT=1 timeout 200 $cmd >"$work/log" 2>&1 </dev/null
    rc=$?
    if [ $rc != 0 ]; then
        echo "FAIL $name: exit $rc: $(grep wrong "$work/log" | head -1) (replay:$vars $cmd)"
        failed=1
        return
    elif ! grep -q "^$n ranks, 0 wrong values" "$work/log"; then
        echo "FAIL $name: no verdict (replay:$vars $cmd)"
        failed=1
        return
    fi
    for c in $colls; do
        algo=
        case $c in *=*) algo=${c#*=} ;; esac
        if ! served "${c%%=*}" "$algo"; then
            echo "FAIL $name: the report does not show that the library served $c"
            failed=1
            return
        fi
    done
    echo "ok $name$(sed -n 's/^.*: simulated/: simulated/p' "$work/log")"
}

both="allgather allreduce"
run hosts16 256 "$both" -- collectives
run hosts16 37 "$both" -- collectives
run hosts16 256 "$both" SKEIN_ALLGATHER=bruck SKEIN_ALLREDUCE=rabenseifner -- collectives
for m in direct common halving node; do
    run hosts8 64 "neighbor_allgather=$m neighbor_alltoallv=$m" SKEIN_WINDOW=16 \
        SKEIN_NEIGHBOR_ALLGATHER=$m SKEIN_NEIGHBOR_ALLTOALLV=$m -- neighbors 0.3 32 3
done
run hosts8 64 "neighbor_allgather neighbor_alltoallv" SKEIN_WINDOW=16 -- neighbors 0.05 8 9
"$here/renamed.sh" "$build" || failed=1
exit $failed
