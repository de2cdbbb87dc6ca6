#!/bin/bash
# run.sh BUILD FLAVOUR...: a profiler preloaded behind Skein sees every call that Skein passes on.
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
    preload=$build/lib/libskein-$mpi.so:$programs/libprofiler-$mpi.so
    read -ra run < <(launch_of "$mpi" 2)
    if [ "$mpi" = openmpi ]; then
        run+=(-x "LD_PRELOAD=$preload" -x SKEIN_ALLREDUCE)
    else
        run+=(-genv LD_PRELOAD "$preload")
    fi
    text=$(SKEIN_ALLREDUCE=off timeout "$(patience 60)" "${run[@]}" "$programs/calls-$mpi" 2>&1)
    expect "tool_sees_calls_left_to_the_host_on_$mpi" "tool saw 3 allreduces, 2 receives" "$text"
    text=$(SKEIN_ALLREDUCE=auto timeout "$(patience 60)" "${run[@]}" "$programs/calls-$mpi" 2>&1)
    expect "skein_serves_beside_a_tool_on_$mpi" "tool saw 0 allreduces, 2 receives" "$text"
done
finish
