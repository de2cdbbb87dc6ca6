#!/bin/sh
# run.sh BUILD usage|openmpi|mpich...: `skein bench` is used wrongly, or measures, compares and reports
# on one MPI; no time is asserted.
build=$(cd "$1" && pwd) || exit 2
shift
skein=$build/bin/skein
. "$(dirname "$0")/../tap.sh"

# check NAME STATUS WANTED TEXT: the exit status, and a text in $tmp/out or $tmp/err.
check() {
    if [ "$2" -ne "$3" ]; then
        fail "$1" "exit status $2, not $3: $(tail -n 1 "$tmp/err")"
    elif ! grep -q -- "$4" "$tmp/out" "$tmp/err"; then
        fail "$1" "no '$4' in: $(tail -n 1 "$tmp/err")"
    else
        ok "$1"
    fi
}

bench() { timeout $(patience 300) "$skein" bench "$@" >"$tmp/out" 2>"$tmp/err"; }

# refused NAME TEXT ARGUMENTS...: used wrongly, with a message that helps.
refused() {
    name=$1 text=$2
    shift 2
    bench "$@"
    check "$name" $? 2 "$text"
}
usage() {
    refused bench_names_the_nearest_option 'did you mean --collective' --colective bcast
    refused bench_names_the_nearest_collective 'did you mean allreduce' --collective allredcue
    refused bench_names_the_nearest_mpi 'did you mean openmpi' --mpi openmp
    refused bench_names_the_nearest_host_algorithm 'did you mean linear' --against linaer
    refused bench_refuses_a_bad_number 'not 8x' --bytes 8x
    refused bench_refuses_zero_ranks 'not 0' --ranks 2,0
    refused bench_wants_a_value '--rounds needs a value' --rounds
    refused bench_refuses_both_algorithm_options exclude --algorithm ring --all-algorithms

    refused bench_leaves_graphs_to_neighbors '`skein bench neighbor`' --graph moore:2,1
    refused bench_leaves_neighbors_to_graphs '`skein bench neighbor`' --collective neighbor_allgather
    refused bench_neighbor_wants_a_graph 'needs --graph' neighbor --ranks 2
    refused bench_neighbor_checks_the_graph 'did you mean random' neighbor --graph rondom:0.3
    refused bench_neighbor_names_the_nearest_collective 'did you mean alltoallv' neighbor \
        --graph moore:2,1 --collective altoallv
    refused bench_neighbor_knows_no_other_collective 'no collective bcast' neighbor \
        --graph moore:2,1 --collective bcast
    refused bench_neighbor_has_no_host_algorithms 'one way only' neighbor --graph moore:2,1 \
        --against best

    refused bench_names_the_nearest_form 'did you mean nonblocking' --form nonblokcing
    refused bench_names_the_nearest_use_of_buffers 'did you mean written' --buffers writen
    refused bench_refuses_two_calls_in_all 'from 3 to 10000, not 2' --cold=2
    refused bench_refuses_a_bad_number_of_calls 'not x' --life=x
    refused bench_refuses_two_phases 'only one of' --cold --life
    refused bench_refuses_no_gap 'from 1 to 1000000, not 0' --gap 0
    refused bench_refuses_no_busy_loops 'from 1 to 1024, not 0' --busy 0
    refused bench_overlaps_nonblocking_calls 'goes with --form=nonblocking' --overlap
    refused bench_overlaps_nothing_else 'goes with --form=nonblocking' --overlap --form all
    refused bench_writes_nothing_in_overlap 'writes no buffers' --overlap --form nonblocking \
        --buffers written
    refused bench_persistent_calls_keep_buffers 'keeps its buffers' --form persistent --buffers fresh
    refused bench_forces_the_host_in_blocking_calls 'blocking calls' --form nonblocking --against best

    # Files that --csv did not write.
    head='mpi,ranks,collective,bytes,skein_algorithm,host_algorithm,equal,rounds,singles,train,skein_us,host_us,ratio,ratio_p10,ratio_p90'
    head=$head,b2b_skein_us,b2b_host_us,b2b_ratio,b2b_ratio_p10,b2b_ratio_p90,empty_us
    head=$head,form,phase,calls,gap_us,buffers,busy,overlap_skein,overlap_host
    row() { echo "$1,4,$2,$3,shm,auto,yes,21,4,9,$4,6,2,1.5,2.5,3,6,2,1.5,2.5,0.1,blocking,warm,30,0,reused,0,0,0"; }
    unreadable() { # NAME TEXT: of read.csv
        bench --from "$tmp/read.csv"
        check "$1" $? 1 "$2"
    }
    { echo "$head"; row openmpi allreduce 8 3; row openmpi allreduce 1024 5; row openmpi bcast 8 3; } >"$tmp/good.csv"
    bench --from "$tmp/good.csv" --collective allreduce --plot
    check bench_shows_a_file $? 0 '^allreduce  *8 B'
    check bench_plots_a_file $? 0 ' b  Skein$'
    bench --from "$tmp/good.csv" --plot="$tmp/plot.svg" && python3 -c "import xml.dom.minidom as m; m.parse('$tmp/plot.svg')" 2>"$tmp/err"
    check bench_plots_svg $? 0 '^allreduce'
    grep -q 'allreduce on 4 ranks' "$tmp/plot.svg" && ok bench_svg_has_a_title || fail bench_svg_has_a_title "$(head -c 500 "$tmp/plot.svg")"
    PATH=$tmp "$skein" bench --from "$tmp/good.csv" --plot="$tmp/own.svg" >/dev/null && grep -q '^<svg .*viewBox="0 0 800 480"' "$tmp/own.svg" &&
        ok bench_plots_without_gnuplot || fail bench_plots_without_gnuplot "no picture"
    "$skein" bench --from "$tmp/good.csv" --plot="$tmp/plot.gp" >/dev/null && grep -q '^set terminal svg' "$tmp/plot.gp" &&
        ok bench_plots_a_script || fail bench_plots_a_script "no script"
    bench --from "$tmp/good.csv" --collective bcast --plot
    check bench_plots_two_sizes_at_least $? 1 'nothing to plot'
    bench --from "$tmp/good.csv" --collective scan
    check bench_shows_what_is_there $? 1 'none of its points'
    bench --from "$tmp/none.csv"
    check bench_names_a_missing_file $? 1 'No such file'
    echo nonsense >"$tmp/read.csv"; unreadable bench_refuses_another_file 'read.csv:1: wrong number of fields'
    { echo "$head"; echo; } >"$tmp/read.csv"; unreadable bench_refuses_an_empty_line 'read.csv:2: wrong number'
    { echo "$head"; row other allreduce 8 3; } >"$tmp/read.csv"; unreadable bench_refuses_another_mpi 'read.csv:2: wrong mpi'
    { echo "$head"; row mpich reduceall 8 3; } >"$tmp/read.csv"; unreadable bench_refuses_another_collective 'read.csv:2: wrong collective'
    { echo "$head"; row mpich allreduce -8 3; } >"$tmp/read.csv"; unreadable bench_refuses_negative_sizes 'read.csv:2: wrong ranks or bytes'
    { echo "$head"; row mpich allreduce 8 nan; } >"$tmp/read.csv"; unreadable bench_refuses_no_number 'read.csv:2: wrong times'
    { echo "$head"; echo '"mpich,2'; } >"$tmp/read.csv"; unreadable bench_refuses_an_open_quote 'read.csv:2: wrong number of fields'
    head -c 20000 /dev/zero | tr '\0' ',' >"$tmp/read.csv"; unreadable bench_refuses_a_long_line 'read.csv:1: wrong number'

    bench neighbor --help
    check bench_neighbor_helps $? 0 '--graph=GRAPH'
    bench --help
    check bench_helps $? 0 '--all-algorithms'
}

# Every row as wide as the header, numbers where numbers belong, times above 0, results equal.
well_formed() {
    awk -F, -v want="$2" '
        NR == 1 { n = NF; next }
        NF != n || $7 !~ /^(yes|host-wrong)$/ || $8 < 1 { bad = bad " line " NR }
        { for (i = 11; i <= 21; i++) if ($i !~ /^[0-9.e+-]+$/ || $i + 0 <= 0) bad = bad " line " NR }
        END { if (NR - 1 != want) bad = bad " " NR - 1 " rows"; print bad }' "$1"
}

# measured NAME MPI ROWS ARGUMENTS...: a run of the benchmark whose CSV has that many rows.
measured() {
    name=$1 mpi=$2 rows=$3
    shift 3
    rm -f "$tmp/csv"
    first=
    [ "$1" = neighbor ] && first=neighbor && shift
    # shellcheck disable=SC2086
    bench $first --mpi "$mpi" --ranks 2 --rounds 3 --seconds 1 --csv "$tmp/csv" "$@"
    status=$?
    if [ $status -ne 0 ]; then
        fail "$name" "exit status $status: $(tail -n 1 "$tmp/err")"
        return
    fi
    bad=$(well_formed "$tmp/csv" "$rows")
    if [ -n "$bad" ]; then
        fail "$name" "CSV:$bad"
    elif [ "$(grep -c '^\[[0-9]*/' "$tmp/err")" -ne "$rows" ]; then
        fail "$name" "progress lines are missing"
    elif ! grep -q '^all ' "$tmp/out"; then
        fail "$name" "no summary"
    else
        ok "$name"
    fi
}

for mpi in ${*:-usage openmpi mpich}; do
    if [ "$mpi" = usage ]; then
        usage
        continue
    fi
    program=$build/libexec/skein-bench-$mpi
    if [ ! -x "$program" ]; then
        skip "bench_$mpi" "no skein-bench-$mpi was built"
        continue
    fi
    case $mpi in
    openmpi) launch="mpirun.openmpi --oversubscribe -n 2" preload="-x LD_PRELOAD=" ;;
    mpich) launch="mpiexec.mpich -n 2" preload="-genv LD_PRELOAD " ;;
    esac
    command -v "${launch%% *}" >/dev/null || launch="mpirun ${launch#* }"
    [ "$mpi$(id -u)" = openmpi0 ] && launch="$launch --allow-run-as-root"

    measured "bench_${mpi}_against_itself" $mpi 3 --plain --collective barrier,allreduce --bytes 8,1K
    # The file gives the same tables again.
    cp "$tmp/out" "$tmp/tables"
    bench --mpi $mpi --ranks 2 --from "$tmp/csv"
    cmp -s "$tmp/out" "$tmp/tables" && ok "bench_${mpi}_from_a_file" || fail "bench_${mpi}_from_a_file" "$(diff "$tmp/tables" "$tmp/out" | head -n 5)"
    all=$((16 * 1 + 1))
    measured "bench_${mpi}_makes_every_call" $mpi $all --plain --bytes 24
    measured "bench_${mpi}_takes_odd_sizes" $mpi $all --plain --bytes 13

    # Every form, and the conditions, as the CSV names them.
    measured "bench_${mpi}_makes_every_call_in_every_form" $mpi $((3 * all)) --plain --form all --bytes 13
    for row in "nonblocking,warm,30,0,reused,0 --form nonblocking" \
        "persistent,cold,5,0,reused,0 --form persistent --cold=5" "blocking,cold,30,0,reused,0 --cold" \
        "nonblocking,life,4,0,reused,0 --form nonblocking --life=4" \
        "nonblocking,overlap,30,0,reused,0 --form nonblocking --overlap" \
        "blocking,warm,30,7,reused,0 --gap 7" "persistent,warm,30,0,written,0 --form persistent --buffers written" \
        "nonblocking,warm,30,0,fresh,0 --form nonblocking --buffers fresh" "blocking,warm,30,0,reused,1 --busy 1"; do
        name="bench_${mpi}_measures_${row%% *}"
        # shellcheck disable=SC2086
        measured "$name" $mpi 3 --plain --collective barrier,bcast,allreduce --bytes 1K ${row#* }
        [ "$(grep -c ",${row%% *}," "$tmp/csv")" -eq 3 ] || fail "${name}_and_says_so" "$(cat "$tmp/csv")"
        grep -q '^worst: .*x .*\.\.' "$tmp/out" || fail "${name}_and_lists_the_worst" "$(cat "$tmp/out")"
    done
    measured "bench_${mpi}_measures_graphs_in_every_form" $mpi 15 neighbor --plain --graph random:0.7 \
        --collective all --bytes 8 --form all --life=3

    # The last column is the graph.
    measured "bench_${mpi}_neighbor_against_itself" $mpi 10 neighbor --plain --collective all \
        --graph random:0.7 --ranks 4 --bytes 8,13
    grep -q ',"random:0.7"$' "$tmp/csv" || fail "bench_${mpi}_names_the_graph" "$(cat "$tmp/csv")"
    grep -q ', 4 ranks, random:0.7, blocking: ' "$tmp/out" || fail "bench_${mpi}_heads_tables_with_the_graph" "$(cat "$tmp/out")"
    printf '%s\n' '%%MatrixMarket matrix coordinate pattern general' '4 4 3' '1 2' '2 3' '4 1' \
        >"$tmp/a.mtx"
    measured "bench_${mpi}_neighbor_takes_several_graphs" $mpi 4 neighbor --plain --bytes 8 \
        --ranks 1,4 --graph random:0 --graph "matrix:$tmp/a.mtx"
    grep -Eq '^neighbor_allgather +random:0 ' "$tmp/out" && grep -Eq '^neighbor_allgather +matrix:' "$tmp/out" ||
        fail "bench_${mpi}_sums_up_graph_by_graph" "$(cat "$tmp/out")"

    # Without the library the program must not report the host against itself as a measurement.
    timeout $(patience 60) $launch "$program" --collective bcast --bytes 8 >"$tmp/out" 2>"$tmp/err"
    [ $? -ne 0 ] && ! grep -q '^point' "$tmp/out" && grep -q 'not loaded' "$tmp/err" &&
        ok "bench_${mpi}_sees_that_skein_is_absent" ||
        fail "bench_${mpi}_sees_that_skein_is_absent" "$(head -n 1 "$tmp/out" "$tmp/err")"

    name=bench_${mpi}_finds_a_wrong_result
    wrong=$build/tests/bench/libbench-wrong-$mpi.so
    if [ ! -e "$wrong" ]; then
        skip $name "it was not built"
    else
        timeout $(patience 60) $launch $preload"$wrong" "$program" --collective bcast,allreduce \
            --bytes 8 --rounds 3 --budget 0.1 >"$tmp/out" 2>"$tmp/err"
        status=$?
        if [ $status -eq 0 ]; then
            fail $name "exit status 0"
        elif ! grep -q '^point bcast 8 yes ' "$tmp/out" || ! grep -q '^point allreduce 8 no ' "$tmp/out"; then
            fail $name "$(cat "$tmp/out")"
        elif ! grep -q 'wrong result: allreduce .* rank 1, byte 0 ' "$tmp/err"; then
            fail $name "$(cat "$tmp/err")"
        else
            ok $name
        fi
        for way in "--form nonblocking" "--phase cold" "--form nonblocking --phase overlap" "--phase life"; do
            # shellcheck disable=SC2086
            timeout $(patience 60) $launch $preload"$wrong" "$program" --collective allreduce \
                --bytes 8 --rounds 3 --budget 0.1 $way >"$tmp/out" 2>"$tmp/err"
            [ $? -eq 1 ] && grep -q '^point allreduce 8 no ' "$tmp/out" && ok "$name $way" ||
                fail "$name $way" "$(cat "$tmp/out")"
        done
        name=bench_${mpi}_finds_a_wrong_neighbor
        timeout $(patience 60) $launch $preload"$wrong" "$program" --graph random:1 --bytes 8 \
            --collective neighbor_alltoall,neighbor_allgather --rounds 3 --budget 0.1 \
            >"$tmp/out" 2>"$tmp/err"
        status=$?
        if [ $status -eq 0 ]; then
            fail $name "exit status 0"
        elif ! grep -q '^point neighbor_alltoall 8 yes ' "$tmp/out" ||
            ! grep -q '^point neighbor_allgather 8 no ' "$tmp/out"; then
            fail $name "$(cat "$tmp/out")"
        else
            ok $name
        fi
    fi

    if [ ! -f "$build/lib/libskein-$mpi.so" ]; then
        skip "bench_${mpi}_measures_skein" "no libskein-$mpi.so was built"
        continue
    fi
    measured "bench_${mpi}_measures_skein" $mpi 3 --collective barrier,allreduce --bytes 8,1K
    measured "bench_${mpi}_measures_every_collective" $mpi $((3 * all)) --bytes 1K --form all
    measured "bench_${mpi}_measures_fresh_communicators" $mpi 9 --bytes 1K --form all --cold \
        --collective bcast,alltoallv,scan
    # But for those that need several nodes.
    algos=$("$skein" info | awk '/^  allgather$/ { on = 1; next } /^  [a-z]/ { on = 0 }
        on && !/^    leaders / { n++ } END { print n }')
    measured "bench_${mpi}_measures_every_algorithm" $mpi "$algos" --all-algorithms \
        --collective allgather --bytes 1K
    measured "bench_${mpi}_forces_an_algorithm" $mpi 1 --collective allgather --algorithm ring \
        --bytes 1K
    grep -q ',allgather,1024,ring,auto,yes,' "$tmp/csv" || fail "bench_${mpi}_names_it" "$(cat "$tmp/csv")"
    # A ring is slow for 8 bytes, as a rule. Whatever was low is measured twice more, and has one row.
    bench --mpi $mpi --ranks 2 --rounds 3 --seconds 1 --csv "$tmp/csv" --collective allreduce --algorithm ring --bytes 8,24 --again=2
    low=$(sed -n 's/^\([0-9]*\) points are below .*/\1/p' "$tmp/err")
    [ "$(grep -c '^\[[0-9]*/' "$tmp/err")" -eq $((2 + 2 * ${low:-0})) ] && [ -z "$(well_formed "$tmp/csv" 2)" ] &&
        ok "bench_${mpi}_measures_again" || fail "bench_${mpi}_measures_again" "$(tail -n 5 "$tmp/err")"
    measured "bench_${mpi}_measures_neighbors" $mpi 10 neighbor --graph random:0.5 --ranks 4 \
        --collective all --bytes 8,1K
    algos=$("$skein" info | awk '/^  neighbor_allgather$/ { on = 1; next } /^  [a-z]/ || /^$/ { on = 0 } on' | wc -l)
    measured "bench_${mpi}_measures_every_neighbor_algorithm" $mpi "$algos" neighbor \
        --all-algorithms --graph random:0.5 --ranks 4 --bytes 8
    measured "bench_${mpi}_forces_the_host" $mpi 2 --collective allreduce --bytes 1K \
        --against allreduce=recursive_doubling
    grep -q ',recursive_doubling,yes,' "$tmp/csv" || fail "bench_${mpi}_names_the_host's" "$(cat "$tmp/csv")"
done
finish
