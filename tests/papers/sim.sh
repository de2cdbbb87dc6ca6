#!/bin/sh
# sim.sh BUILD_DIR: skein-sim on few ranks: what the order of its times must be on any cluster, and what it refuses.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${1:?usage: sim.sh BUILD_DIR}" && pwd) || exit 2
. "$here/../tap.sh"
sim="$build/lab/sim/skein-sim"

# holds NAME CONDITION ARG...: CONDITION is awk's, over us["METHOD,BYTES"]
holds() {
    name=$1 condition=$2
    shift 2
    if ! "$sim" -g random:0.5 -n 128 -m "node:8 socket:2 core:8" "$@" >"$tmp/out" 2>&1; then
        fail "$name" "$(cat "$tmp/out")"
    elif awk -F, "NR > 1 { us[\$1 \",\" \$2] = \$3; more[\$1 \",\" \$2] = \$5 } END { exit !($condition) }" "$tmp/out"; then
        ok "$name"
    else
        fail "$name" "$(tr '\n' ' ' <"$tmp/out")"
    fi
}

for cluster in niagara gpc; do
    holds "$cluster: short blocks per node, long ones spread" \
        'us["node,8"] < us["direct,8"] / 2 && us["spread,1048576"] < us["direct,1048576"] / 2 && us["best,8"] <= us["skein,8"]' \
        -p "$root/sim/$cluster.prices" -b 8,1M
done
holds "set-up per node is two messages between ranks of a node" 'more["node,128"] == 128 * 2 * 15' --setup -a node
for wrong in "-g star:1 -n 4 -b 8" "-g random:0.5 -n 4 -b 8 -a none" "-g random:0.5 -n 4 -b 8 -p /nowhere"; do
    # shellcheck disable=SC2086
    if "$sim" -m "node:2 core:2" $wrong >"$tmp/out" 2>&1; then
        fail "refused: $wrong" "it was not"
    else
        ok "refused: $wrong"
    fi
done
finish
