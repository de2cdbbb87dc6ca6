#!/bin/bash
# asan.sh BUILD: the matching tests on a provider that was built with the sanitizers, whose run-time
# libraries must be loaded first.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: asan.sh BUILD}" && pwd) || exit 2
. "$here/launch.sh"
if [ ! -e "$build/lib/libskein-fi.so" ] || ! command -v mpicc.openmpi >/dev/null; then
    echo "skip match, sanitized: no provider or no Open MPI"
    exit 0
fi
compile || { echo "FAIL match, sanitized: the test programs do not compile"; exit 1; }
FIRST=$(cc -print-file-name=libasan.so):$(cc -print-file-name=libubsan.so)
export FIRST ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
run 150 3 -- match
run 150 2 SKEIN_SHM=0 -- match
run 150 3 SKEIN_UNEXPECTED=64K -- match -t -n 1000 threads_apart threads_wild flood
[ $failed = 0 ]
