#!/bin/sh
# hosts.sh HOSTS RANKS PLACE DELAY RATE CORES NAME COMMAND...: the inside of run.sh, first process of the outer namespaces.
# Makes the hosts, runs the command on the first one, and serves rsh.sh and lose.sh until it ends. A host is a process
# that holds its namespaces: a process of one host cannot enter another, so all is started from here.
set -u
here=$(cd "$(dirname "$0")" && pwd)
hosts=$1 ranks=$2 place=$3 delay=$4 rate=$5 cores=$6 name=$7
shift 7
die() { echo "hosts.sh: $*" >&2; exit 77; }

mount -t tmpfs tmpfs /run || die "cannot mount /run"
mkfifo /run/requests
exec 8<>/run/requests

# The table of names, and who holds how many ranks. All lists of ranks are in the order of the hosts.
{
    echo "127.0.0.1 localhost"
    for i in $(seq "$hosts"); do echo "10.77.0.$i h$i"; done
} >/run/hosts
mount --bind /run/hosts /etc/hosts || die "cannot replace /etc/hosts"
slots() { # of host $1
    echo "$ranks" | awk -F, -v i="$1" '{ print $((i - 1) % NF + 1) }'
}
for i in $(seq "$hosts"); do echo "h$i slots=$(slots "$i")"; done >/run/hostfile.openmpi
for i in $(seq "$hosts"); do echo "h$i:$(slots "$i")"; done >/run/hostfile.mpich
CLUSTER_RANKS=$(awk -F: '{ n += $2 } END { print n }' /run/hostfile.mpich)
if [ "$place" = rr ]; then # Hydra goes through the lines, with a proxy for each
    awk -F: '{ host[NR] = $1; left[NR] = $2; most = $2 > most ? $2 : most }
             END { for (k = 0; k < most; k++) for (i = 1; i <= NR; i++) if (left[i]-- > 0) print host[i] ":1" }' \
        /run/hostfile.mpich >/run/hostfile.rr
    mv /run/hostfile.rr /run/hostfile.mpich
fi

# The switch: a bridge, or a relay that holds packets back if there is no netem in this kernel.
ip link set lo up
ip link add br0 type bridge || die "cannot make a bridge"
ip link set br0 up
relay=''
if [ -n "$delay" ] && ! tc qdisc add dev br0 root netem delay "$delay" 2>/dev/null; then
    ${CC:-cc} -D_GNU_SOURCE -O2 -o /run/relay "$here/relay.c" || die "cannot compile the relay, and there is no netem"
    relay=yes
fi
tc qdisc del dev br0 root 2>/dev/null

# host I: makes host I; its process is written to /run/hI.pid.
host() {
    mkdir "/run/h$1"
    cat /proc/sys/kernel/random/uuid >"/run/h$1.boot"
    # The first process of a host collects what others leave.
    unshare --net --uts --ipc --pid --mount --fork --kill-child --mount-proc sh -c '
        exec 8>&- </dev/null
        hostname "$2" && mount -t tmpfs tmpfs /dev/shm && mount --bind "/run/$1.boot" /proc/sys/kernel/random/boot_id &&
            ip link set lo up && : >"/run/$1.ready"
        while :; do sleep 1000 & wait; done' "host-h$1" "h$1" "${name:-h$1}" &
    echo $! >"/run/h$1.pid"
}
# Before a command of host hI: with --cores own it runs on the host's share of the cores, or on one that hosts share.
on_cores() {
    [ "$cores" = all ] || echo "taskset -c $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr , '\n' |
        awk -F- -v i="${1#h}" -v hosts="$hosts" '
            { for (c = $1; c <= $NF; c++) cpu[n++] = c }
            END { for (k = (i - 1) % n; k < n; k += hosts) { printf "%s%s", comma, cpu[k]; comma = "," } }')"
}
into() { # HOST COMMAND...
    at=$(cat "/run/$1.pid") on=$(on_cores "$1")
    shift
    ${on:-} nsenter -t "$at" -m -n -u -i --pid="/proc/$at/ns/pid_for_children" "$@"
}
# wait_for FILE...
wait_for() {
    for f in "$@"; do
        tries=0
        until [ -e "$f" ]; do
            tries=$((tries + 1))
            [ $tries -lt 1000 ] || die "$f does not appear"
            sleep 0.01
        done
    done
}
plug() { # I
    at=$(cat "/run/h$1.pid")
    if [ -n "$relay" ]; then
        ip link set "h$1" netns "$at" name eth0
    else
        ip link add "h$1" type veth peer name eth0 netns "$at" && ip link set "h$1" master br0 up
    fi || die "cannot plug in h$1"
    nsenter -t "$at" -n sh -c '
        ip link set eth0 address "$(printf 02:00:00:00:00:%02x "$1")" && ip addr add "10.77.0.$1/24" dev eth0 &&
            ip link set eth0 up' plug "$1" || die "h$1 has no network"
    shape=${rate:+tbf rate $rate burst 128kb latency 50ms}
    [ -z "$delay" ] || [ -n "$relay" ] || shape="netem delay $delay ${rate:+rate $rate}"
    [ -n "$shape" ] || return 0
    nsenter -t "$at" -n tc qdisc add dev eth0 root $shape || die "cannot do: tc $shape"
}

for i in $(seq "$hosts"); do host "$i"; done
for i in $(seq "$hosts"); do wait_for "/run/h$i.ready"; done
if [ -n "$relay" ]; then
    case $delay in *ms) us=${delay%ms}000 ;; *) us=${delay%us} ;; esac
    chrt -f 1 true 2>/dev/null && first="chrt -f 1"
    ${first:-} /run/relay "$hosts" "$us" /run/relay.ready 8>&- &
    wait_for /run/relay.ready
fi
for i in $(seq "$hosts"); do plug "$i"; done

# What launchers read. All ranks share the cores of this machine: Open MPI does not know that and would spin.
export CLUSTER_HOSTS="$hosts" CLUSTER_RANKS CLUSTER_RSH="$here/rsh.sh" CLUSTER_LOSE="$here/lose.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent="$CLUSTER_RSH"
export OMPI_MCA_orte_default_hostfile=/run/hostfile.openmpi OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_oob_tcp_if_include=eth0 OMPI_MCA_btl_tcp_if_include=eth0 OMPI_MCA_mpi_yield_when_idle=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_plm_ssh_agent="$CLUSTER_RSH"
export PRTE_MCA_prte_default_hostfile=/run/hostfile.openmpi PRTE_MCA_hwloc_default_binding_policy=none
export UCX_NET_DEVICES=eth0 # not lo, which every host has
export HYDRA_HOST_FILE=/run/hostfile.mpich HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC="$CLUSTER_RSH" HYDRA_IFACE=eth0
if [ "$place" = rr ]; then
    export OMPI_MCA_rmaps_base_mapping_policy=node PRTE_MCA_rmaps_default_mapping_policy=node
fi

# The command, with this environment; its end is one more request.
here_dir=$PWD
{
    into h1 env TMPDIR=/run/h1 sh -c 'cd "$0" && exec "$@"' "$here_dir" "$@" 8>&-
    echo "end $?" >/run/requests
} &

# run HOST JOB: for rsh.sh. As with ssh nothing of the caller's environment arrives.
run() {
    into "$1" env -i HOME="$HOME" USER="${USER:-root}" LOGNAME="${LOGNAME:-root}" SHELL=/bin/sh TMPDIR="/run/$1" \
        PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin sh -c "$(cat "$2/command")" \
        </dev/null >"$2/out" 2>"$2/err" 8>&-
    echo $? >"$2/status"
}
lose() { # HOST HOW
    at=$(cat "/run/$1.pid")
    case $2 in link | power) nsenter -t "$at" -n ip link set eth0 down ;; esac
    case $2 in processes | power) kill -9 "$at" ;; esac
}
while read -r request what how <&8; do
    case $request in
    run) run "$what" "$how" & ;;
    lose) lose "$what" "$how" ;;
    end) exit "$what" ;;
    esac
done
