#!/bin/sh
# asan.sh BUILD: the MPI tests on a library built with the sanitizers, whose run-time libraries must
# be loaded first. The MPIs' own leaks are not ours to report: the churn test looks for growth.
here=$(cd "$(dirname "$0")" && pwd)
FIRST=$(cc -print-file-name=libasan.so):$(cc -print-file-name=libubsan.so)
ASAN_OPTIONS=detect_leaks=0
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export FIRST ASAN_OPTIONS UBSAN_OPTIONS
exec "$here/run.sh" "$1" forms sanitized
