#!/bin/bash
# run.sh BUILD FLAVOUR...: a profiler preloaded before or behind Skein sees every call, and Skein serves
# every call.
build=$(cd "$1" && pwd) || exit 1
shift
. "$(dirname "$0")/../tap.sh"
programs=$build/tests/tools

# expect NAME WORDS TEXT
expect() {
    if grep -qF "$2" <<<"$3"; then
        ok "$1"
    else
        fail "$1" "expected '$2', got: $3"
    fi
}

for mpi in "$@"; do
    skein=$build/lib/libskein-$mpi.so tool=$programs/libprofiler-$mpi.so
    for preload in "$skein:$tool" "$tool:$skein"; do
        where=before
        [ "${preload%%:*}" = "$skein" ] && where=behind
        read -ra run < <(launch_of "$mpi" 2)
        if [ "$mpi" = openmpi ]; then
            run+=(-x "LD_PRELOAD=$preload" -x SKEIN_ALLREDUCE -x SKEIN_REPORT=1)
        else
            run+=(-genv LD_PRELOAD "$preload" -genv SKEIN_REPORT 1)
        fi
        text=$(SKEIN_ALLREDUCE=off timeout "$(patience 60)" "${run[@]}" "$programs/calls-$mpi" 2>&1)
        expect "tool_${where}_skein_sees_calls_left_to_the_host_on_$mpi" \
            "tool saw 3 allreduces, 2 receives" "$text"
        text=$(SKEIN_ALLREDUCE=doubling timeout "$(patience 60)" "${run[@]}" "$programs/calls-$mpi" 2>&1)
        expect "tool_${where}_skein_sees_served_calls_on_$mpi" "tool saw 3 allreduces, 2 receives" "$text"
        expect "skein_serves_beside_a_tool_${where}_it_on_$mpi" "doubling                      3 " "$text"
    done
done
finish
