#!/bin/sh
# rsh.sh [OPTION...] HOST COMMAND...: runs the command on a host of the cluster, as ssh -n would: the words become one
# line for its shell, it gets a fresh environment and no input, and its status is ours.
while :; do
    case ${1:-} in
    -l | -p | -i | -o | -F) shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
host=${1#*@}
shift
[ -p /run/requests ] && [ -e "/run/$host.pid" ] || { echo "rsh.sh: there is no host $host" >&2; exit 255; }
job=$(mktemp -d /run/job.XXXXXX) || exit 255
mkfifo "$job/out" "$job/err" "$job/status"
echo "$*" >"$job/command"
echo "run $host $job" >/run/requests
cat "$job/out" &
cat "$job/err" >&2 &
read -r status <"$job/status"
wait
rm -rf "$job"
exit "${status:-255}"
