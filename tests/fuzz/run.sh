#!/bin/sh
# run.sh BUILD NAME TARGET: a fuzz target for a few seconds (FUZZ_SECONDS, 10 by default). What it
# finds, and what it learnt (corpus), stays in BUILD/tests/fuzz/NAME.
build=$(cd "${1:?usage: run.sh BUILD NAME TARGET}" && pwd) || exit 2
name=$2
. "$(dirname "$0")/../tap.sh"
if [ "$3" = none ]; then
    skip "fuzz_$name" "there is no clang"
    finish
fi
dir=$build/tests/fuzz/$name
mkdir -p "$dir/corpus" || exit 2
[ ! -f "$(dirname "$0")/$name.seed" ] || cp "$(dirname "$0")/$name.seed" "$dir/corpus/"
if "$3" -max_total_time="${FUZZ_SECONDS:-10}" -max_len=3072 -timeout=600 -print_final_stats=1 \
    -artifact_prefix="$dir/" "$dir/corpus" >"$dir/log" 2>&1; then
    echo "# $(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/log") runs"
    ok "fuzz_$name"
else
    fail "fuzz_$name" "see $dir/log: $(grep -m 1 -E 'ERROR|operation|at the end' "$dir/log")"
fi
finish
