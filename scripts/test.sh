#!/bin/bash
# test.sh [BUILD]: build, and run every test, then those of a build with sanitizers (BUILD-asan).
# LONG=1: also the long cases of tests/match, with 6 times the time limits, and all tests on Debian trixie.
# Each test that failed or was skipped is named at the end with the reason; the last line is the count: N
# passed, N failed, N skipped.
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
asan=$build-asan
start=$SECONDS
logs=()
status=0
patience=1
[ -z "${LONG:-}" ] || patience=6

stage() { printf '\n== %s (%d s)\n' "$1" $((SECONDS - start)); }

# A build that fails is a failed test: nothing behind it can be trusted.
built() {
    scripts/build.sh "$@" && return
    printf '\nfailed: the build of %s\n0 passed, 1 failed, 0 skipped\n' "$1"
    exit 1
}

tests() { # BUILD [OPTION...]
    local dir=$1
    shift
    rm -f "$dir/meson-logs/testlog.json"
    meson test -C "$dir" --no-rebuild --print-errorlogs --timeout-multiplier "$patience" "$@" || status=1
    logs+=("$dir/meson-logs/testlog.json")
}

stage "build"
built "$build"
stage "tests"
tests "$build"
# gcc's warnings are unreliable in instrumented code, so there they are no errors. Line numbers are
# all that the sanitizers want of -g.
stage "build with address and undefined-behaviour sanitizers"
built "$asan" -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false -Dwerror=false -Dc_args=-g1
stage "tests, sanitized"
tests "$asan"

if [ -n "${LONG:-}" ] && ! grep -q trixie /etc/os-release; then
    stage "the tests on Debian trixie"
    LONG='' scripts/root.sh trixie || status=1
fi

stage "done"
scripts/count.py "${logs[@]}" || status=1
exit $status
