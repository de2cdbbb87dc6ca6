# killed.sh: RUNS jobs (5 unless set) in which a rank is killed at a random moment, from before MPI_Init
# on. Each must end soon, not well, with no crash of another rank and nothing new in /dev/shm. Part of
# run.sh.
runs=${RUNS:-5}

# Open MPI tries out POSIX shared memory in MPI_Init under this name: a rank may die just then.
contents() {
    if [ -n "${ALONE:-}" ]; then
        ls /dev/shm | grep -v '^open_mpi\.'
    else
        ls /dev/shm | grep -i skein
    fi
}

# Ranks that the launcher left behind; it need not have waited for the last of them.
survivors() {
    local i
    for i in 1 2 3 4 5 6 7 8 9 10; do
        left=$(grep -l "$programs/[k]illed-openmpi" /proc/[0-9]*/cmdline 2>/dev/null | head -3)
        [ -n "$left" ] || return
        sleep 0.5
    done
}

replay() { echo "# replay: $launch $programs/killed-openmpi $((seed + i))"; }

ended() { # NAME STATUS
    local left after
    survivors
    after=$(contents)
    if [ "$2" = 124 ] && [ -z "$left" ] && grep -aq 'job has been aborted' "$log"; then
        stuck=$((stuck + 1))
    elif grep -aq 'Process received signal' "$log"; then # in mpirun: ranks have a handler of their own
        broken=$((broken + 1))
    elif [ "$2" = 0 ] || [ "$2" = 124 ]; then
        fail "$1" "exit $2: a job that lost a rank must end, and not well"
        replay
        return 1
    fi
    if grep -aq -e 'hangs in' -e 'signal 14 ' "$log"; then
        fail "$1" "the others went on waiting until their watchdog ended them"
    elif grep -aq 'crashed' "$log"; then
        fail "$1" "$(grep -a 'crashed' "$log" | head -1)"
    elif [ -n "$after" ]; then
        fail "$1" "left in /dev/shm: $after"
        [ -z "${ALONE:-}" ] || rm -rf /dev/shm/*
    elif [ -n "$left" ]; then
        fail "$1" "ranks survive: $left"
    else
        return 0
    fi
    replay
    return 1
}

group_killed() {
    local i ranks vars v rc kinds good busy stuck broken said
    # A /dev/shm of one's own: what is left there is ours, whatever else runs on the machine.
    if [ "$(id -u)" = 0 ] && [ -z "${ALONE:-}" ] && unshare -m true 2>/dev/null; then
        ALONE=1 SEED=$seed unshare -m --propagation private -- \
            bash -c 'mount -t tmpfs none /dev/shm && exec "$@"' - "$here/run.sh" "$build" killed >"$tmp/killed.tap" 2>&1
        relay "" <"$tmp/killed.tap"
        return
    fi
    kinds=("" SKEIN_SHM=0 PRELOAD=1 "SKEIN_UNEXPECTED=16K" "PRELOAD=1 SKEIN_SHM=0")
    good=0 busy=0
    # mpirun that has ended all ranks, as it says, may hang in its own end, over any transport, when a rank
    # died while it said hello, or crash there (seen once): that is counted, and no failure.
    stuck=0 broken=0
    for ((i = 0; i < runs; i++)); do
        ranks=$((2 + (seed + i) % 5))
        vars=() PRELOAD=
        for v in ${kinds[i % ${#kinds[@]}]}; do
            if [ "$v" = PRELOAD=1 ]; then PRELOAD=1; else vars+=("$v"); fi
        done
        launcher $ranks "${vars[@]}"
        eval "timeout -k 5 $(patience 40) $launch $programs/killed-openmpi $((seed + i))" >"$log" 2>&1 </dev/null
        rc=$?
        grep -aq 'killed: traffic' "$log" && busy=$((busy + 1))
        ended "killed, run $i: ${vars[*]}${PRELOAD:+ preloaded}, $ranks ranks" $rc && good=$((good + 1))
    done
    said=
    [ $stuck = 0 ] || said=", $stuck with an mpirun that hung when all ranks were gone"
    [ $broken = 0 ] || said="$said, $broken with an mpirun that crashed"
    [ $good = "$runs" ] && ok "killed: $runs jobs that lost a rank, $busy of them in traffic$said (seed $seed)"
}
