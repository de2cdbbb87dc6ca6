#!/bin/sh
# run.sh BUILD: every fuzz target for a few seconds (FUZZ_SECONDS, 10 by default). A target is NAME.c
# here, with LLVMFuzzerTestOneInput; its line at the end says what it is linked with. What it finds, and
# what it learnt (corpus), stays in BUILD/tests-fuzz/NAME. One line per test: ok NAME, FAIL NAME: why,
# skip NAME: why.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD}" && pwd) || exit 2
cd "$here/../.." || exit 2
seconds=${FUZZ_SECONDS:-10}
failed=

# target NAME SOURCE...
target() {
    name=$1
    shift
    dir=$build/tests-fuzz/$name
    mkdir -p "$dir/corpus" || exit 2
    if ! clang -std=c17 -D_GNU_SOURCE -O1 -g -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=all -Isrc -Iinclude -Itests "tests/fuzz/$name.c" "$@" -lpthread \
        -o "$dir/target" >"$dir/log" 2>&1; then
        echo "FAIL fuzz_$name: does not compile: $(grep -m 1 error "$dir/log")"
        failed=1
    elif "$dir/target" -max_total_time="$seconds" -max_len=1024 -timeout=60 -print_final_stats=1 \
        -artifact_prefix="$dir/" "$dir/corpus" >"$dir/log" 2>&1; then
        echo "ok fuzz_$name ($(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/log") runs)"
    else
        echo "FAIL fuzz_$name: see $dir/log: $(grep -m 1 -E 'ERROR|operation|at the end' "$dir/log")"
        failed=1
    fi
}

if ! command -v clang >/dev/null; then
    echo "skip fuzz: there is no clang"
    exit 0
fi
target match src/match/*.c src/match/engine/*.c
target packet src/fabric/proto/packet.c src/fabric/proto/address.c
[ -z "$failed" ]
