#!/bin/bash
# run.sh BUILD [GROUP...]: MPI programs on an unmodified Open MPI over the provider.
#   match     every case of point-to-point traffic, 1 to 16 ranks, with and without the preload library
#   engines   the cases that stress matching, with every engine
#   lanes     the same where node mates have no shared memory, and with little room for messages
#   threads   MPI_THREAD_MULTIPLE
#   deep      queues of many thousands; floods
#   dynamic   processes that come later
#   mpi       the tests of the preload library (tests/mpi), over the provider
#   hpcc      the HPC Challenge, if it is installed
#   killed    jobs that lose a rank at a random moment; RUNS=n of them
#   sanitized a little of everything, for a provider that was built with the sanitizers
# SEED=n fixes the random cases. LONG=1 does far more. HOST=1 runs the programs on Open MPI's own
# transport: the tests test themselves.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD [GROUP...]}" && pwd) || exit 2
shift
only=${*:-match engines lanes threads deep dynamic mpi hpcc killed}
seed=${SEED:-$(date +%s)}
long=${LONG:-}
. "$here/launch.sh"

engines() {
    "$build/bin/skein" info 2>/dev/null | awk '
        /^matching engines/ { on = 1; next }
        /^[a-z]/ || /^$/ { on = 0 }
        on { print $1 == "*" ? $2 : $1 }'
}

# Cases in which receives and messages meet in many orders; the others are about the transport.
matching="any_source any_tag any_message exact_before_any communicators_apart probe iprobe mprobe"
matching="$matching persistent cancel truncation random"

group_match() {
    local n
    for n in 1 2 4; do run 100 $n -- match -s "$seed"; done
    run 150 16 -- match -s "$seed" $matching
    PRELOAD=1 run 100 3 -- match -s "$seed"
    run 100 5 -- match -s "$seed" -n 15 random
    [ -n "$long" ] || return
    for n in 3 5 6 7 8 12 16; do run 150 $n -- match -s "$seed"; done
    for n in 1 2 3 4 8 16; do
        PRELOAD=1 run 150 $n SKEIN_FIND=0 -- match -s "$seed"
        run 300 $n -- match -s "$seed" -n 300 random
    done
}

group_engines() {
    local e found=
    for e in $(engines); do
        found=1
        run 60 3 "SKEIN_MATCH=$e" -- match -s "$seed" $matching
        run 60 2 "SKEIN_MATCH=$e" -- match -t -n 1000 posted posted_any unexpected
        PRELOAD=1 run 60 4 "SKEIN_MATCH=$e" SKEIN_SHM=0 -- match -t -s "$seed" -n 10 \
            split_churn random threads_wild
        [ -z "$long" ] || run 300 6 "SKEIN_MATCH=$e" -- match -s "$seed" -n 300 random
    done
    [ -n "$found" ] || skip engines "$build/bin/skein info lists none"
}

group_lanes() {
    local n
    run 100 2 SKEIN_SHM=0 -- match -s "$seed"
    run 100 4 SKEIN_SHM=0 -- match -s "$seed" $matching
    run 100 3 SKEIN_UNEXPECTED=64K -- match -s "$seed" $matching
    run 100 2 SKEIN_DIRECT=off -- match -s "$seed" $matching sizes
    PRELOAD=1 run 100 3 SKEIN_SHM=0 SKEIN_EAGER=0 -- match -s "$seed" $matching
    [ -n "$long" ] || return
    for n in 1 3 8 16; do
        run 200 $n SKEIN_SHM=0 -- match -s "$seed"
        run 300 $n SKEIN_SHM=0 SKEIN_UNEXPECTED=64K -- match -s "$seed" -n 100 random
        run 300 $n SKEIN_UNEXPECTED=16K SKEIN_EAGER=64K -- match -s "$seed" -n 100 random
        run 300 $n SKEIN_EAGER=0 -- match -s "$seed"
    done
}

group_threads() {
    run 100 2 -- match -t -s "$seed"
    PRELOAD=1 run 100 4 -- match -t -s "$seed" threads_apart threads_tags threads_wild
    run 100 3 SKEIN_SHM=0 -- match -t -s "$seed" threads_apart threads_tags threads_wild random
    [ -n "$long" ] || return
    run 300 4 -- match -t -s "$seed" -n 3000 threads_apart threads_tags threads_wild
}

group_deep() {
    run 100 2 -- match posted posted_any unexpected
    run 100 2 -- match -n 50000 posted posted_any unexpected
    run 100 2 SKEIN_SHM=0 -- match posted unexpected
    run 100 3 -- match flood
    run 100 2 -- match -n 100000 flood
    run 100 3 SKEIN_UNEXPECTED=64K -- match flood
    run 100 3 SKEIN_SHM=0 SKEIN_UNEXPECTED=64K -- match flood
    [ -n "$long" ] || return
    run 300 8 -- match -n 100000 flood
    run 300 4 SKEIN_SHM=0 -- match -n 100000 flood
    run 300 2 -- match -n 500000 posted posted_any unexpected
}

group_dynamic() {
    run 60 2 -- match spawn
    RARE=1 run 12 3 -- match connect
    run 60 2 SKEIN_SHM=0 -- match spawn
    RARE=1 run 12 2 SKEIN_SHM=0 -- match connect
}

# The preload library's own tests: with it, so that its collectives travel as messages with hints
# (over shared memory, and without any), and without it, so that Open MPI's do.
mpi_tests() { # HOST EXTRA GROUP...
    local host=$1 extra=$2
    shift 2
    HOST=$host FLAVOURS=openmpi SEED=$seed LAUNCH_EXTRA="$provider $extra" \
        "$here/../mpi/run.sh" "$build" "$@" >"$tmp/mpi.tap" 2>&1
    relay "${host:+host }${extra:+$extra }" <"$tmp/mpi.tap"
}

group_mpi() {
    mpi_tests '' '-x SKEIN_SHM=0' provider
    mpi_tests 1 '' provider
    [ -n "$long" ] || return
    mpi_tests '' '-x SKEIN_SHM=0' provider
    mpi_tests '' '' progress forms errors threads random neighbors
    mpi_tests 1 '' progress forms errors threads random neighbors
}

group_sanitized() {
    FIRST=$(cc -print-file-name=libasan.so):$(cc -print-file-name=libubsan.so)
    export FIRST ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    # Open MPI 5 would write its jumps over the sanitizer's own mprotect, and more than that.
    export OMPI_MCA_memory='^patcher'
    run 150 3 -- match
    run 150 2 SKEIN_SHM=0 -- match
    run 150 3 SKEIN_UNEXPECTED=64K -- match -t -n 1000 threads_apart threads_wild flood
}

for script in hpcc killed; do
    # shellcheck source=/dev/null
    . "$here/$script.sh"
done

if [ -z "${HOST:-}" ] && [ ! -e "$build/lib/libskein-fi.so" ]; then
    skip match "there is no $build/lib/libskein-fi.so"
else
    for group in $only; do
        group_$group
    done
fi
finish
