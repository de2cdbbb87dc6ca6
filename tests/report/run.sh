#!/bin/bash
# run.sh BUILD FLAVOUR...: what the report says, that it is there however a job ends, and what
# `skein run` says when Skein saw nothing.
build=$(cd "$1" && pwd) || exit 2
shift
. "$(dirname "$0")/../tap.sh"
skein=$build/bin/skein
cd "$tmp" || exit 2
for v in $(env | sed -n 's/^\(SKEIN[A-Z_]*\)=.*/\1/p'); do unset "$v"; done

# expect NAME PATTERN FILE
expect() {
    if grep -qE -- "$2" "$3" 2>/dev/null; then
        ok "$1"
    else
        fail "$1" "no '$2' in: $(tr '\n' '|' <"$3" | cut -c1-600)"
    fi
}

# json NAME EXPRESSION: true of the report r.json, whose rows are `rows`.
json() {
    local why
    if why=$(python3 -c '
import json, sys
r = json.load(open("r.json"))
rows = r["rows"]
def row(coll): return [x for x in rows if x["collective"] == coll]
sys.exit(0 if eval(sys.argv[1]) else "not so: " + json.dumps(r)[:600])' "$2" 2>&1); then
        ok "$1"
    else
        fail "$1" "$2: $why"
    fi
}

# job MODE [OPTION...]: a job of two ranks under `skein run`; sets $status, writes out and err.
job() {
    local mode=$1
    shift
    rm -f r.json
    # shellcheck disable=SC2086
    timeout "$(patience 60)" "$skein" run "$@" $launch "$program" "$mode" >out 2>err </dev/null
    status=$?
}

for mpi in "$@"; do
    launch=$(launch_of "$mpi" 2)
    program=$build/tests/report/job-$mpi

    job sizes --report=r.json
    for coll in alltoallv gatherv scatterv; do
        json "${coll}_has_its_true_size_on_$mpi" "[x['size'] for x in row('$coll')] == ['<= 2 MB']"
    done
    json "rows_have_the_same_keys_on_$mpi" "len({tuple(x) for x in rows}) == 1 and len(rows) >= 4"
    json "the_end_is_told_on_$mpi" "r['end'] == 'MPI_Finalize' and r['ranks'] == r['counted'] == 2"

    SKEIN_ALLTOALLV=off SKEIN_BCAST=off job sizes --report=r.json
    json "host_calls_have_sizes_and_times_on_$mpi" "[(x['size'], x['host'], x['calls'], x['seconds'] > 0,
        x['algorithm']) for x in row('alltoallv')] == [('<= 2 MB', 'switched off', 1, True, None)]"
    json "served_rows_have_the_same_keys_as_host_rows_on_$mpi" "len({tuple(x) for x in rows}) == 1"

    SKEIN_CACHE=8 job many --report
    expect "evictions_come_with_advice_on_$mpi" 'evicted 292; SKEIN_CACHE=512 would keep' err
done
finish
