#!/bin/sh
# run.sh BUILD PART...: tests on a cluster of namespaces (lab/cluster). Parts: cluster, the laboratory itself; mpi, the
# programs of tests/mpi across hosts; containers, ranks that cannot share memory; lost, a host that vanishes.
# FLAVOURS names the MPIs. LONG=1: more hosts, placements and random calls.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD PART...}" && pwd) || exit 2
shift
. "$here/../tap.sh"
cluster=$here/../../lab/cluster/run.sh
programs=$build/tests/mpi
flavours=${FLAVOURS:-openmpi mpich}
why=$($cluster -- true 2>&1)
if [ $? = 77 ]; then
    skip cluster "${why#run.sh: }"
    finish
fi

# says NAME PATTERN COMMAND...: the command ends well, and its output has a line that matches.
says() {
    name=$1 pattern=$2
    shift 2
    if ! timeout "$(patience 60)" "$@" >"$tmp/out" 2>&1 </dev/null; then
        fail "$name" "status $?: $(tail -n 3 "$tmp/out")"
    elif grep -aqE -- "$pattern" "$tmp/out"; then
        ok "$name"
    else
        fail "$name" "no line matches $pattern: $(tail -n 3 "$tmp/out")"
    fi
}
# returns NAME STATUS COMMAND...
returns() {
    name=$1 want=$2
    shift 2
    timeout "$(patience 60)" "$@" >"$tmp/out" 2>&1 </dev/null
    got=$?
    if [ $got = "$want" ]; then ok "$name"; else fail "$name" "status $got, not $want: $(tail -n 3 "$tmp/out")"; fi
}

part_cluster() {
    says "help" '--hosts N' $cluster --help
    returns "an unknown option" 2 $cluster --many 3 -- true
    returns "no command" 2 $cluster --hosts 3
    returns "the status of the command" 5 $cluster -- sh -c 'exit 5'
    says "hostnames" '^h1 h2 h3$' $cluster --hosts 3 -- sh -c 'echo $(hostname) $($CLUSTER_RSH h2 hostname) $($CLUSTER_RSH h3 hostname)'
    says "one hostname for all" '^node node$' $cluster --name node -- sh -c 'echo $(hostname) $($CLUSTER_RSH h2 hostname)'
    returns "the status of a remote command" 6 $cluster -- sh -c '$CLUSTER_RSH -x h2 exit 6'
    says "a remote command has its own environment" '^unset$' env FROM_HERE=1 $cluster -- \
        sh -c '$CLUSTER_RSH h2 "echo \${FROM_HERE:-unset}"'
    says "hosts have different processes and boot ids" '^differ$' $cluster -- sh -c '
        id="cat /proc/sys/kernel/random/boot_id"; sleep 71 &
        [ "$($id)" = "$($CLUSTER_RSH h2 $id)" ] || $CLUSTER_RSH h2 pgrep -f "[s]leep.71" || echo differ'
    says "ranks of each host" '^h1:3 h2:1 h3:3 7$' $cluster --hosts 3 --ranks 3,1 -- \
        sh -c 'echo $(cat /run/hostfile.mpich) $CLUSTER_RANKS'
    $cluster -- sh -c 'echo here; sleep 73' >"$tmp/out" &
    until grep -q here "$tmp/out"; do sleep 0.1; done
    kill -9 $!
    tries=0
    while pgrep -f '^sleep 73$' >/dev/null && [ $tries -lt 100 ]; do tries=$((tries + 1)) && sleep 0.1; done
    if [ $tries -lt 100 ]; then ok "nothing survives"; else fail "nothing survives" "$(pgrep -af '^sleep 73$')"; fi
    for f in $flavours; do
        [ -x "$programs/long-$f" ] || continue
        launch=mpirun.$f
        [ $f = mpich ] && launch="$launch -genv LD_PRELOAD $programs/libyield.so"
        where='echo "$(hostname) ${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"'
        for o in "seq:0 h1 1 h1 2 h2 3 h3 4 h3" "rr:0 h1 1 h2 2 h3 3 h1 4 h3"; do
            says "$f places ranks: ${o%%:*}" "^${o#*:} \$" $cluster --hosts 3 --ranks 2,1,2 --place "${o%%:*}" -- \
                sh -c "$launch -n 5 sh -c '$where' | awk '{ print \$2, \$1 }' | sort | tr '\\n' ' '; echo"
        done
        says "$f over a slow network" '^$' $cluster --ranks 1 --delay 100us --rate 1gbit -- \
            sh -c "$launch -n 2 $programs/f90types-$f && echo"
    done
}

# The programs of tests/mpi, with their launchers in the cluster.
across() { # OPTION...
    timeout "$(patience 900)" $cluster "$@" -- "$here/../mpi/run.sh" "$build" hosts >"$tmp/tap" 2>&1 </dev/null
    relay "$*: " <"$tmp/tap"
}
part_mpi() {
    across --hosts 3 --ranks 2,1,3
    across --hosts 4 --ranks 2 --place rr
    [ -n "${LONG:-}" ] || return 0
    across --hosts 2 --ranks 1,4 --place rr
    across --hosts 2 --ranks 3 --name node
    across --hosts 4 --ranks 3,1,2 --delay 100us --rate 1gbit
    across --hosts 8 --ranks 2
}

for part in "${@:-cluster}"; do "part_$part"; done
finish
