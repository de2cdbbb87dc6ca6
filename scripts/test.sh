#!/bin/bash
# test.sh [BUILD]: build, and run every test. Each skipped test says why; the last line is the count:
# N passed, N failed, N skipped.
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
asan=$build-asan
passed=0 failed=0 skipped=0
start=$SECONDS

stage() { printf '\n== %s (%d s)\n' "$1" $((SECONDS - start)); }

finish() {
    printf '\n'
    if [ "$skipped" -gt 0 ]; then
        echo "$passed passed, $failed failed, $skipped skipped"
    else
        echo "$passed passed, $failed failed"
    fi
    [ "$failed" -eq 0 ]
    exit
}

# Tests that Meson knows: unit tests and the verifier. count.py turns its log into one line.
meson_tests() {
    local dir=$1 p f s status
    shift
    meson test -C "$dir" --no-rebuild --print-errorlogs "$@"
    status=$?
    read -r p f s < <(scripts/count.py "$dir/meson-logs/testlog.junit.xml")
    # A program that dies may leave no failed test behind.
    [ $status -ne 0 ] && [ "${f:-0}" -eq 0 ] && f=1
    passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0})) skipped=$((skipped + ${s:-0}))
}

# Tests that are scripts: tests/*/run.sh BUILD prints "ok NAME", "FAIL NAME: why", "skip NAME: why".
script_tests() {
    local script=$1 log p f s status
    log=$(mktemp) || exit 1
    "$script" "$2" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    p=$(grep -c '^ok ' "$log")
    f=$(grep -c '^FAIL ' "$log")
    s=$(grep -c '^skip ' "$log")
    if { [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; } || [ $((p + f + s)) -eq 0 ]; then
        echo "FAIL $script: ended with status $status after $((p + f + s)) tests"
        f=$((f + 1))
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    rm -f "$log"
}

# A build that fails is a failed test: nothing behind it can be trusted.
built() {
    scripts/build.sh "$@" && return
    failed=$((failed + 1))
    return 1
}

stage "build"
built "$build" || finish

stage "unit tests and verifier"
meson_tests "$build"

for script in tests/*/run.sh; do
    if [ -x "$script" ]; then
        stage "${script%/run.sh}"
        script_tests "$script" "$build"
    fi
done

# gcc's warnings are unreliable in instrumented code, so there they are no errors.
stage "build with address and undefined-behaviour sanitizers"
if built "$asan" -Db_sanitize=address,undefined -Db_lundef=false -Dwerror=false; then
    stage "the same tests, sanitized"
    SK_VERIFY_QUICK=1 meson_tests "$asan" --timeout-multiplier 4
    for script in tests/*/asan.sh; do
        [ -x "$script" ] && script_tests "$script" "$asan"
    done
fi

stage "done"
finish
