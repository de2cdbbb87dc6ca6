#!/bin/bash
# run.sh BUILD FLAVOUR...: what the report says, that it is there however a job ends, and what
# `skein run` says when Skein saw nothing.
build=$(cd "$1" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
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

# json NAME EXPRESSION: true of the report r.json, whose rows are `rows` and whose value is `v`.
json() {
    local why
    if why=$(python3 -c '
import json, sys
r = json.load(open("r.json"))
rows, v = r["rows"], r["value"]
def row(coll): return [x for x in rows if x["collective"] == coll]
sys.exit(0 if eval("(" + sys.argv[1] + ")") else "not so: " + json.dumps(r)[:600])' "$2" 2>&1); then
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
    timeout "$(patience 60)" sh -c 'echo $$ >pid; exec "$@"' - "$skein" run "$@" $launch "$program" "$mode" >out 2>err </dev/null
    status=$?
}

# compared_job MODE [OPTION...]: a job in which Skein is compared with the host. A first call of the host that takes
# long, on a loaded machine, puts a comparison off; hence several jobs.
compared_job() {
    for _ in 1 2 3 4 5; do
        SKEIN_FIND=0 SKEIN_GUARD_AFTER=1 job "$@"
        cat r.json err 2>/dev/null | grep -q 'host_won\|host/skein' && break
    done
}

# signalled NAME: the job waits, `skein run` alone gets the signal.
signalled() {
    local pid
    rm -f r.json out
    # shellcheck disable=SC2086
    env --default-signal=INT "$skein" run --report=r.json $launch "$program" wait >out 2>err </dev/null &
    pid=$!
    for _ in $(seq "$(patience 200)"); do
        grep -q waiting out && break
        sleep 0.1
    done
    kill -s "$1" $pid
    wait $pid
    status=$?
}

# from_terminal: the job waits in the foreground of a terminal of its own, and the user types control-C.
from_terminal() {
    rm -f r.json
    # shellcheck disable=SC2086
    timeout "$(patience 60)" python3 -c '
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen, typed = b"", False
while True:
    try:
        more = os.read(fd, 4096)
    except OSError:
        break
    if not more:
        break
    seen += more
    if b"waiting" in seen and not typed:
        typed = True
        os.write(fd, b"\x03")
os.waitpid(pid, 0)' "$skein" run --report=r.json $launch "$program" wait >out 2>err
}

# alone MODE: without `skein run`.
alone() {
    rm -f r.json
    # shellcheck disable=SC2086
    if [ "$mpi" = openmpi ]; then
        set -- "$1" $launch -x LD_PRELOAD="$build/lib/libskein.so" -x SKEIN_REPORT="$tmp/r.json"
    else
        set -- "$1" $launch -genv LD_PRELOAD "$build/lib/libskein.so" -genv SKEIN_REPORT "$tmp/r.json"
    fi
    timeout "$(patience 60)" "${@:2}" "$program" "$1" >out 2>err </dev/null
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

    # Communicators by name, and who waited for whom: rank 1 sleeps before each allreduce.
    job named --report=r.json
    json "the_schema_has_a_version_on_$mpi" "(r['format'], r['version']) == ('skein-report', 1)"
    json "communicators_have_their_names_on_$mpi" "{(x['name'], x['ranks'], x['calls']) for x in r['communicators']} >=
        {('MPI_COMM_WORLD', 2, 20), ('<script>alert(\"pair\")</script>', 2, 20), ('halo', 2, 20)}"
    json "the_late_rank_is_named_on_$mpi" "r['waiting']['late'][0]['rank'] == 1 and r['waiting']['matrix'][0][1] > 0.05 and
        r['waiting']['sampled_calls'] == 60"
    json "waiting_is_part_of_the_time_on_$mpi" "all(x['waited_seconds'] <= x['sampled_seconds'] for x in
        r['communicators'] + r['waiting']['collectives'])"
    json "neighbourhoods_have_degrees_on_$mpi" "[(x['name'], x['least_in'], x['most_out'], x['local_part'], x['calls'])
        for x in r['neighborhoods']] == [('halo', 1, 1, 1.0, 20)]"
    json "the_timeline_is_the_time_of_the_ranks_on_$mpi" "abs(sum(map(sum, (x['seconds'] for x in r['timeline']['rows'])))
        - sum(r['rank_time']['seconds']) / 2) < 1e-3 * r['run_seconds'] and r['run_seconds'] > 0.1"
    json "bytes_inside_the_node_are_counted_on_$mpi" "r['traffic']['shared_memory_bytes'] + r['traffic']['inside_nodes']['bytes'] > 0
        and r['traffic']['between_nodes'] == dict.fromkeys(r['traffic']['between_nodes'], 0)"
    if [ "$mpi" = openmpi ] && [ -e "$build/lib/libskein-fi.so" ]; then
        job named --report=r.json --match
        json "queues_of_the_provider_are_counted_on_$mpi" "r['matching'] is None or r['matching']['posted']['searches'] +
            r['matching']['unexpected']['searches'] > 0 and r['matching']['engine']"
    fi

    # Traces say how deep the queues are.
    if [ "$mpi" = openmpi ] && [ -e "$build/lib/libskein-fi.so" ]; then
        # shellcheck disable=SC2086
        timeout "$(patience 60)" "$skein" trace -o hot $launch "$program" named >out 2>err </dev/null
        if ls hot.* >/dev/null 2>&1; then
            "$skein" advise r.json hot.* >out 2>err
            expect "advice_knows_traces_on_$mpi" 'By the trace of [0-9]+ operations' out
            "$skein" advise r.json r.json >out 2>err
            expect "other_files_are_no_traces_on_$mpi" '^skein advise: .*skein trace. writes such files' err
        else
            skip "advice_knows_traces_on_$mpi" "$(tail -n 1 err)"
        fi
    fi

    # What the report costs in a run of half a second with 2,000 calls, by the instructions of rank 0.
    if [ "$mpi" != openmpi ]; then
        : # the same work
    elif ! command -v valgrind >/dev/null; then
        skip "a_report_costs_at_most_a_hundredth_on_$mpi" "there is no valgrind"
    else
        printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-0}" != 0 ] || set -- valgrind --tool=callgrind \\\n%s\nexec "$@"\n' \
            '--callgrind-out-file=counts "$@"' >rank.sh
        chmod +x rank.sh
        # shellcheck disable=SC2086
        timeout "$(patience 120)" "$skein" run --report=r.json $launch ./rank.sh "$build/tests/report/cg-$mpi" 192 >out 2>err </dev/null
        share=$(awk -f "$here/share.awk" counts)
        if [ "$share" = none ]; then
            skip "a_report_costs_at_most_a_hundredth_on_$mpi" "the library has no debug information"
        elif [ "$share" -le 1000 ]; then
            ok "a_report_costs_at_most_a_hundredth_on_$mpi: $share of 100000 instructions"
        else
            fail "a_report_costs_at_most_a_hundredth_on_$mpi" "$share of 100000 instructions: $(tail -n 2 err)"
        fi
    fi

    # The page in one go, with the JSON beside it.
    job named --report=html:page.html
    expect "the_page_is_named_on_$mpi" 'skein run: note: the report is in .*/page.html$' err
    expect "the_page_has_names_escaped_on_$mpi" '&lt;script&gt;alert\(&quot;pair&quot;\)&lt;/script&gt;' page.html
    cp page.json r.json
    json "the_json_is_beside_it_on_$mpi" "r['counted'] == 2"
    job abort --report=html:page.html
    expect "there_is_a_page_after_abort_on_$mpi" 'End: MPI_Abort by rank 1' page.html

    SKEIN_CACHE=8 SKEIN_GUARD=off job many --report # what the host serves is not planned
    expect "evictions_come_with_advice_on_$mpi" 'evicted 292; SKEIN_CACHE=512 would keep' err

    # What Skein was worth. MPICH does not yield: where ranks share a core nothing is compared.
    if [ "$(nproc)" -lt 2 ]; then
        skip "report_says_what_skein_saved_on_$mpi" "needs two cores"
    else
        compared_job compare --report=r.json
        json "comparisons_are_in_the_json_on_$mpi" "v['comparisons'] == sum(x['comparisons'] for x in v['rows']) > 0"
        json "calls_are_skeins_or_the_hosts_on_$mpi" "sum(x['calls'] for x in row('allreduce')) == 8 * 2000"
        json "compared_calls_are_those_of_skein_on_$mpi" "all(x['calls'] == sum(y['calls'] for y in row(x['collective'])
            if y['size'] == x['size'] and y['algorithm']) for x in v['rows'])"
        json "saved_follows_from_calls_times_and_ratio_on_$mpi" "all(abs(x['saved_seconds'] - (x['ratio'] - 1) *
            min(x['seconds'], 1e-6 * x['calls'] * x['skein_us'])) < 0.01 * x['seconds'] * (1 + x['ratio']) for x in v['rows'])"
        json "ratio_is_host_to_skein_on_$mpi" "all(abs(x['ratio'] * x['skein_us'] - x['host_us']) <
            1e-4 * x['skein_us'] + 1e-3 * (1 + x['ratio']) for x in v['rows'])"
        json "sums_are_those_of_the_rows_on_$mpi" "(abs(v['saved_seconds'] - sum(x['saved_seconds'] for x in v['rows'])) < 1e-6
            and abs(v['seconds_without_skein'] - v['saved_seconds'] - sum(x['seconds'] for x in rows)) < 1e-6
            and abs(v['skein_seconds'] - sum(x['seconds'] for x in rows if x['algorithm'])) < 1e-6
            and 0 < v['compared_part'] <= 1)"
        compared_job compare-abort --report=r.json
        json "comparisons_survive_abort_on_$mpi" "v['comparisons'] > 0 and r['counted'] == 2 and r['end'] != 'MPI_Finalize'"
        compared_job compare --report
        expect "report_says_what_skein_saved_on_$mpi" '^skein: Skein (saved|lost) about [0-9.]+ m?s of [0-9.]+ m?s in collectives \([0-9]+ %\); compared: [0-9]+ % of the time under Skein, [0-9]+ times?$' err
        expect "a_row_has_both_times_on_$mpi" '^skein: allreduce +<= [0-9]+ K?B +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +-?[0-9.]+$' err
    fi
    SKEIN_FIND=0 SKEIN_GUARD=off job compare --report
    expect "nothing_is_claimed_without_comparisons_on_$mpi" '^skein: time saved: not known, no comparison' err

    # However the job ends, the report is there: all ten calls, of both ranks.
    calls="sum(x['calls'] for x in row('allreduce'))"
    for how in exit abort kill; do
        job $how --report=r.json
        json "report_survives_${how}_on_$mpi" "r['timeline']['rows'] and $calls == 10 and r['counted'] == 2 and r['end'] != 'MPI_Finalize'"
    done
    job abort --report=r.json
    json "report_names_the_rank_that_aborts_on_$mpi" "r['end'] == 'MPI_Abort by rank 1'"
    job abort --report
    expect "table_survives_abort_on_$mpi" '^skein: report of 2 of 2 ranks: MPI_Abort by rank 1$' err
    expect "table_is_printed_once_on_$mpi" '^1$' <(grep -c 'skein: report' err)
    for signal in TERM INT; do
        signalled $signal
        json "report_survives_SIG${signal}_on_$mpi" "$calls == 10 and r['counted'] == 2 and r['end'] == 'ended by SIG$signal'"
    done
    from_terminal
    json "report_survives_control_c_on_$mpi" "$calls == 10 and r['end'] == 'ended by SIGINT'"

    # Without `skein run` the rank that aborts, or rank 0 in exit, writes its own counts.
    for how in exit abort; do
        alone $how
        json "rank_reports_its_own_counts_after_${how}_on_$mpi" "$calls == 10 and r['counted'] == 1 and r['ranks'] == 2"
    done

    # An old report does not pass for the new one.
    job exit --report=r.json
    cp r.json old.json
    # shellcheck disable=SC2086
    timeout "$(patience 60)" "$skein" run --report=old.json $launch "$program" no-mpi >out 2>err
    mv old.json r.json
    json "old_report_is_replaced_on_$mpi" "r['counted'] == 0 and rows == []"

    # What Skein did not see.
    job no-mpi --report=r.json
    json "report_is_written_without_mpi_on_$mpi" "r['counted'] == 0 and 'MPI_Init' in r['end']"
    expect "a_program_without_mpi_is_noted_on_$mpi" '^skein run: note: Skein served nothing: no process called MPI_Init' err
    job idle
    expect "a_program_without_collectives_is_noted_on_$mpi" 'note: Skein served nothing: .*no collective call' err
    SKEIN=off job sizes --report=r.json
    json "report_is_written_with_skein_off_on_$mpi" "r['counted'] == 0 and 'SKEIN=off' in r['end']"
    expect "skein_off_is_noted_on_$mpi" 'note: Skein served nothing: SKEIN=off' err
    printf '#!/bin/sh\nLD_PRELOAD= exec %s sizes\n' "$program" >clears.sh
    chmod +x clears.sh
    # shellcheck disable=SC2086
    timeout "$(patience 60)" "$skein" run $launch env -u LD_PRELOAD ./clears.sh >out 2>err
    expect "a_lost_preload_is_noted_on_$mpi" 'note: Skein served nothing: ' err
    job sizes
    expect "a_served_program_is_not_noted_on_$mpi" '^0$' <(grep -c note: err)

    # As before, the job ends as the launcher ends.
    job abort
    expect "status_of_the_launcher_is_passed_on_$mpi" '^3$' <(echo $status)
    # of this job: others on this machine may run theirs
    expect "nothing_is_left_behind_on_$mpi" '^0$' <(grep -c "skein-run-$(cat pid)-" /proc/net/unix)
done
finish
