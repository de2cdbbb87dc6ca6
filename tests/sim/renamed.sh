# renamed.sh: a ring on ranks that were dealt over the nodes. Part of run.sh.
# Simulated time, which is exact, of long allreduces on 2, 4 and 8 nodes of 8 ranks (the paper's
# figures 3 to 5): with the ranks' own names, renamed, and on ranks that fill node after node. Renamed
# must be 1.8 times as fast as not renamed, and within 2 % of ranks in order.

# rank_hosts NODES MAP: one line per rank, 8 to a node
rank_hosts() {
    i=0
    while [ $i -lt $(($1 * 8)) ]; do
        case $2 in
        rr) echo "node-$((i % $1))" ;;
        seq) echo "node-$((i / 8))" ;;
        esac
        i=$((i + 1))
    done
}

# times_of NODES MAP RENAME RESULT: the times of all sizes
times_of() {
    n=$(($1 * 8))
    rank_hosts "$1" "$2" >"$tmp/hosts"
    SKEIN_MACHINE="node:$1 core:8 map:$2" SKEIN_ALLREDUCE=ring SKEIN_RENAME=$3 SKEIN_REPORT=1 \
        timeout $(patience 300) smpirun -np $n -platform "$root/sim/star16.xml" -hostfile "$tmp/hosts" \
        --cfg=smpi/simulate-computation:no --log=root.thres:critical "$out/renamed.so" \
        >"$tmp/log" 2>&1 </dev/null
    rc=$?
    if [ $rc != 0 ] || ! grep -q "^$n ranks, 0 wrong values" "$tmp/log"; then
        fail "sim renamed, $1 x 8 ranks, map:$2, SKEIN_RENAME=$3" "exit $rc: $(tail -n 1 "$tmp/log")"
        return 1
    fi
    if ! grep -q 'allreduce.* ring ' "$tmp/log"; then
        fail "sim renamed, $1 x 8 ranks" "the report does not show that the library served the calls"
        return 1
    fi
    awk 'NF == 2 && /^[0-9]+ [0-9.]+$/' "$tmp/log" >"$4"
}

renamed() {
    for nodes in 2 4 8; do
        if ! times_of $nodes rr off "$tmp/plain" || ! times_of $nodes rr auto "$tmp/renamed" ||
            ! times_of $nodes seq off "$tmp/inorder"; then
            continue
        fi
        paste -d' ' "$tmp/plain" "$tmp/renamed" "$tmp/inorder" | awk -v nodes=$nodes '
            NF == 6 && $1 == $3 && $1 == $5 {
                faster = $2 / $4
                off = 100 * ($4 - $6) / $6
                good = faster >= 1.8 && off <= 2 && off >= -2
                printf "%s - sim ring on %d x 8 ranks, %d bytes: dealt %.1f us, renamed %.1f us (%.2fx), " \
                       "in order %.1f us (%+.1f %%)\n",
                    good ? "ok" : "not ok", nodes, $1, $2, $4, faster, $6, off
                n++
            }
            END { print (n == 5 ? "ok" : "not ok") " - sim ring on " nodes " x 8 ranks: 5 sizes"; print "1.." n + 1 }' \
            >"$tmp/tap"
        relay "" <"$tmp/tap"
    done
}
