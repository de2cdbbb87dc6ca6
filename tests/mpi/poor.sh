#!/bin/bash
# poor.sh BUILD FLAVOUR RANKS [FORM...]: does the guard correct poor defaults? Each line is a collective, size and form, in us of
# a call: with the poor setting and the guard, first 50 calls and last ones; without the guard by the poor algorithm, by the
# one that Skein would choose, and by the host; and the last ones over the best of these three. Medians of 5 runs each. No
# test, as it is about times: `make test` counts who serves (run.sh, group guard).
build=$(cd "${1:?usage: poor.sh BUILD FLAVOUR RANKS [FORM...]}" && pwd) || exit 2
flavour=$2 ranks=$3
shift 3
runs=${RUNS:-5} calls=${CALLS:-1000}

# once NAME=VALUE... -- FORM COLLECTIVE BYTES: "FIRST LAST"
once() {
    local vars=() preload=$build/lib/libskein.so launch v
    while [ "$1" != -- ]; do
        vars+=("$1")
        shift
    done
    shift
    vars+=(SKEIN_FIND=0 SKEIN_PMPI=off)
    if [ "$flavour" = openmpi ]; then
        launch=(mpirun.openmpi -n "$ranks" --oversubscribe)
        [ "$(id -u)" = 0 ] && launch+=(--allow-run-as-root)
        for v in "${vars[@]}"; do launch+=(-x "$v"); done
        launch+=(-x "LD_PRELOAD=$preload")
    else
        launch=(mpiexec.mpich -n "$ranks")
        [ "$ranks" -gt "$(nproc)" ] && preload=$preload:$build/tests/mpi/libyield.so
        for v in "${vars[@]}"; do launch+=(-genv "${v%%=*}" "${v#*=}"); done
        launch+=(-genv LD_PRELOAD "$preload")
    fi
    timeout 60 "${launch[@]}" "$build/tests/mpi/poor-$flavour" "$@" "$calls" 2>/dev/null |
        sed -n 's/^poor: .*first \([0-9.]*\) us, then \([0-9.]*\) us$/\1 \2/p'
}

median() { # COLUMN, of lines
    sort -n -k "$1" | awk -v c="$1" '{ v[NR] = $c } END { print NR ? v[int((NR + 1) / 2)] : "-" }'
}

# cell POOR REST COLLECTIVE BYTES: REST holds in all runs, POOR in those with the poor algorithm.
cell() {
    local poor=$1 rest=$2 form i guard off good host
    shift 2
    for form in $forms; do
        guard="" off="" good="" host=""
        for ((i = 0; i < runs; i++)); do # by turns, so that a slow moment meets all
            guard+=$(once $poor $rest -- "$form" "$@")$'\n'
            off+=$(once $poor $rest SKEIN_GUARD=off -- "$form" "$@")$'\n'
            good+=$(once $rest SKEIN_GUARD=off -- "$form" "$@")$'\n'
            host+=$(once SKEIN=off -- "$form" "$@")$'\n'
        done
        echo "$form $1 $2 $(median 1 <<<"${guard%$'\n'}") $(median 2 <<<"${guard%$'\n'}") $(median 2 <<<"${off%$'\n'}") \
$(median 2 <<<"${good%$'\n'}") $(median 2 <<<"${host%$'\n'}") $poor" |
            awk '{
                best = $6
                for (i = 7; i <= 8; i++) if ($i != "-" && $i < best) best = $i
                printf "%-12s %-10s %7d  %8.2f %8.2f  %8.2f %8.2f %8s  %5.2f  %s\n", $1, $2, $3, $4, $5, $6, $7, $8, $5 / best, $9
            }'
    done
}

forms=${*:-blocking nonblocking persistent}
printf '%-12s %-10s %7s  %8s %8s  %8s %8s %8s  %5s  %s\n' form collective bytes first last poor good host 'last/best' setting
cell SKEIN_ALLREDUCE_RING=1 SKEIN_SHM=0 allreduce 240
cell SKEIN_ALLREDUCE_RING=1 SKEIN_SHM=0 allreduce 4096
cell SKEIN_SINGLE_COPY=1 SKEIN_X= bcast 1024
cell SKEIN_SINGLE_COPY=1 SKEIN_X= allreduce 1024
cell SKEIN_ALLTOALL_SHORT=1G SKEIN_SHM=0 alltoall 16384
