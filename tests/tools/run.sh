#!/bin/bash
# run.sh BUILD: a profiler preloaded behind Skein sees every call that Skein passes on.
build=$(cd "$1" && pwd) || exit 1
cd "$(dirname "$0")" || exit 1
out=$build/tests-tools
mkdir -p "$out"

# expect NAME WORDS TEXT
expect() {
    if grep -qF "$2" <<<"$3"; then
        echo "ok $1"
    else
        echo "FAIL $1: expected '$2', got: $3"
    fi
}

for mpi in openmpi mpich; do
    lib=$build/lib/libskein-$mpi.so
    if ! command -v mpicc.$mpi >/dev/null || [ ! -e "$lib" ]; then
        echo "skip tools_stack_on_$mpi: no $mpi, or no Skein for it"
        continue
    fi
    mpicc.$mpi -shared -fPIC profiler.c -o "$out/profiler-$mpi.so" &&
        mpicc.$mpi calls.c -o "$out/calls-$mpi" || exit 1
    preload=$lib:$out/profiler-$mpi.so
    if [ $mpi = openmpi ]; then
        run=(mpirun.openmpi -n 2)
        [ "$(id -u)" -eq 0 ] && run+=(--allow-run-as-root)
        run+=(--oversubscribe -x "LD_PRELOAD=$preload" -x SKEIN_ALLREDUCE)
    else
        run=(mpiexec.mpich -n 2 -genv LD_PRELOAD "$preload")
    fi
    text=$(SKEIN_ALLREDUCE=off timeout 60 "${run[@]}" "$out/calls-$mpi" 2>&1)
    expect tool_sees_calls_left_to_the_host_on_$mpi "tool saw 3 allreduces, 2 receives" "$text"
    text=$(SKEIN_ALLREDUCE=auto timeout 60 "${run[@]}" "$out/calls-$mpi" 2>&1)
    expect skein_serves_beside_a_tool_on_$mpi "tool saw 0 allreduces, 2 receives" "$text"
done
