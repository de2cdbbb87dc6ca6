#!/bin/sh
# run.sh: a cluster on one machine. See --help, and hosts.sh for what happens inside.
here=$(cd "$(dirname "$0")" && pwd)
usage() {
    cat <<'HELP'
usage: lab/cluster/run.sh [OPTION...] [--] COMMAND...
Runs COMMAND on the first of several hosts that are made of namespaces on this machine, for example
  lab/cluster/run.sh --hosts 4 --ranks 4 --delay 30us -- build/bin/skein run mpirun -n 16 ./app
The hosts h1, h2 ... have a network, a hostname, processes and shared memory of their own; files are common.
mpirun of Open MPI and mpiexec of MPICH find them by themselves. Nothing is left behind.

  --hosts N        how many (default: 2)
  --ranks R        slots of each host, or of each in turn: 3,1,2 (default: 2)
  --place seq|rr   ranks fill one host after the other (default), or go round robin
  --delay TIME     every packet takes so long: 30us, 1ms
  --rate RATE      what a host sends at most: 1gbit, 10gbit
  --cores all|own  a host may use all cores of this machine (default), or only its own share of them, at least one
  --name NAME      all hosts have this hostname

In COMMAND, $CLUSTER_RSH HOST COMMAND runs a command on a host, $CLUSTER_LOSE HOST link|power|processes
cuts a host off, and lab/cluster/slurm.sh COMMAND runs COMMAND with Slurm on all hosts.
Ends with the status of COMMAND; 77: this system does not allow namespaces.
HELP
}
wrong() { echo "run.sh: $*; see --help" >&2; exit 2; }

hosts=2 ranks=2 place=seq delay='' rate='' cores=all name=''
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) usage; exit 0 ;;
    --) shift; break ;;
    --hosts | --ranks | --place | --delay | --rate | --cores | --name)
        [ $# -gt 1 ] || wrong "$1 needs a value"
        eval "${1#--}=\$2"
        shift 2
        ;;
    -*) wrong "no option $1" ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || wrong "no command to run"
case $hosts in '' | *[!0-9]* | 0*) wrong "--hosts $hosts is no number" ;; esac
[ "$hosts" -lt 255 ] || wrong "at most 254 hosts"
case $ranks in '' | *[!0-9,]* | ,* | *, | *,,*) wrong "--ranks $ranks is no list of numbers" ;; esac
case $place in seq | rr) ;; *) wrong "--place is seq or rr, not $place" ;; esac
case $cores in all | own) ;; *) wrong "--cores is all or own, not $cores" ;; esac
case $delay in '' | [0-9]*us | [0-9]*ms) ;; *) wrong "--delay $delay: write 30us or 1ms" ;; esac

# Everything lives in one namespace of processes: when its first process dies, the kernel ends the others, and the
# networks and mounts go with them. It dies with this shell, however that ends.
outer="setpriv --pdeathsig KILL unshare --net --mount --ipc --pid --fork --kill-child --mount-proc"
[ "$(id -u)" = 0 ] || outer="unshare --user --map-root-user $outer"
export PATH="$PATH:/usr/sbin:/sbin"
for tool in setpriv unshare nsenter taskset ip tc; do
    command -v $tool >/dev/null || { echo "run.sh: no cluster here: $tool is not installed" >&2; exit 77; }
done
why=$($outer true 2>&1) || { echo "run.sh: no cluster here: $why" >&2; exit 77; }
$outer "$here/hosts.sh" "$hosts" "$ranks" "$place" "$delay" "$rate" "$cores" "$name" "$@" <&0 &
cluster=$!
trap 'kill -9 $cluster; exit 143' HUP INT TERM
wait $cluster
