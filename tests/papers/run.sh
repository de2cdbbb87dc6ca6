#!/bin/sh
# run.sh BUILD_DIR: lab/papers/run.py on small figures: what it says of claims, and that it goes on where it was.
# LONG=1: also the quick run of the papers' figures, each claim a test.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${1:?usage: run.sh BUILD_DIR}" && pwd) || exit 2
. "$here/../tap.sh"
run="$root/lab/papers/run.py"

if ! command -v gnuplot >/dev/null; then
    skip papers "gnuplot is not installed"
    finish
    exit
fi

# figure COMMAND CLAIM...: the only figure
figure() {
    command=$1
    shift
    cat >"$tmp/figures/one.toml" <<EOF
paper = "questions"
figure = "Figure 1"
title = "One & only"
x = "bytes"
y = "us"
[[run]]
command = "$command"
[[claim]]
text = "b is faster"
EOF
    printf '%s\n' "$@" >>"$tmp/figures/one.toml"
}

# expect NAME STATUS PATTERN OPTION...: runs the figure
expect() {
    name=$1 want=$2 pattern=$3
    shift 3
    "$run" --build "$tmp/build" --figures "$tmp/figures" -j 1 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    status=$?
    if [ $status = "$want" ] && cat "$tmp/out" "$tmp/err" | grep -Eq "$pattern"; then
        ok "$name"
    else
        fail "$name" "status $status: $(cat "$tmp/out" "$tmp/err")"
    fi
}

mkdir -p "$tmp/figures" "$tmp/build"
echo x >"$tmp/ran"
rows='series,x,y\\na,8,10\\na,64,30\\nb,8,5\\nb,64,10\\n'
print="echo x >>$tmp/ran; printf '$rows'"
value="value = \"max(ratio('a', 'b'))\""
figure "$print" "printed = 3" "$value"
expect claim_met 0 '^met .*b is faster: 3x, printed 3x$'
expect result_kept 0 '1 experiments, 1 have results'
[ "$(wc -l <"$tmp/ran")" = 2 ] && ok command_ran_once || fail command_ran_once "$(wc -l <"$tmp/ran")"
figure "$print" "printed = 3" "$value" 'slack = 0'
expect claim_just_met 0 '^met '
figure "$print" "printed = 2" "$value"
expect claim_beaten 0 '^beaten '
figure "$print" "printed = 9" "$value"
expect claim_missed_fails 1 '^missed .*FAILS$'
figure "$print" "printed = 9" "$value" 'why = "because"'
expect claim_missed_with_reason 0 '^missed '
figure "$print" "printed = 9" "$value" 'why = "because"' 'floor = 4'
expect claim_below_floor_fails 1 '^not ok - missed' --tap
figure "$print" "printed = 3" "value = \"crossing('b', 'a')\"" 'sense = "<="' 'unit = "bytes"'
expect crossing 1 '8 B, printed 3 B'
figure "$print" "printed = 3" "value = \"at('c', 8)\""
expect unknown_series_fails 1 'no points of c'
figure "$print" "printed = 3" "$value" '[[note]]' "text = \"{sum({y for y in ys('b')}):.1f} in all\""
expect note_with_braces 0 '^met '
grep -q '15.0 in all' "$tmp/build/papers/index.html" && ok note_is_computed || fail note_is_computed "15.0 is missing"
figure "$print" "printed = 3" "$value" '[[note]]' 'text = "{nothing}"'
expect wrong_note_fails 1 'FAILED.*a note: nothing'
figure "$print; exit 3" "printed = 3" "$value"
expect failing_command_fails 1 'FAILED.*status 3'
figure "$print" "printed = 3" "$value" 'colour = 1'
expect unknown_key 1 'claim has unknown colour'
figure "$print" "printed = 3" "$value"
expect page 0 '^met '
if grep -q '<svg' "$tmp/build/papers/index.html" && grep -q 'One &amp; only' "$tmp/build/papers/index.html" &&
    grep -q '^a,64,30$' "$tmp/build/papers/csv/one.csv"; then
    ok page_has_all
else
    fail page_has_all "$(head -c 2000 "$tmp/build/papers/index.html")"
fi

if [ -n "${LONG:-}" ]; then
    "$run" --quick --build "$build" --tap >"$tmp/tap" 2>"$tmp/err" </dev/null
    grep -q '^1\.\.' "$tmp/tap" || fail papers_quick "$(tail -n 5 "$tmp/err")"
    relay "papers " <"$tmp/tap"
else
    skip papers_quick "LONG=1 runs it"
fi
finish
