#!/bin/bash
# run.sh BUILD: local ranks that are processes, at full speed, and that are threads, under the thread
# sanitizer. One line per test: ok NAME, FAIL NAME: why, skip NAME: why.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD}" && pwd) || exit 2
out=$build/tests-shm
mkdir -p "$out" || exit 2
cd "$here/../.." || exit 2

if ! cc -std=c17 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -Isrc -Itests tests/shm/stress.c \
    src/shm/*.c -o "$out/stress"; then
    echo "FAIL stress: does not compile"
    failed=1
else
    timeout 60 "$out/stress" 4
    status=$?
    [ $status -eq 0 ] || failed=1
    [ $status -le 1 ] || echo "FAIL stress: ended with status $status"
fi

"$here/tsan.sh" "$build" || failed=1
[ -z "$failed" ]
