#!/bin/sh
# The library in simulation: run.sh BUILD_DIR
# Links a program with libskein-smpi.a and runs it on 256 simulated ranks. One line per run.
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
if ! smpicc -O1 -Wall -Wextra -Werror "$here/collectives.c" -o "$out/collectives" \
    -Wl,--whole-archive "$build/lib/libskein-smpi.a" -Wl,--no-whole-archive -lm >"$work/log" 2>&1; then
    cat "$work/log"
    echo "FAIL sim: the program does not link with libskein-smpi.a"
    exit 1
fi

i=0
while [ $i -lt 16 ]; do
    echo "node-$i:16"
    i=$((i + 1))
done >"$work/hosts"

served() { grep "^skein: $1 " "$work/log" | grep -qv " host "; }

# run RANKS [NAME=VALUE]: the library must have served the calls, which its report says
run() {
    n=$1
    shift
    cmd="smpirun -np $n -platform $root/sim/star16.xml -hostfile $work/hosts \
--cfg=smpi/simulate-computation:no --log=root.thres:critical $out/collectives"
    env "$@" SKEIN_REPORT=1 timeout 200 $cmd >"$work/log" 2>&1 </dev/null
    rc=$?
    if [ $rc != 0 ]; then
        echo "FAIL sim, $n ranks $*: exit $rc: $(grep wrong "$work/log" | head -1) (replay: $* $cmd)"
        failed=1
    elif ! grep -q "^$n ranks, 0 wrong values" "$work/log"; then
        echo "FAIL sim, $n ranks $*: no verdict (replay: $* $cmd)"
        failed=1
    elif ! served allgather || ! served allreduce; then
        echo "FAIL sim, $n ranks $*: the report does not show that the library served the calls"
        failed=1
    else
        echo "ok sim, $n ranks $*"
    fi
}

run 256
run 37
run 256 SKEIN_ALLGATHER=bruck SKEIN_ALLREDUCE=rabenseifner
exit $failed
