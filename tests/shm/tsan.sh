#!/bin/bash
# tsan.sh BUILD: the tests of local ranks that are threads, under the thread sanitizer, which takes
# every order of memory that is missing for a failure, whether it does harm here or not.
build=$(cd "${1:?usage: tsan.sh BUILD}" && pwd) || exit 2
cd "$(dirname "$0")/../.." || exit 2
out=$build/tests-shm
mkdir -p "$out" || exit 2
log=$out/tsan.log
race=66 # the status of a program in which it found one
export TSAN_OPTIONS=exitcode=$race:halt_on_error=1

# It must find a race where there is one. Some kernels spread addresses too widely for it.
cat >"$out/race.c" <<'END'
#include <pthread.h>
static int shared;
static void *add(void *none) { shared++; return none; }
int main(void)
{
    pthread_t t;
    if (pthread_create(&t, 0, add, 0))
        return 1;
    shared++;
    return pthread_join(t, 0);
}
END
if ! cc -fsanitize=thread -pthread "$out/race.c" -o "$out/race" >"$log" 2>&1; then
    echo "skip tsan: the compiler has no thread sanitizer"
    exit 0
fi
for first in env "setarch -R"; do
    read -ra first <<<"$first"
    "${first[@]}" "$out/race" >"$log" 2>&1
    status=$?
    [ $status -eq $race ] && break
done
if [ "$status" -ne "$race" ]; then
    echo "skip tsan: the thread sanitizer does not run here: $(grep . "$log" | tail -n 1)"
    exit 0
fi

for test in test_shm test_waiting test_shm_ahead test_shm_threads test_fifo; do
    # It does not know fences; those here order what it takes for ordered anyway.
    if ! cc -std=c17 -D_GNU_SOURCE -O2 -g -fsanitize=thread -Wno-tsan -pthread -DSK_ASSERTS -I. -Isrc -Itests \
        "tests/unit/$test.c" src/shm/*.c -lcmocka -o "$out/$test-tsan" >"$log" 2>&1; then
        cat "$log"
        echo "FAIL tsan_$test: does not compile"
        failed=1
        continue
    fi
    timeout 240 "${first[@]}" "$out/$test-tsan" >"$log" 2>&1
    status=$?
    if [ $status -eq 0 ]; then
        echo "ok tsan_$test"
        continue
    fi
    tail -n 60 "$log"
    echo "FAIL tsan_$test: status $status, see above"
    failed=1
done
[ -z "$failed" ]
