#!/bin/sh
# slurm.sh COMMAND...: on the first host of a cluster (run.sh), starts Slurm on all hosts and runs the command: srun,
# sbatch, salloc, or a script that uses them. One munged serves all hosts: its socket is a file, and files are common.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${CLUSTER_RSH:-}" ] || { echo "slurm.sh: run it inside of $here/run.sh" >&2; exit 2; }
for tool in munged slurmctld slurmd srun; do
    command -v $tool >/dev/null || { echo "slurm.sh: $tool is not installed" >&2; exit 77; }
done
dir=/run/slurm
[ ! -e $dir ] || { echo "slurm.sh: Slurm runs already" >&2; exit 2; }
mkdir -p $dir/state && chmod 755 $dir
me=$(id -un)
(umask 077 && dd if=/dev/urandom bs=1 count=1024 of=$dir/key 2>/dev/null)
munged --force --key-file=$dir/key --socket=$dir/munge --pid-file=$dir/munge.pid --log-file=$dir/munge.log \
    --seed-file=$dir/seed --num-threads=2 || exit 77

cat >$dir/slurm.conf <<CONF
ClusterName=lab
SlurmctldHost=h1
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$dir/munge
CryptoType=crypto/munge
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/slurmctld.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmdLogFile=$dir/slurmd.%n.log
SlurmdSpoolDir=$dir/spool.%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=pmi2
TmpFS=/run/%n
SlurmdParameters=config_overrides
CONF
# A host has as many cpus as it has slots, so that Slurm places ranks as the other launchers do.
awk -F: '{ n[$1] += $2 } END { for (h in n) print h, n[h] }' /run/hostfile.mpich | sort -V | while read -r host slots; do
    echo "NodeName=$host NodeAddr=$host CPUs=$slots State=UNKNOWN" >>$dir/slurm.conf
done
echo "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE" >>$dir/slurm.conf
echo "CgroupPlugin=cgroup/v1" >$dir/cgroup.conf

export SLURM_CONF=$dir/slurm.conf
slurmctld -f $dir/slurm.conf || { cat $dir/slurmctld.log >&2; exit 77; }
for i in $(seq "$CLUSTER_HOSTS"); do
    mkdir -p "$dir/spool.h$i"
    "$CLUSTER_RSH" "h$i" "SLURM_CONF=$dir/slurm.conf slurmd -N h$i -f $dir/slurm.conf" || exit 77
done
tries=0
until [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = "$CLUSTER_HOSTS" ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || { sinfo -N -l >&2; cat $dir/*.log >&2; exit 77; }
    sleep 0.1
done
exec "$@"
