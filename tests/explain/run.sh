#!/bin/bash
# run.sh BUILD: `skein info`, `skein explain` and `skein help` as a user meets them, and an installed
# copy.
build=$(cd "$1" && pwd) || exit 2
skein=$build/bin/skein
. "$(dirname "$0")/../tap.sh"
for v in $(env | sed -n 's/^\(SKEIN[A-Z_]*\)=.*/\1/p'); do unset "$v"; done

# expect NAME STATUS PATTERN COMMAND...: the exit status, and a line of either output.
expect() {
    local name=$1 want=$2 pattern=$3 status
    shift 3
    "$@" >"$tmp/out" 2>&1 </dev/null
    status=$?
    if [ $status -ne "$want" ]; then
        fail "$name" "status $status, not $want: $(head -n 3 "$tmp/out" | tr '\n' ' ')"
    elif ! grep -qE -- "$pattern" "$tmp/out"; then
        fail "$name" "no '$pattern' in: $(head -n 3 "$tmp/out" | tr '\n' ' ')"
    else
        ok "$name"
    fi
}
explain() { "$skein" explain "$@"; }

expect version_is_printed 0 '^skein [0-9]+\.[0-9]+\.[0-9]+$' "$skein" --version
expect help_lists_the_commands 0 '^  explain ' "$skein" help
expect version_is_a_command 0 '^skein [0-9]+\.[0-9]+\.[0-9]+$' "$skein" version
expect version_has_a_short_option 0 '^skein [0-9]+\.[0-9]+\.[0-9]+$' "$skein" -V
for sub in 'bench match' 'bench neighbor' 'explain neighbor'; do
    # shellcheck disable=SC2086
    expect "help_of_${sub/ /_}_is_its_usage" 0 "^Usage: skein $sub" "$skein" help $sub
done
expect far_words_are_not_suggested 2 'no command zzzz; there are help, version, run, ' "$skein" zzzz
expect help_of_a_command_is_its_usage 0 '^Usage: skein explain' "$skein" help explain
expect no_command_is_wrong 2 '^Usage:' "$skein"
expect wrong_command_is_answered 2 'no command explian; did you mean explain' "$skein" explian

expect explain_shows_what_renaming_saves 0 'renamed: sequential +1008 +16515072 +8 +131072' \
    explain allreduce --ranks 64 --bytes 1M --algorithm ring --machine 'node:8 core:8 map:rr'
# Without a machine all ranks are on this node, as a job that runs here finds out, and it says so.
expect explain_takes_this_machine 0 '^chosen   shm:' explain allreduce --ranks 4 --bytes 1K
expect explain_says_that_it_takes_this_machine 0 '^machine  all ranks on this node, .*--machine' \
    explain allreduce --ranks 4 --bytes 1K
expect explain_takes_an_unknown_machine 0 '^chosen   doubling:' \
    explain allreduce --ranks 4 --bytes 1K --machine unknown
expect explain_takes_very_many_ranks 0 '^chosen   ' explain barrier --ranks 1000000
expect explain_knows_shared_memory 0 '^chosen   shm:' \
    explain allreduce --ranks 8 --bytes 1K --machine 'node:1 core:8'
expect explain_knows_leaders 0 '^chosen   leaders:' \
    explain bcast --ranks 16 --bytes 1K --machine 'node:2 core:8'
expect info_lists_algorithms 0 '^    rabenseifner ' "$skein" info

# What the MPIs' own commands say.
if [ -e "$build/lib/libskein-openmpi.so" ]; then
    expect info_names_openmpi 0 "^    openmpi  Open MPI $(mpirun.openmpi --version | sed -n '1s/.* //p');" "$skein" info
else
    skip info_names_openmpi "there is no library for it"
fi
if [ -e "$build/lib/libskein-mpich.so" ]; then
    expect info_names_mpich 0 "^    mpich    MPICH $(mpichversion | sed -n 's/^MPICH Version:[[:space:]]*//p'), device $(
        mpichversion | sed -n 's/^MPICH Device:[[:space:]]*//p');" "$skein" info
else
    skip info_names_mpich "there is no library for it"
fi
expect info_marks_given_settings 0 '^  \* SKEIN_BCAST_LONG +64K +12K' \
    env SKEIN_BCAST_LONG=64K "$skein" info
expect info_shows_forced_algorithms 0 '^  \* SKEIN_BCAST +chain +auto' \
    env SKEIN_BCAST=chain "$skein" info
expect info_suggests_near_words 2 'SKEIN=of: on or off is wanted; did you mean off' \
    env SKEIN=of "$skein" info
expect info_lists_the_words_otherwise 2 'SKEIN=maybe: on or off is wanted; yes, no,' \
    env SKEIN=maybe "$skein" info
expect info_refuses_unknown_settings 2 'unknown setting SKEIN_BCSAT; did you mean SKEIN_BCAST' \
    env SKEIN_BCSAT=chain "$skein" info

expect explain_says_which 0 '^chosen   scatter-doubling: ' explain bcast --ranks 48 --bytes 64K --machine unknown
expect explain_says_why 0 '^because  65536 bytes >= 12288 \(SKEIN_BCAST_LONG\) on 48 >= 8 ranks$' \
    explain bcast --ranks 48 --bytes 64K --machine unknown
expect explain_heeds_settings 0 '^chosen   binomial' \
    env SKEIN_BCAST_LONG=1M "$skein" explain bcast --ranks 48 --bytes 64K --machine unknown
expect explain_heeds_off 0 '^chosen   the host MPI' \
    env SKEIN=off "$skein" explain bcast --ranks 48 --bytes 64K
# The phase among leaders is chosen by the same rules and settings.
expect explain_shows_the_parts 0 '^parts    allreduce among 4 ranks, doubling: 64 bytes < 12288 ' \
    "$skein" explain allreduce --ranks 16 --bytes 64 --machine "node:4 core:4"
expect explain_parts_heed_settings 0 '^parts    allreduce among 4 ranks, rabenseifner: ' \
    env SKEIN_ALLREDUCE_LONG=8 "$skein" explain allreduce --ranks 16 --bytes 64 \
    --machine "node:4 core:4"
# 4.2: recursive doubling takes lg p rounds and sends (p - 1)/p of all bytes.
expect explain_counts_rounds 0 '^  rounds +4 +4 +4\.0 +4$' explain allgather --ranks 16 --bytes 8 --machine unknown
expect explain_counts_bytes 0 '^  bytes sent +120 +120 +120\.0 +120$' \
    explain allgather --ranks 16 --bytes 8 --machine unknown
# 4.1: the root of a tree on 8 ranks sends 3 messages, a leaf none; 7 in all.
expect explain_counts_over_ranks 0 '^  messages sent +3 +0 +0\.9 +3$' \
    explain bcast --ranks 8 --bytes 8 --machine unknown --root 5 --rank 5
expect explain_compares 0 '^  ring +94 +94 ' explain allreduce --ranks 48 --bytes 64K --machine unknown
expect explain_takes_another 0 '^because  asked for$' \
    explain allreduce --ranks 48 --bytes 64K --machine unknown --algorithm ring
expect explain_prints_the_schedule 0 '^schedule of rank 2, ' \
    explain allgather --ranks 5 --bytes 8 --rank 2 --print
expect explain_knows_what_does_not_fit 1 'ring does not fit this call' \
    explain allreduce --ranks 4 --bytes 8 --ordered --algorithm ring
for coll in $("$skein" info | sed -n 's/^  \([a-z_]*\)$/\1/p' | grep -v '^neighbor_'); do
    size="--count 100"
    [ "$coll" = barrier ] && size=
    for p in 1 2 13; do
        # shellcheck disable=SC2086
        expect "explain_${coll}_on_$p" 0 '^chosen   [a-z-]+: ' explain "$coll" --ranks $p $size
    done
done

expect wrong_collective_is_answered 2 'no collective alreduce; did you mean allreduce' \
    explain alreduce --ranks 2 --bytes 8
expect wrong_option_is_answered 2 'no option --rnaks; did you mean --rank' \
    explain allreduce --rnaks 2
expect wrong_algorithm_is_answered 2 'has no algorithm rign; did you mean ring' \
    explain allreduce --ranks 2 --bytes 8 --algorithm rign
expect ranks_are_needed 2 '--ranks from 1 to' explain allreduce --bytes 8
expect bytes_are_needed 2 'needs --bytes or --count' explain allreduce --ranks 2
expect numbers_are_checked 2 '--ranks takes a number from' explain allreduce --ranks two --bytes 8
expect values_are_needed 2 '--ranks needs a value' explain allreduce --ranks
expect roots_are_ranks 2 'not among 4 ranks' explain bcast --ranks 4 --bytes 8 --root 4
expect elements_are_whole 2 'no whole number of elements' \
    explain allreduce --ranks 4 --bytes 10 --type-size 4

# Predicted times. With prices from a file they can be computed by hand: 100 + (10 + 90) + 1000 + 200 ns.
cat >"$tmp/prices" <<'EOF'
# a network of round numbers
net.send 100 ns
net.latency 1 us
net.recv 0.2 us
net.eager 4 KB
port.gap 10 ns
port.byte 1 GB/s
step 0 ns
EOF
two() { explain bcast --ranks 2 --machine 'node:2 core:1' --prices "$tmp/prices" "$@"; }
expect explain_predicts_the_time 0 '^\*? +binomial +1 +1 +45\.0 +90 +0 +1\.40 us' two --bytes 90
expect explain_predicts_long_messages 0 ' binomial .* 11\.3 us' two --bytes 8000 --algorithm binomial # 2 us to ask
expect explain_marks_the_cheapest 0 '^\*?  *doubling .* [0-9.]+ us  cheapest$' \
    explain allreduce --ranks 64 --bytes 8 --machine 'node:64 core:1'
expect explain_marks_one_of_them 0 '^1$' sh -c "'$skein' explain allreduce --ranks 64 --bytes 8 \
    --machine 'node:8 core:8' | grep -c ' cheapest$'"
expect explain_tells_the_crossover 0 \
    '^  predicted cheapest: doubling, up to about [0-9]+ bytes \(above: rabenseifner\)$' \
    explain allreduce --ranks 64 --bytes 8 --machine 'node:64 core:1'
expect explain_tells_both_crossovers 0 \
    '^  predicted cheapest: rabenseifner, from about [0-9]+ bytes on \(below: (doubling|leaders)\), up to about [0-9]+' \
    explain allreduce --ranks 48 --bytes 64K --machine 'node:6 core:8'
expect explain_predicts_barriers 0 ' dissemination .* us  cheapest$' explain barrier --ranks 4 --machine unknown
expect explain_predicts_what_it_can 0 ' binomial +2 +2 +\? +\? +[0-9]+ +\?$' \
    explain scatterv --ranks 4 --bytes 1K
expect explain_predicts_for_many_ranks 0 ' doubling .* [0-9.]+ (us|ms)' \
    explain allreduce --ranks 8192 --bytes 1K --machine 'node:128 socket:2 core:32'
expect prices_are_shown 0 '^net.latency +1000 ns +# ' two --bytes 8 --show-prices
two --bytes 8 --show-prices >"$tmp/shown"
sed -i 's/^net.latency .*/net.latency 7 ms/' "$tmp/shown"
expect shown_prices_can_be_read 0 '^net.latency +7000000 ns ' two --bytes 8 --prices "$tmp/shown" --show-prices
expect copies_have_their_own_prices 0 '^socket.out +0\.7 ns/B ' env SKEIN_COPY=out:0.7ns "$skein" explain bcast \
    --ranks 4 --bytes 8 --machine 'node:1 core:4' --show-prices
echo 'net.latncy 1 us' >"$tmp/wrong"
expect wrong_prices_are_refused 2 'wrong: line 1: net.latncy: no such price; did you mean net.latency' \
    two --bytes 8 --prices "$tmp/wrong"
expect missing_prices_are_refused 2 'none: No such file' two --bytes 8 --prices "$tmp/none"
expect long_prices_are_refused 2 'too long, or no text' two --bytes 8 --prices /dev/zero

expect explain_plots 0 '^ +d  doubling$' explain allreduce --ranks 16 --machine 'node:4 core:4' --plot
expect explain_plots_times_over_sizes 0 '^ +[0-9.]+ us \+' explain allreduce --ranks 16 --machine 'node:4 core:4' --plot
# By gnuplot where it is installed, and without it.
expect explain_plots_to_a_file 0 '<svg ' sh -c "'$skein' explain allreduce --ranks 16 --machine 'node:4 core:4' \
    --plot='$tmp/plot.svg' && cat '$tmp/plot.svg'"
expect explain_writes_a_script 0 '^set terminal svg' sh -c "'$skein' explain allreduce --ranks 16 --machine 'node:4 core:4' \
    --plot='$tmp/plot.gp' && cat '$tmp/plot.gp'"
expect explain_plots_without_gnuplot 0 '^<svg .*viewBox="0 0 800 480"' sh -c "PATH='$tmp' '$skein' explain allreduce --ranks 16 \
    --machine 'node:4 core:4' --plot='$tmp/plot.svg' && cat '$tmp/plot.svg'"
expect the_file_has_a_line_for_each 0 '^4 24 24$' python3 -c "import xml.dom.minidom as m
root = m.parse('$tmp/plot.svg').documentElement
lines = [p for p in root.getElementsByTagName('path') if p.getAttribute('fill') == 'none']
points = [len(p.getAttribute('d').split('L')) for p in lines]
print(len(lines), min(points), max(points))"
expect explain_writes_a_table 0 '^ring,1024,[0-9.]+$' sh -c "'$skein' explain allreduce --ranks 16 \
    --machine 'node:4 core:4' --plot='$tmp/plot.csv' && cat '$tmp/plot.csv'"
expect barriers_have_no_plot 2 'nothing to plot' explain barrier --ranks 4 --plot
expect plots_that_cannot_be_written 1 'nowhere/plot.svg: No such file' \
    explain allreduce --ranks 4 --machine 'node:4' --plot="$tmp/nowhere/plot.svg"

# Neighbourhood collectives are explained on a graph and a machine. A Moore neighbourhood of 36 ranks
# on a 6 x 6 grid has 8 neighbours each; on one node all messages stay on the socket.
neighbor() { "$skein" explain neighbor "$@"; }
expect neighbor_counts_messages 0 \
    '^. direct +1 +8\.0 +8 +0\.0 +0 +0\.0 +0 +8\.0 +8$' neighbor --graph moore:2,1 --ranks 36 --bytes 8
expect neighbor_counts_bytes 0 \
    '^. direct +1 +64\.0 +64 +0\.0 +0 +0\.0 +0 +64\.0 +64$' neighbor --graph moore:2,1 --ranks 36 --bytes 8
expect neighbor_counts_levels 0 \
    '^. direct +1 +0\.0 +0 +0\.0 +0 +8\.0 +8 +8\.0 +8$' \
    neighbor --graph moore:2,1 --ranks 36 --bytes 8 --machine 'node:*'
# Who is chosen, and what the tuning file has to do with it.
moore=(explain neighbor --graph moore:2,1 --ranks 36 --bytes 8 --machine 'node:*')
expect explain_neighbor_chooses_by_the_model 0 '^because  it is the cheapest by the model$' "${moore[@]}"
printf 'skein-tuning 1\nmachine *\nneighbor_allgather 36 36 8 8 halving 5 10\nneighbor_allgather 36 36 8 8 host 3 10\n' >"$tmp/tuning"
expect explain_neighbor_chooses_by_the_tuning_file 0 '^chosen   the host MPI for blocking calls, for others halving$' \
    env SKEIN_TUNING="$tmp/tuning" "$skein" "${moore[@]}"
expect explain_neighbor_says_what_the_file_has 0 '^because  tuning file: halving 5 us, the host 3 us$' \
    env SKEIN_TUNING="$tmp/tuning" "$skein" "${moore[@]}"
expect explain_neighbor_heeds_settings 0 '^chosen   node$' \
    env SKEIN_TUNING="$tmp/tuning" SKEIN_NEIGHBOR_ALLGATHER=node "$skein" "${moore[@]}"
# On a complete graph of 60 ranks, 10 of them on a socket and 20 on a node, levels are 9, 10 and 40.
complete=(--graph random:1 --ranks 60 --bytes 32 --machine 'node:3 socket:2 core:10')
expect neighbor_tells_levels_apart 0 \
    '^. direct +1 +9\.0 +9 +10\.0 +10 +40\.0 +40 +59\.0 +59$' neighbor "${complete[@]}"
expect neighbor_shows_the_paper 0 '^paper    .*\(equations 1 and 2\): 4\.0, 10\.0; here ' \
    neighbor "${complete[@]}"
expect neighbor_finds_the_break_even 0 '^even     common is cheaper than direct for blocks below [0-9]+ b' \
    neighbor --graph moore:2,2 --ranks 64 --bytes 8
expect neighbor_lists_a_rank 0 '^  stage 0 +sends to +59: 0 \(node, 1\), 1 \(node, 1\), ' \
    neighbor "${complete[@]}" --rank 12
for coll in allgather alltoall; do
    for graph in random:0.3 random:0 moore:2,1 moore:3,2; do
        for method in direct common halving node spread; do
            expect "neighbor_${coll}_on_${graph}_by_$method" 0 "^. $method +[0-9]+ +[0-9.]+ " \
                neighbor --graph $graph --ranks 60 --bytes 32 --collective $coll \
                --machine "node:3 socket:2 core:10"
        done
        expect "neighbor_${coll}_on_${graph}_marks_one_method" 0 '^1$' sh -c "'$skein' explain neighbor \
            --graph $graph --ranks 60 --bytes 32 --collective $coll |
            awk '/^  predicted/ { on = 1 } on && /^[*]/ { n++ } END { print n }'"
    done
done
for p in 1 2 3 7; do
    expect "neighbor_on_$p" 0 '^[*] [a-z]+ ' neighbor --graph random:0.5 --ranks $p --bytes 8
done
expect neighbor_takes_the_options_of_friends 0 '^[*] ' neighbor --graph moore:2,2 --ranks 60 \
    --bytes 8 --theta 2 --friends 4 --cumulative
expect neighbor_takes_a_model 0 '^model    socket:0.4us,10GB node:0.6us,8GB net:9us,1GB ' \
    neighbor --graph moore:2,1 --ranks 16 --bytes 8 --model net:9us,1GB
expect neighbor_heeds_settings 0 '^machine  4 nodes' \
    env SKEIN_MACHINE='node:* core:4' "$skein" explain neighbor --graph moore:2,1 --ranks 16 --bytes 8
expect neighbor_helps 0 '^Usage: skein explain neighbor' neighbor --help
expect neighbor_wants_arguments 2 '^Usage: skein explain neighbor' neighbor
expect neighbor_wants_a_graph 2 '--graph is needed: random:' neighbor --ranks 4 --bytes 8
expect neighbor_wants_ranks 2 '--ranks from 1' neighbor --graph moore:2,1 --bytes 8
expect neighbor_wants_bytes 2 '--bytes is needed' neighbor --graph moore:2,1 --ranks 4
expect neighbor_names_the_nearest_option 2 'did you mean --machine' neighbor --mashine x
expect neighbor_names_the_nearest_graph 2 'did you mean random:' \
    neighbor --graph rondom:0.3 --ranks 4 --bytes 8
expect neighbor_names_the_nearest_collective 2 'did you mean alltoall' \
    neighbor --graph random:0.3 --ranks 4 --bytes 8 --collective altoall
expect neighbor_names_the_nearest_level 2 'did you mean node' \
    neighbor --graph random:0.3 --ranks 4 --bytes 8 --machine nod:4
expect neighbor_refuses_a_small_machine 2 'for 4 ranks' \
    neighbor --graph random:0.3 --ranks 4 --bytes 8 --machine 'node:3'
expect neighbor_refuses_a_bad_model 2 'a model is written like' \
    neighbor --graph random:0.3 --ranks 4 --bytes 8 --model net:3
expect neighbor_refuses_a_rank_that_is_none 2 '--rank takes a number from 0 to 3' \
    neighbor --graph random:0.3 --ranks 4 --bytes 8 --rank 4
expect neighbor_refuses_a_missing_file 2 'No such file' \
    neighbor --graph matrix:/nowhere/a.mtx --ranks 4 --bytes 8
printf '%s\n' '%%MatrixMarket matrix coordinate pattern general' '4 4 3' '1 2' '2 x' '3 1' >"$tmp/bad.mtx"
expect neighbor_names_the_line_of_a_bad_file 2 'bad.mtx:4: ' \
    neighbor --graph "matrix:$tmp/bad.mtx" --ranks 4 --bytes 8
printf '%s\n' '%%MatrixMarket matrix coordinate pattern general' '4 4 3' '1 2' '2 3' '3 1' >"$tmp/ring.mtx"
expect neighbor_reads_a_matrix 0 '^graph    matrix:.*: 3 edges, ' \
    neighbor --graph "matrix:$tmp/ring.mtx" --ranks 4 --bytes 8
expect explain_sends_neighbors_elsewhere 2 'use `skein explain neighbor --graph GRAPH --collective alltoallv`' \
    explain neighbor_alltoallv --ranks 4 --bytes 8

# An installed copy finds its own libraries, wherever it was put.
if DESTDIR=$tmp/stage meson install -C "$build" --no-rebuild >"$tmp/log" 2>&1; then
    installed=$(find "$tmp/stage" -path '*/bin/skein')
    mv "${installed%/bin/skein}" "$tmp/moved"
    if ls "$tmp/moved"/lib/libskein-*.so >/dev/null 2>&1; then
        expect installed_copy_finds_its_libraries 0 "^    [a-z]+ +$tmp/moved/lib/libskein-.*\.so$" \
            "$tmp/moved/bin/skein" info
    else
        skip "installed_copy_finds_its_libraries" "no library was built"
    fi
else
    fail install "$(tail -n 1 "$tmp/log")"
fi
# The tuning file.
printf 'skein-tuning 1\nmachine *\nprice net.latency 7 us\n%s\n%s\n%s\n' 'allreduce 4 1 - 1024 ring 5 1' \
    'allreduce 4 1 - 4096 ring 50 1' 'allreduce 4 1 - 4096 host 5 1' >"$tmp/tuning"
tuned() { env SKEIN_TUNING="$tmp/tuning" "$skein" "$@"; }
expect explain_uses_the_tuning_file 0 '^chosen   ring:' tuned explain allreduce --ranks 4 --bytes 1K
expect explain_says_what_was_measured 0 '^because  tuning file: ring 5 us$' tuned explain allreduce --ranks 4 --bytes 1K
expect explain_leaves_it_to_the_host 0 '^chosen   the host MPI for blocking calls, for others ring' \
    tuned explain allreduce --ranks 4 --bytes 4K
expect explain_takes_the_prices_of_the_file 0 '^net.latency +7000 ns' \
    tuned explain allreduce --ranks 4 --bytes 1K --show-prices
expect info_shows_the_tuning_file 0 '^    file +/.*/tuning$' tuned info
expect info_shows_its_machines 0 '^    for +\*: 3 times$' tuned info
expect info_says_how_to_get_one 0 '^    file +none: `skein tune`' env SKEIN_TUNING=off "$skein" info
echo 'bcast 4' >>"$tmp/tuning"
expect explain_names_a_wrong_line 0 '/tuning:7: 8 words are wanted.*the tuning file is ignored' \
    tuned explain allreduce --ranks 4 --bytes 1K
expect info_names_a_wrong_line 0 '/tuning:7: 8 words are wanted' tuned info

finish
