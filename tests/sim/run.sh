#!/bin/sh
# The library in simulation: run.sh BUILD_DIR [collectives|neighbors|renamed...]
# Runs programs that are linked with libskein-smpi.a on many simulated ranks.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${1:?usage: run.sh BUILD_DIR [GROUP...]}" && pwd) || exit 2
shift
. "$here/../tap.sh"
out=$build/tests/sim

# hosts NODES RANKS: a host file
hosts() {
    i=0
    while [ $i -lt "$1" ]; do
        echo "node-$i:$2"
        i=$((i + 1))
    done
}
hosts 16 16 >"$tmp/hosts16"
hosts 8 8 >"$tmp/hosts8"

# The report says that the library served the calls of a collective [by an algorithm].
served() { awk -v coll="$1" -v algo="${2:-}" '
    $1 == "skein:" && $2 == coll && !/ host / && (algo == "" || index($0, " " algo " ")) { found = 1 }
    END { exit !found }' "$tmp/log"; }

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
    cmd="smpirun -np $n -platform $root/sim/star16.xml -hostfile $tmp/$file \
--cfg=smpi/simulate-computation:no --log=root.thres:critical $out/$program.so $*"
    env $vars SKEIN_REPORT=1 timeout $(patience 200) $cmd >"$tmp/log" 2>&1 </dev/null
    rc=$?
    if [ $rc != 0 ]; then
        fail "$name" "exit $rc: $(grep wrong "$tmp/log" | head -1) (replay:$vars $cmd)"
        return
    elif ! grep -q "^$n ranks, 0 wrong values" "$tmp/log"; then
        fail "$name" "no verdict (replay:$vars $cmd)"
        return
    fi
    for c in $colls; do
        algo=
        case $c in *=*) algo=${c#*=} ;; esac
        if ! served "${c%%=*}" "$algo"; then
            fail "$name" "the report does not show that the library served $c"
            return
        fi
    done
    ok "$name$(sed -n 's/^.*: simulated/: simulated/p' "$tmp/log")"
}

collectives() {
    both="allgather allreduce"
    run hosts16 256 "$both" -- collectives
    run hosts16 37 "$both" -- collectives
    run hosts16 256 "$both" SKEIN_ALLGATHER=bruck SKEIN_ALLREDUCE=rabenseifner -- collectives
}

neighbors() {
    for m in direct common halving node spread; do
        run hosts8 64 "neighbor_allgather=$m neighbor_alltoallv=$m" SKEIN_WINDOW=16 \
            SKEIN_NEIGHBOR_ALLGATHER=$m SKEIN_NEIGHBOR_ALLTOALLV=$m -- neighbors 0.3 32 3
    done
    run hosts8 64 "neighbor_allgather neighbor_alltoallv" SKEIN_WINDOW=16 -- neighbors 0.05 8 9
}

. "$here/renamed.sh"
for group in ${*:-collectives neighbors renamed}; do
    $group
done
finish
