#!/bin/bash
# tune.sh BUILD: `skein tune` as a user meets it: a short run on each MPI, merged with an earlier one, interrupted, and
# what it says when something is wrong.
build=$(cd "${1:-build}" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
skein=$build/bin/skein
. "$here/../tap.sh"
cd "$tmp" || exit 2
for v in $(env | sed -n 's/^\(SKEIN[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
file=$XDG_CONFIG_HOME/skein/tuning

# expect NAME STATUS PATTERN COMMAND...: the exit status, and a line of either output.
expect() {
    local name=$1 want=$2 pattern=$3 status
    shift 3
    timeout "$(patience 60)" "$@" >"$tmp/out" 2>&1 </dev/null
    status=$?
    if [ $status -ne "$want" ]; then
        fail "$name" "status $status, not $want: $(head -n 3 "$tmp/out" | tr '\n' ' ')"
    elif ! grep -qE -- "$pattern" "$tmp/out"; then
        fail "$name" "no '$pattern' in: $(head -n 3 "$tmp/out" | tr '\n' ' ')"
    else
        ok "$name"
    fi
}
has() { # NAME PATTERN
    if grep -qE -- "$2" "$file"; then ok "$1"; else fail "$1" "no '$2' in $(head -n 8 "$file" | tr '\n' ' ')"; fi
}

expect refuses_an_unknown_collective 2 'no collective bcats; did you mean bcast' "$skein" tune --collective bcats
expect refuses_a_wrong_form 2 'no form nonblock; did you mean nonblocking' "$skein" tune --form nonblock
expect refuses_a_wrong_time 2 'seconds' "$skein" tune --seconds 0
expect refuses_a_missing_launcher 1 'nolauncher: no such program; .*mpirun -n 8' "$skein" tune nolauncher -n 2
expect asks_for_the_mpi 1 'cat: which MPI .*--mpi openmpi' "$skein" tune cat
expect refuses_a_wrong_graph 2 '--graph ring' "$skein" tune --graph ring
expect says_that_it_cannot_write 1 'cannot be written.*; name another file' "$skein" tune -o /dev/null/x mpirun -n 2
expect shows_no_file 1 'there is no tuning file; `skein tune`' env SKEIN_TUNING=off "$skein" tune --show
echo hello >wrong
expect names_a_wrong_line 2 'wrong:1: no tuning file.*; run' "$skein" tune -o wrong mpirun -n 2
expect keeps_a_wrong_file 0 hello cat wrong
printf 'skein-tuning 1\nmachine X; 2 cores; Y\nbcast 2 1 - 8 host 1.5 10\n' >few
expect check_needs_two_algorithms 1 'no call has two algorithms' "$skein" tune --check=few
printf 'skein-tuning 1\nmachine X; 2 cores; Y\nbcast 2 1 - 8 shm 1.5 10\nbcast 2 1 - 8 binomial 1.2 10\n' >two
expect check_marks_a_miss 0 '^bcast +2 +1 +8  shm +[0-9.]+ +1\.50  binomial +1\.20 +1\.25  \*$' "$skein" tune --check=two
expect check_counts 0 'in 0 of 1 calls \(0 %\)' "$skein" tune --check=two
expect show_names_a_wrong_line 1 'wrong:1: no tuning file' "$skein" tune --show=wrong

expect app_needs_a_program 1 'one program, as in skein tune --app' "$skein" tune --app mpiexec.openmpi -n 2

for f in openmpi mpich; do
    run=mpiexec.$f
    if ! command -v $run >/dev/null || [ ! -x "$build/libexec/skein-bench-$f" ]; then
        skip "$f" "it is not here"
        continue
    fi
    expect ${f}_measures 0 'measurements in .*/skein/tuning' \
        "$skein" tune --seconds 3 --collective bcast,neighbor_allgather --bytes 8,4K --graph random:0.9 $run -n 2
    has ${f}_measures_the_host '^bcast +2 +1 +- +8 host +[0-9.]+ [0-9]+$'
    has ${f}_measures_skein '^bcast +2 +1 +- +4096 shm +[0-9.]+ [0-9]+$'
    has ${f}_measures_nonblocking_calls '^ibcast +2 +1 +- +4096 shm +[0-9.]+ [0-9]+$'
    has ${f}_measures_neighbourhoods '^neighbor_allgather +2 +1 +[0-9]+ +8 direct +[0-9.]+ [0-9]+$'
    has ${f}_names_the_machine '^machine (Open MPI|MPICH).*; [0-9]+ cores; '
    expect ${f}_measures_persistent_calls 0 measurements \
        "$skein" tune --seconds 1 --form persistent --collective bcast --bytes 8 $run -n 2
    has ${f}_has_persistent_calls '^bcast_init +2 +1 +- +8 shm '
    v=gatherv,scatterv,allgatherv,alltoallv,alltoallw
    expect ${f}_measures_unknown_sizes 0 measurements \
        "$skein" tune --seconds 4 --form blocking --collective $v --bytes 8,4K $run -n 2
    for c in gatherv scatterv alltoallv alltoallw; do
        has ${f}_measures_$c "^$c +2 +1 +- +4096 host [0-9. ]+$"
        expect ${f}_uses_$c 0 'tuning file: .*, over all sizes' "$skein" explain $c --ranks 2 --bytes 100K
    done
    has ${f}_measures_allgatherv '^allgatherv +2 +1 +- +4096 host '
    expect ${f}_measures_again 0 measurements "$skein" tune --seconds 1 --collective bcast --bytes 8 $run -n 2
    twice=$(awk '/^machine/ { m = $0 } /^[a-z]/ && NF == 8 { print m, $1, $2, $3, $4, $5, $6 }' "$file" | sort | uniq -d)
    if [ -z "$twice" ]; then ok ${f}_merges; else fail ${f}_merges "$twice"; fi
    expect ${f}_shows_a_table 0 '^bcast +2 +1 +- +8 +[a-z]' "$skein" tune --show
    expect ${f}_shows_plots 0 '^ +a  host$' "$skein" tune --show="$file"
    expect ${f}_measures_prices 0 '^price wake [0-9.]+ ns' grep -E '^price (wake|socket.in|read.fresh|copy.together) ' "$file"
    expect ${f}_measures_all_algorithms 0 measurements \
        "$skein" tune --seconds 1 --all-algorithms --collective bcast --bytes 64K -o all.$f $run -n 3
    expect ${f}_checks_predictions 0 '^bcast +3 +1 +65536  [a-z-]+ +[0-9.]+ +[0-9.]+  [a-z-]+ +[0-9.]+ +[0-9.]+' \
        "$skein" tune --check=all.$f
    expect ${f}_counts_predictions 0 'the predicted best is .* in [01] of 1 calls' "$skein" tune --check=all.$f
    app=$build/tests/mpi/guard-$f
    expect ${f}_app_names_a_program_without_calls 1 'no collective call' "$skein" tune -o app.$f --app $run -n 2 true
    if [ -e app.$f ]; then fail ${f}_no_empty_file "there is one"; else ok ${f}_no_empty_file; fi
    # However slow the machine is, the first of the global collectives and of the neighbourhoods is measured: there is one.
    expect ${f}_app_measures 0 'makes 2 different calls' \
        env SKEIN_PMPI=off "$skein" tune --seconds 1 -o app.$f --app $run -n 2 "$app" 1 9 two
    file=app.$f
    has ${f}_app_measures_its_sizes '^bcast +2 +1 +- +12000 host '
    has ${f}_app_measures_its_neighbourhoods '^neighbor_allgather +2 +1 +1 +12000 host '
    if grep -q '^bcast .* 4096 ' app.$f; then
        fail ${f}_app_measures_nothing_else "$(grep -m 1 ' 4096 ' app.$f)"
    else
        ok ${f}_app_measures_nothing_else
    fi
    file=$XDG_CONFIG_HOME/skein/tuning
    expect ${f}_uses_it 0 'tuning file: ' "$skein" explain bcast --ranks 2 --bytes 8
done

if command -v mpiexec.openmpi >/dev/null && [ -x "$build/libexec/skein-bench-openmpi" ]; then
    "$skein" tune --seconds 300 -o kept mpiexec.openmpi -n 2 >out 2>&1 </dev/null &
    pid=$!
    for _ in $(seq "$(patience 60)"); do
        grep -q ' host ' kept 2>/dev/null && break
        sleep 1
    done
    kill -INT $pid
    wait $pid
    status=$?
    if [ $status = 130 ] && grep -q ' host ' kept && grep -q interrupted out; then
        ok keeps_what_it_has_when_interrupted
    else
        fail keeps_what_it_has_when_interrupted "status $status: $(tail -n 2 out)"
    fi
fi
finish
