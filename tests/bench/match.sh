#!/bin/sh
# match.sh BUILD: `skein bench match` plays, checks and reports; no time is asserted.
build=$(cd "$1" && pwd) || exit 2
skein=$build/bin/skein
. "$(dirname "$0")/../tap.sh"

bench() { timeout $(patience 120) "$skein" bench match "$@" >"$tmp/out" 2>"$tmp/err"; }

# check NAME STATUS WANTED TEXT: the exit status, and a text in $tmp/out or $tmp/err.
check() {
    if [ "$2" -ne "$3" ]; then
        fail "$1" "exit status $2, not $3: $(tail -n 1 "$tmp/err")"
    elif ! grep -q -e "$4" "$tmp/out" "$tmp/err"; then
        fail "$1" "no '$4' in: $(tail -n 1 "$tmp/err")"
    else
        ok "$1"
    fi
}

# refused NAME TEXT ARGUMENTS...: used wrongly, with a message that helps.
refused() {
    name=$1 text=$2
    shift 2
    bench "$@"
    check "$name" $? 2 "$text"
}
refused match_bench_names_the_nearest_option 'did you mean --depth' --deptj 3
refused match_bench_names_the_nearest_engine 'did you mean flat' --engine flt
refused match_bench_names_the_nearest_stream 'did you mean nbody' --stream nbdy
refused match_bench_names_the_nearest_transport 'did you mean ob1' --transport ob2
refused match_bench_refuses_a_bad_depth 'from 1 to 10000000, not 0' --depth 0
refused match_bench_refuses_a_bad_share 'from 0 to 100, not 101' --wild 101
refused match_bench_refuses_two_modes 'only one of' --stream fds --mpi
refused match_bench_refuses_what_has_no_meaning '--order has no meaning with --stream' --stream fds --order random
refused match_bench_refuses_words 'is no option' fds
refused match_bench_wants_a_value '--trace needs a value' --trace
bench --help
check match_bench_helps $? 0 '--transport=LIST'

engines=$("$skein" bench match --stream radix --ranks 16 --steps 1 --rounds 1 2>/dev/null |
    awk '$1 == "engine" { on = 1; next } on && NF { n++ } END { print n + 0 }')
[ "$engines" -ge 2 ] && ok match_bench_plays_all_engines || fail match_bench_plays_all_engines "$engines engines"

# rows NAME ROWS COLUMNS STATE ARGUMENTS...: a run whose CSV has that many rows, all as wide as its
# header and in that state, and whose table has a line for each.
rows() {
    name=$1 want=$2 wide=$3 state=$4
    shift 4
    rm -f "$tmp/csv"
    bench --csv "$tmp/csv" "$@"
    status=$?
    if [ $status -ne 0 ]; then
        fail "$name" "exit status $status: $(tail -n 1 "$tmp/err")"
        return
    fi
    bad=$(awk -F, -v want="$want" -v wide="$wide" -v state="$state" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "state") at = i }
        NF != wide || NR > 1 && $at != state { bad = bad " line " NR }
        END { if (NR - 1 != want) bad = bad " " NR - 1 " rows"; print bad }' "$tmp/csv")
    [ -z "$bad" ] && ok "$name" || fail "$name" "CSV:$bad"
}
quick="--rounds 2 --seconds 1"
# shellcheck disable=SC2086
{
    # Two sides, three orders, three shares, two numbers of sources, three depths.
    rows match_bench_sweeps $((2 * 3 * 3 * 2 * 3 * engines)) 42 ok --depth 1,7,300 --sources 16,64 $quick
    [ "$(grep -c '^\[' "$tmp/err")" -eq 108 ] && ok match_bench_tells_its_progress ||
        fail match_bench_tells_its_progress "$(tail -n 1 "$tmp/err")"
    rows match_bench_takes_any_tag $engines 42 ok --depth 100 --order random --side posted --wild 10 \
        --any-tag $quick
    rows match_bench_plays_applications $((7 * 2 * engines)) 42 ok --stream all --ranks 64,100 --steps 5 $quick
    rows match_bench_runs_threads 6 10 ok --threads 1,2,3 --engine list --depth 4,50 --rounds 2
    rows match_bench_gives_up_what_takes_too_long 1 42 'too long' --engine list --depth 400000 \
        --order reverse --wild 0 --side posted $quick
}
# list traverses (depth + 1) / 2 items for a match in reverse order, on every machine.
bench --engine list --depth 99 --order reverse --side unexpected --wild 100 $quick
awk '$1 == 99 && $2 == "list" && $6 == 50 { found = 1 } END { exit !found }' "$tmp/out" &&
    ok match_bench_counts_traversals || fail match_bench_counts_traversals "$(tail -n 1 "$tmp/out")"

bench --trace "$tmp/nothing"
check match_bench_names_a_missing_trace $? 1 'nothing: No such file'
echo rubbish >"$tmp/rubbish"
bench --trace "$tmp/rubbish"
check match_bench_refuses_other_files $? 1 'rubbish: no trace of Skein'

# A trace by hand: two posts and two delivers of one tag and one source, 40 bytes each.
{
    printf 'skein-trace 1 nranks 4 little-endian%27s\n' ''
    for record in 0/0 0/1 1/2 1/3; do
        zero='\0\0\0\0\0\0\0\0'
        # shellcheck disable=SC2059
        printf "$zero$zero\\0\\0\\0\\0\\004\\0\\0\\0\\0\\0\\0\\0\\00${record#*/}\\0\\0\\0\\0\\0\\0\\00${record%/*}\\0\\0\\0\\0"
    done
} >"$tmp/trace"
if [ "$(printf '\1\0' | od -An -d | tr -d ' ')" = 1 ]; then
    rows match_bench_plays_traces $((2 * engines)) 42 ok --trace "$tmp/trace" "$tmp/trace" --rounds 2
    grep -q '4 ranks: 4 operations, 2 matches; posted queue mean 1.5, longest 2;' "$tmp/out" &&
        ok match_bench_tells_depths_of_traces || fail match_bench_tells_depths_of_traces "$(cat "$tmp/out")"
else
    skip "match_bench_plays_traces" "this machine is big-endian"
fi

# Over MPI: every transport has a row for every point, whether it works here or not.
program=$build/libexec/skein-match-openmpi
if [ ! -x "$program" ]; then
    skip "match_bench_mpi" "no skein-match-openmpi was built"
    finish
fi
rows match_bench_measures_mpi 5 9 ok --mpi --transport ob1 --depth 50 --rounds 1
[ "$(grep -c '^posted\|^unexpected\|^latency' "$tmp/out")" -eq 5 ] && ok match_bench_prints_every_point ||
    fail match_bench_prints_every_point "$(cat "$tmp/out")"
if [ -f "$build/lib/libskein-fi.so" ]; then
    rows match_bench_measures_the_provider 10 9 ok --mpi --transport ob1,skein --depth 50 --rounds 1
    rows match_bench_measures_engines_over_mpi 15 9 ok --mpi --transport ob1,skein --engine list,flat \
        --depth 20 --rounds 1
    grep -q 'skein:flat' "$tmp/out" && ok match_bench_names_engines_over_mpi ||
        fail match_bench_names_engines_over_mpi "$(cat "$tmp/out")"
else
    skip "match_bench_measures_the_provider" "no libskein-fi.so was built"
fi
# A transport that cannot be had does not spoil the others.
UCX_TLS=nonsense bench --mpi --transport ob1,ucx --depth 20 --rounds 1
check match_bench_survives_a_transport_that_fails $? 0 '^ucx: mpirun ended with exit status'
UCX_TLS=nonsense bench --mpi --transport ucx --depth 20 --rounds 1
check match_bench_fails_when_nothing_was_measured $? 1 '^ucx: mpirun ended with exit status'
finish
