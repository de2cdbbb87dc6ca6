#!/bin/sh
# run.sh BUILD PART...: tests on a cluster of namespaces (lab/cluster). Parts: cluster, the laboratory itself; mpi, the
# programs of tests/mpi across hosts; launchers, what they tell the ranks; settings, that not all ranks have; report, of hosts
# with clocks of their own; containers, ranks that cannot share memory; lost, a host that vanishes; traffic, bytes that really go from host to host; bench, the benchmark.
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
    timeout "$(patience 60)" "$@" >"$tmp/out" 2>&1 </dev/null
    got=$?
    if [ $got != 0 ]; then
        fail "$name" "status $got: $(tail -n 3 "$tmp/out")"
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
    if [ "$(nproc)" -gt 1 ]; then
        says "cores of each host" '^differ$' $cluster --cores own -- \
            sh -c '[ "$(grep Cpus_allowed_list /proc/self/status)" = "$($CLUSTER_RSH h2 grep Cpus_allowed_list /proc/self/status)" ] || echo differ'
    else
        skip "cores of each host" "there is one core"
    fi
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

# Launchers, on three hosts with 2, 1 and 2 ranks. reach NAME PROVIDER COMMAND...: the command starts an app with the
# five ranks, and all of them have the preload, the setting SKEIN_MEM and the provider, "none" without --match.
reach() {
    name=$1 provider=$2
    shift 2
    SKEIN_MEM=7M timeout "$(patience 60)" $cluster --hosts 3 --ranks 2,1,2 -- "$@" >"$tmp/out" 2>&1 </dev/null
    got=$(sed -n "s|^rank [0-9]* preload=$so.* mem=7M provider=$provider host=||p" "$tmp/out" | sort | tr '\n' ' ')
    if [ "$got" = "h1 h1 h2 h3 h3 " ]; then
        ok "$name"
    else
        fail "$name" "reached: ${got:-none}; $(head -n 5 "$tmp/out")"
    fi
}
part_launchers() {
    so=$build/lib/libskein.so run="$build/bin/skein run"
    o=$build/tests/cmd/app-openmpi m=$build/tests/cmd/app-mpich
    yield="-genv LD_PRELOAD $programs/libyield.so" # see its comment on several hosts
    slurm=$here/../../lab/cluster/slurm.sh
    if [ -x "$o" ]; then
        reach "Open MPI, rsh" none $run mpirun.openmpi -n 5 "$o"
        for no in 0 1; do # a chain of hosts: each starts the next
            reach "Open MPI, rsh, no_tree_spawn $no" none $run mpirun.openmpi --mca plm_rsh_no_tree_spawn $no \
                --mca routed radix --mca routed_radix 1 -n 5 "$o"
        done
        reach "Open MPI, --match" skein $run --match mpirun.openmpi -n 5 "$o"
        reach "Open MPI, a batch script" none $run sh -c "mpirun.openmpi -n 5 $o"
        says "Open MPI, --dry-run" "^mpirun.openmpi -x LD_PRELOAD=$so -x SKEIN_MEM=7M -n 5 $o\$" \
            env SKEIN_MEM=7M $cluster -- $run --dry-run mpirun.openmpi -n 5 "$o"
    fi
    if [ -x "$m" ]; then
        reach "Hydra" none $run mpiexec.mpich $yield -n 5 "$m"
        reach "Hydra, a batch script" none $run sh -c "mpiexec.mpich $yield -n 5 $m"
        # PBS gives a batch script a file with a line for each rank, and Hydra reads it.
        reach "Hydra in a job of PBS" none sh -c "
            awk -F: '{ for (i = 0; i < \$2; i++) print \$1 }' /run/hostfile.mpich >/run/nodes
            unset HYDRA_HOST_FILE
            export PBS_ENVIRONMENT=PBS_BATCH PBS_JOBID=1.h1 PBS_NODEFILE=/run/nodes
            $run mpiexec.mpich -rmk pbs $yield -n 5 $m"
        # Flux hands its environment to the tasks. Here Hydra stands in for it.
        mkdir -p "$tmp/flux"
        printf '#!/bin/sh\n[ "$1 $2 $3" = "run -N 3" ] && shift 3 && exec mpiexec.mpich "$@"\n' >"$tmp/flux/flux"
        chmod +x "$tmp/flux/flux"
        reach "Flux" none env PATH="$tmp/flux:$PATH" $run flux run -N 3 -n 5 env LD_PRELOAD="$programs/libyield.so" "$m"
    fi
    if ! command -v slurmctld >/dev/null || ! command -v munged >/dev/null; then
        skip Slurm "slurmctld, slurmd, slurm-client or munge is not installed"
        return 0
    fi
    $cluster -- $slurm true >"$tmp/out" 2>&1
    if [ $? = 77 ]; then
        skip Slurm "it does not start: $(grep -v Notice "$tmp/out" | head -n 1)"
        return 0
    fi
    if [ -x "$o" ]; then
        reach "Slurm, srun --mpi=pmix" none $slurm $run srun --mpi=pmix -n 5 "$o"
        reach "Slurm, srun --mpi=pmix, --match" skein $slurm $run --match srun --mpi=pmix -n 5 "$o"
        printf '#!/bin/sh\n%s mpirun.openmpi -n 5 %s\n' "$run" "$o" >"$tmp/batch"
        reach "Slurm, sbatch, skein run mpirun" none $slurm sh -c "sbatch -Q -W -n 5 -o $tmp/job $tmp/batch; cat $tmp/job"
        printf '#!/bin/sh\nmpirun.openmpi -n 5 %s\n' "$o" >"$tmp/batch"
        reach "Slurm, skein run salloc script" none $slurm $run salloc -Q -n 5 sh "$tmp/batch"
    fi
    [ -x "$m" ] || return 0
    yield="env LD_PRELOAD=$programs/libyield.so"
    reach "Slurm, srun --mpi=pmi2" none $slurm $run srun --mpi=pmi2 -n 5 $yield "$m"
    printf '#!/bin/sh\nsrun --mpi=pmi2 -n 5 %s %s\n' "$yield" "$m" >"$tmp/batch"
    reach "Slurm, sbatch, skein run script" none $slurm sh -c "
        sbatch -Q -W -n 5 -o $tmp/job --wrap '$run sh $tmp/batch'; cat $tmp/job"
}

# Settings that only the ranks of the launcher's host have: all ranks must agree all the same.
part_settings() {
    o=$programs/random-openmpi
    [ -x "$o" ] || return 0
    launch="mpirun.openmpi -x LD_PRELOAD=$build/lib/libskein.so -n 4 $o 1 5"
    says "a setting of one host" "ranks 0 and 2 have different SKEIN_ variables" $cluster -- env SKEIN_FIND=0 SKEIN_SHM=0 $launch
    says "a report that one host is asked for" "^skein: report, 4 ranks" $cluster -- env SKEIN_REPORT=1 $launch
    says "the host starts what is a message for each block" "a message for each block is best" $cluster -- \
        env SKEIN_REPORT=1 mpirun.openmpi -x LD_PRELOAD=$build/lib/libskein.so -x SKEIN_FIND=0 \
        -x SKEIN_GUARD=on -x SKEIN_PMPI=off -x SKEIN_SHM=0 -n 4 $o -c alltoallv 1 15
    says "also where it is persistent" "alltoallv .* 1 .*a message for each block is best" $cluster -- \
        env SKEIN_REPORT=1 mpirun.openmpi -x LD_PRELOAD=$build/lib/libskein.so -x SKEIN_SHM=0 -n 4 $build/tests/cluster/calls alltoallv 8 5
    says "the network is measured" '"network": "net:[0-9.]+us,[0-9.]+GB message:[0-9.]+us stage:' $cluster -- sh -c "
        mpirun.openmpi -x SKEIN_REPORT=$tmp/net.json -x LD_PRELOAD=$build/lib/libskein.so -n 4 $o 1 5 && cat $tmp/net.json"
    says "the network is described" '"network": "net:2us,5GB message:0.3333us stage:40us"' $cluster -- sh -c "
        mpirun.openmpi -x SKEIN_MODEL=net:2us,5GB -x SKEIN_REPORT=$tmp/net.json -x LD_PRELOAD=$build/lib/libskein.so -n 4 $o 1 5 &&
            cat $tmp/net.json"
    says "a report that the other host is asked for" "^done$" $cluster -- sh -c "
        mpirun.openmpi -x LD_PRELOAD=$build/lib/libskein.so -n 2 $o 1 5 : -x SKEIN_REPORT=1 \
            -x LD_PRELOAD=$build/lib/libskein.so -n 2 $o 1 5 && echo done"
}

# The report of ranks whose hosts have different clocks: rank 1 sleeps before its calls, and nobody waits for hours.
part_report() {
    printf '#!/bin/sh\n[ "$(hostname)" = h1 ] || set -- unshare --time --monotonic 9000 "$@"\nexec "$@"\n' >"$tmp/clock.sh"
    chmod +x "$tmp/clock.sh"
    for f in $flavours; do
        program=$build/tests/report/job-$f
        [ -x "$program" ] || continue
        [ "$f" = openmpi ] || continue # MPICH 4.0 may hang in its MPI_Finalize over TCP, also without Skein
        if ! $cluster -- sh -c '$CLUSTER_RSH h2 unshare --time --monotonic 9000 true' 2>/dev/null; then
            skip "$f, a report with different clocks" "this system has no clocks of their own for processes"
            continue
        fi
        rm -f "$tmp/r.json"
        says "$f, a report with different clocks" '^rank 1 +1 +[0-9]+ +[0-9]{2,4}\.' $cluster --ranks 1 -- sh -c "
            $build/bin/skein run --report=$tmp/r.json mpiexec.$f -n 2 $tmp/clock.sh $program named && $build/bin/skein report --text $tmp/r.json"
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

# Ranks in containers: each has its own processes, or its own System V shared memory and message queues. No memory can be
# shared, or it can; all ranks must agree. Open MPI's own shared memory crashes there.
part_containers() {
    for f in $flavours; do
        [ -x "$programs/random-$f" ] || continue
        launch="mpirun.$f -n 4" what="$programs/random-$f 1 20"
        if [ "$f" = openmpi ]; then
            launch="$launch --mca btl tcp,self -x SKEIN_FIND=0 -x SKEIN_PMPI=off
                -x LD_PRELOAD=$build/lib/libskein.so"
        else
            what="$programs/neighbors-$f 1 2" # reductions of the host differ on several hosts
            launch="$launch -genv SKEIN_FIND 0 -genv SKEIN_PMPI off -genv UCX_TLS tcp,self
                -genv LD_PRELOAD $build/lib/libskein.so:$programs/libyield.so"
        fi
        for own in "--pid --fork" "--pid --fork --mount-proc" "--ipc"; do
            returns "$f, ranks with their own $own" 0 $cluster -- $launch unshare $own $what
        done
        returns "$f, hosts that share a hostname" 0 $cluster --name node -- $launch $what
    done
}

# A host vanishes while ranks go from collective to collective: the job ends as it does without Skein.
lose() { # FLAVOUR HOW SECONDS PRELOAD: true: the launcher ends in time, and not well
    rm -f "$tmp/going"
    launch="mpirun.$1 -n 6"
    if [ "$1" = openmpi ]; then # connections are looked at every second
        for p in time intvl probes; do launch="$launch --mca oob_tcp_keepalive_$p 1"; done
        launch="$launch -x SKEIN_FIND=0 ${4:+-x LD_PRELOAD=$4}"
    else
        launch="$launch -genv SKEIN_FIND 0 -genv LD_PRELOAD ${4:+$4:}$programs/libyield.so"
    fi
    timeout "$(patience 120)" $cluster --hosts 3 --ranks 2 -- sh -c "
        timeout -k 1 $3 sh -c '$launch $programs/killed-$1 none $tmp/going; echo ended \$?' &
        until [ -e $tmp/going ]; do sleep 0.1; done
        sleep 0.5
        \$CLUSTER_LOSE h3 $2
        wait \$!" >"$tmp/out" 2>&1 </dev/null
    grep -q '^ended [1-9]' "$tmp/out"
}
part_lost() {
    for f in $flavours; do
        [ -x "$programs/killed-$f" ] || continue
        for how in processes ${LONG:+power link}; do
            if ! lose "$f" $how 15 ""; then
                skip "$f, a host loses its $how" "without Skein the job does not end either"
            elif ! lose "$f" $how "$(patience 40)" "$build/lib/libskein.so"; then
                fail "$f, a host loses its $how" "a job that lost a host must end, and not well: $(tail -n 3 "$tmp/out")"
            elif grep -q 'hangs in' "$tmp/out"; then
                fail "$f, a host loses its $how" "ranks waited until their watchdog ended them"
            else
                ok "$f, a host loses its $how"
            fi
        done
    done
}

# sent COLLECTIVE BYTES TIMES: bytes that all hosts have sent in the end.
sent() {
    timeout "$(patience 60)" $cluster --hosts 4 --ranks 2 -- sh -c "
        SKEIN_GUARD=off $build/bin/skein run mpirun.openmpi -n 8 $build/tests/cluster/calls $* >&2 || exit
        for h in h1 h2 h3 h4; do \$CLUSTER_RSH \$h cat /proc/net/dev; done" 2>"$tmp/err" </dev/null |
        awk '/eth0:/ { sum += $10 } END { print sum + 0 }'
}
# What `skein explain` says is sent from host to host is sent, and what MPI and TCP add to a message. Of messages that carry
# lengths it does not say the bytes: those are given here, 16 for each block and the block. By Open MPI only: MPICH 4.0 often
# does not end here, with and without Skein.
part_traffic() {
    times=400
    [ -x "$build/tests/cluster/calls" ] || return 0
    none=$(sent bcast 8 0)
    for call in "allreduce 8" "allreduce 16384" "bcast 1024" "allgather 1024" "alltoallv 64 3840" "gatherv 512 3168" "scatterv 512 3168" ${LONG:+"reduce 65536" "alltoall 64" "alltoall 4096"}; do
        set -- $call
        said=$("$build/bin/skein" explain "$1" --ranks 8 --bytes "$2" --type-size 1 --machine "node:4 core:2" |
            awk '/ranks are not renamed/ { print $5, $6 }')
        messages=${said% *} bytes=${said#* }
        added=200 # to a message
        if [ "$bytes" = "?" ]; then bytes=$3; else added=$((400 + bytes / 10 / messages)); fi
        all=$(sent "$1" "$2" $times)
        per_call=$(((all - none) / times))
        if [ "$per_call" -ge "$bytes" ] && [ "$per_call" -le $((bytes + messages * added)) ]; then
            ok "$call: bytes between hosts"
        else
            fail "$call: bytes between hosts" "$per_call a call; skein explain: $bytes in $messages messages: $(tail -n 3 "$tmp/err")"
        fi
    done
}

part_bench() {
    says "the benchmark" 'all points' "$here/../../lab/cluster/bench.py" --build "$build" --out "$tmp/bench" --quick --hosts 2 \
        --ranks 2 --place seq --collective bcast,barrier --form blocking,nonblocking --seconds 4
    says "its points" '^2,2,.*neighbor_alltoall' cat "$tmp/bench/bench.csv"
    # What served is what the ranks say: on two hosts that cannot be the memory of one.
    says "no algorithm of one host" '^0$' awk -F, '/,(shm|single-copy),/ { n++ } END { print n + 0 }' "$tmp/bench/bench.csv"
}

for part in "${@:-cluster}"; do "part_$part"; done
finish
