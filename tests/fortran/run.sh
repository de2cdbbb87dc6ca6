#!/bin/sh
# The Fortran tests: run.sh BUILD_DIR FLAVOUR [GROUP...]
# The groups are interfaces, random and instructions. Programs run plain and with the library preloaded,
# for mpif.h, `use mpi` and `use mpi_f08`, all by gfortran, and for mpif.h by flang. They check their results, and that Skein counted every
# collective that they called exactly once. SEED=n fixes the random cases.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD_DIR FLAVOUR [GROUP...]}" && pwd) || exit 2
flavour=${2:?a flavour}
shift 2
. "$here/../tap.sh"
only=${*:-interfaces random instructions}
seed=${SEED:-$(date +%s)}
cores=$(nproc 2>/dev/null || echo 1)
programs=$build/tests/fortran
library=$build/lib/libskein.so
log=$tmp/log

wanted() { case " $only " in *" $1 "*) ;; *) return 1 ;; esac; }

# start RANKS plain|skein [NAME=VALUE...] -- COMMAND...: the job, its output in $log.
start() {
    ranks=$1 preload=
    [ "$2" = skein ] && preload=$library
    shift 2
    if [ "$flavour" = openmpi ]; then
        words=$(launch_of openmpi "$ranks")
        while [ "$1" != -- ]; do words="$words -x $1"; shift; done
        words="$words ${preload:+-x LD_PRELOAD=$preload}"
    else
        words=$(launch_of mpich "$ranks")
        while [ "$1" != -- ]; do words="$words -genv ${1%%=*} ${1#*=}"; shift; done
        [ "$ranks" -gt "$cores" ] && preload=${preload:+$preload:}$build/tests/mpi/libyield.so
        words="$words ${preload:+-genv LD_PRELOAD $preload}"
    fi
    shift
    replay="$words $*"
    timeout "$(patience 60)" $words "$@" >"$log" 2>&1 </dev/null
}

# fault STATUS: how the run failed, whichever rank said so first; nothing if it ended well.
fault() {
    [ "$1" = 0 ] && return
    found=$(grep -aE '^(interfaces|random) \(|^ERROR STOP|signal SIG' "$log" | sed 's/rank [0-9]*: //' | head -n 1)
    echo "${found:-exit $1}"
}

# check NAME STATUS: the test, by the status of the job. $faulty is the fault of the plain run: the same under
# Skein is the host's.
check() {
    if [ "$2" = 0 ]; then
        ok "$1"
        return 0
    fi
    why=$(grep -aE '^(interfaces|random) \(|^ERROR STOP' "$log" | head -3)
    if [ "$(fault "$2")" = "$faulty" ]; then
        skip "$1" "it fails without Skein too: $faulty"
        return 1
    fi
    fail "$1" "${why:-exit $2: $(grep -av '^[-[:space:]]*$' "$log" | head -3)} (replay: $replay)"
    return 1
}

# left_out NAME: what the last run did without, because the host errs in it.
left_out() {
    why=$(sed -n 's/^left out: //p' "$log")
    [ -z "$why" ] || skip "$1: some calls" "$why"
}

# What the report must say of the calls that rank 0 made: all are there, and Skein served some of each
# collective. The report has the largest counts over ranks, so it can show more.
compare() { # name log report ranks
    python3 - "$2" "$3" "$4" <<'END' >"$tmp/said" 2>&1 && ok "$1" || fail "$1" "$(tail -n 5 "$tmp/said")"
import json, sys
made = {w[1]: int(w[2]) for w in (line.split() for line in open(sys.argv[1])) if len(w) == 3 and w[0] == "made"}
report = json.load(open(sys.argv[2]))
rows = report["rows"]
bad = [] if len(made) == 22 else ["the program made %d collectives, not 22" % len(made)]
for coll, calls in made.items():
    seen = [r for r in rows if r["collective"] == coll]
    if sum(r["calls"] for r in seen) < calls:
        bad.append("%s: %d calls, the report has %d" % (coll, calls, sum(r["calls"] for r in seen)))
    if int(sys.argv[3]) > 1 and not any(r.get("algorithm") for r in seen):
        bad.append("%s: none of %d calls was served" % (coll, calls))
if not any(c["name"] == "MPI_COMM_WORLD" and c["calls"] for c in report["communicators"]):
    bad.append("no calls on MPI_COMM_WORLD in the report")
print("\n".join(bad))
sys.exit(bool(bad))
END
}

# The results of a program, plain and under Skein, are both compared with the definition.
interfaces() { # interface ranks...
    interface=$1
    shift
    for n; do
        program=$programs/interfaces-$interface-$flavour
        start $n plain -- "$program"
        status=$?
        faulty=$(fault $status)
        check "$flavour $interface, plain, $n ranks" $status
        rm -f "$tmp/report"
        start $n skein "SKEIN_REPORT=$tmp/report" -- "$program"
        check "$flavour $interface under Skein, $n ranks" $? &&
            compare "$flavour $interface under Skein, $n ranks: every collective is in the report" "$log" "$tmp/report" $n
        start $n skein SKEIN_FIND=0 -- "$program"
        check "$flavour $interface over shared memory, $n ranks" $?
    done
    left_out "$flavour $interface"
}

random() { # interface
    program=$programs/random-$1-$flavour
    start 3 plain -- "$program" 1 100 # of this seed, because with others the hosts alone err or hang
    status=$?
    faulty=$(fault $status)
    check "$flavour random $1, seed 1, plain" $status
    for n in 1 2 3 4 5; do
        start $n skein SKEIN_GUARD=off -- "$program" "$seed" 200 # the hosts err in some: see tests/mpi/random.c
        check "$flavour random $1, seed $seed, $n ranks" $?
    done
    start 4 skein SKEIN_GUARD=off SKEIN_FIND=0 -- "$program" "$seed" 200
    check "$flavour random $1, seed $seed, over shared memory" $?
    start 5 skein SKEIN_GUARD=off SKEIN_SHM=0 -- "$program" "$seed" 100
    check "$flavour random $1, seed $seed, by messages" $?
    left_out "$flavour random $1"
}

if [ ! -x "$programs/random-mpi-$flavour" ]; then
    skip "$flavour Fortran" "its programs were not built: there is no gfortran, or no mpifort of this MPI"
elif [ ! -e "$library" ]; then
    skip "$flavour Fortran" "there is no $library"
else
    for interface in mpifh mpi mpi_f08; do
        wanted interfaces && interfaces $interface 1 2 3 4 5
        wanted random && random $interface
    done
    if [ -x "$programs/interfaces-flang-$flavour" ]; then
        wanted interfaces && interfaces flang 2 5
    else
        wanted interfaces && skip "$flavour flang" "there is no flang; LONG=1 make deps installs one"
    fi
    wanted instructions && . "$here/instructions.sh"
fi
finish
