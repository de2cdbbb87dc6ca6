#!/bin/sh
# asan.sh BUILD: the MPI tests on a library built with the sanitizers, whose run-time libraries must
# be loaded first. The MPIs leak what they allocate in MPI_Init, so leaks are looked for by themselves:
# a stack that goes through Skein, but not through its MPI_Init, is one.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: asan.sh BUILD}" && pwd) || exit 2
FIRST=$(cc -print-file-name=libasan.so):$(cc -print-file-name=libubsan.so)
ASAN_OPTIONS=detect_leaks=0
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export FIRST ASAN_OPTIONS UBSAN_OPTIONS
"$here/run.sh" "$build" forms sanitized || failed=1

log=$(mktemp)
trap 'rm -f "$log"' EXIT
leaks() { # FLAVOUR LAUNCHER...
    flavour=$1
    shift
    programs=$build/tests-mpi/$flavour
    [ -x "$programs/errors" ] || return
    for what in "errors churn 500" "random 1 40" "neighbors 1 8"; do
        ASAN_OPTIONS=detect_leaks=1 timeout 200 "$@" "$programs/"$what >"$log" 2>&1 </dev/null
        if ! grep -q 'LeakSanitizer' "$log"; then
            echo "skip $flavour leaks of $what: the sanitizer found no leak at all, not even the host's"
        elif grep -E ' in [^ ]+ [^ ]*src/(mpi|exec|select|algo|pattern|cost|graph|machine|sched|report|base)/' "$log" |
            grep -v ' in MPI_Init' | sort -u | grep .; then
            echo "FAIL $flavour leaks of $what: see the stacks above"
            failed=1
        else
            echo "ok $flavour leaks of $what"
        fi
    done
}
root=
[ "$(id -u)" = 0 ] && root=--allow-run-as-root
leaks openmpi mpirun.openmpi $root --oversubscribe -n 2 \
    -x "LD_PRELOAD=$FIRST:$build/lib/libskein-openmpi.so"
leaks mpich mpiexec.mpich -n 2 -genv LD_PRELOAD "$FIRST:$build/lib/libskein-mpich.so"
[ -z "$failed" ]
