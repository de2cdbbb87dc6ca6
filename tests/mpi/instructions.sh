#!/bin/sh
# What a call costs: instructions.sh BUILD_DIR
# An 8-byte allreduce on 2 ranks, rank 0 under callgrind: the instructions of the library, without
# those of the host's functions it calls. A call that goes to the host may cost 200, one that is
# served from the cache 1500, and 900 where the ranks share memory. Prints ok, FAIL or skip with the
# number.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: instructions.sh BUILD_DIR}" && pwd) || exit 2
few=500
many=1500
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Rank 0 runs under callgrind; the other one is then always ahead, so nothing is spent on waiting.
# Symbols are bound at start: callgrind takes the binding of a symbol on its first call for recursion.
cat >"$work/rank.sh" <<'END'
#!/bin/sh
if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 ]; then
    LD_BIND_NOW=1 exec valgrind --tool=callgrind --toggle-collect=measured --callgrind-out-file="$OUT" "$@"
fi
exec "$@"
END
chmod +x "$work/rank.sh"

count() { # flavour setting calls file
    lib=$build/lib/libskein-$1.so
    prog=$build/tests-mpi/$1/instructions
    if [ "$1" = openmpi ]; then
        root=
        [ "$(id -u)" = 0 ] && root=--allow-run-as-root
        timeout 200 mpirun.openmpi $root --oversubscribe -n 2 -x LD_PRELOAD="$lib" -x OUT="$4" ${2:+-x $2} \
            "$work/rank.sh" "$prog" "$3"
    else
        timeout 200 mpiexec.mpich -n 2 -genv LD_PRELOAD "$lib" -genv OUT "$4" ${2:+-genv ${2%%=*} ${2#*=}} \
            "$work/rank.sh" "$prog" "$3"
    fi >"$work/log" 2>&1 </dev/null
}

measure() { # flavour name setting limit [waits]
    if ! count "$1" "$3" $few "$work/few" || ! count "$1" "$3" $many "$work/many"; then
        echo "FAIL $1 $2: the run failed: $(grep -v '^==' "$work/log" | head -1)"
        failed=1
        return
    fi
    n=$(awk -v waits="${5:-0}" -v few=$few -v many=$many -f "$here/instructions.awk" "$work/few" "$work/many")
    if [ "$n" = none ]; then
        echo "skip $1 $2: the library has no debug information, or the calls do not reach it"
    elif [ "$n" -gt "$4" ] || [ "$n" -lt 1 ]; then
        echo "FAIL $1 $2: $n instructions, at most $4"
        failed=1
    else
        echo "ok $1 $2: $n instructions, at most $4"
    fi
}

for flavour in openmpi mpich; do
    if ! command -v "mpicc.$flavour" >/dev/null; then
        echo "skip $flavour instructions: there is no mpicc.$flavour"
    elif ! command -v valgrind >/dev/null; then
        echo "skip $flavour instructions: there is no valgrind"
    elif [ ! -e "$build/lib/libskein-$flavour.so" ]; then
        echo "skip $flavour instructions: there is no libskein-$flavour.so"
    else
        mkdir -p "$build/tests-mpi/$flavour"
        (cd "$here" && "mpicc.$flavour" -std=gnu17 -O1 -g instructions.c testlib.c -o \
            "$build/tests-mpi/$flavour/instructions" -ldl) || exit 1
        measure $flavour "a call for the host" SKEIN_ALLREDUCE=off 200
        measure $flavour "a cached call" SKEIN_SHM=0 1500
        measure $flavour "a cached call over shared memory" SKEIN_FIND=0 900 1
    fi
done
exit $failed
