#!/bin/bash
# abi.sh BUILD FLAVOUR: programs of MPI 5.0's standard ABI on this MPI, with Skein. SEED fixes the random
# cases.
build=$(cd "$1" && pwd) || exit 2
mpi=$2
. "$(dirname "$0")/../tap.sh"
programs=$build/tests/mpi
seed=${SEED:-$(date +%s)}
if [ ! -e "$build/lib/libskein-abi.so" ]; then
    skip "abi_on_$mpi" "no mpi.h of the standard ABI here"
    finish
fi

# Debian has both MPIs' libraries under names of their own; the name that programs ask for is one of them.
library=$(ls "/usr/lib/$(uname -m)-linux-gnu/libmpi_abi_$mpi".so.?.?.? 2>/dev/null | head -n 1)
if [ -z "$library" ]; then
    skip "abi_on_$mpi" "no libmpi_abi_$mpi.so here"
    finish
fi
mkdir "$tmp/host" "$tmp/without"
ln -s "$library" "$tmp/host/libmpi_abi.so.1"
cp "$build/lib/libskein.so" "$tmp/without/"
export LD_LIBRARY_PATH=$tmp/host${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# The launcher with its options; `yield` is a library that MPICH's ranks need where they share cores.
launch() { # RANKS
    read -ra launch < <(launch_of "$mpi" "$1")
    yield=
    [ "$mpi" = openmpi ] || yield=$programs/libyield.so
}

# check NAME SERVED PROGRAM COMMAND...: the job ends well, and Skein served it, or (no) did not.
check() {
    local name="$1 on $mpi" served=$2 program=$3 status
    shift 3
    timeout "$(patience 150)" "$@" >"$tmp/out" 2>"$tmp/err"
    status=$?
    if [ $status -ne 0 ]; then
        fail "$name" "status $status: $(cat "$tmp/out" "$tmp/err" | grep -a "^$program: \|^skein" | head -n 2) (SEED=$seed)"
    elif [ "$served" = yes ] && ! grep -qE '^skein: .* (shm|doubling) ' "$tmp/err"; then
        fail "$name" "Skein served nothing: $(head -n 2 "$tmp/err")"
    elif [ "$program" = calls ] && [ "$(grep -c '^rank [01] right$' "$tmp/out")" != 2 ]; then
        fail "$name" "wrong results: $(head -n 2 "$tmp/out")"
    elif [ "$served" = no ] && [ "$(grep -c '^skein: ' "$tmp/err")" != 1 ]; then
        fail "$name" "not one line: $(grep '^skein' "$tmp/err" | head -n 3)"
    else
        ok "$name"
    fi
}

# MPI_ names are Skein's, PMPI_ names the host's: programs take those for the reference.
preload() { # RANKS LIBRARY PROGRAM [ARG...]
    local n=$1 lib=$2 program=$3
    shift 3
    launch "$n"
    check "$lib: $program${*:+ $*}${SKEIN_ALLREDUCE:+ $SKEIN_ALLREDUCE}, $n ranks" "${served:-yes}" "$program" \
        "${launch[@]}" env SKEIN_PMPI=off SKEIN_REPORT=1 LD_PRELOAD="$build/lib/$lib${yield:+:$yield}" "$programs/$program-abi" "$@"
}

for n in 2 5; do preload $n libskein-abi.so forms; done
for n in 2 3 5; do preload $n libskein-abi.so random "$seed" 40; done
preload 4 libskein-abi.so neighbors "$seed" 3
for algorithm in ring doubling; do SKEIN_ALLREDUCE=$algorithm preload 4 libskein-abi.so low; done
preload 2 libskein-abi.so threads "$seed" 20
for what in truncation intercomm; do served=any preload 2 libskein-abi.so errors $what; done
preload 3 libskein.so random "$seed" 20

launch 2
for option in --report "--report --mpi=$mpi"; do
    # shellcheck disable=SC2086
    check "skein run $option" yes calls "$build/bin/skein" run $option "${launch[@]}" "$programs/calls-abi"
done
check "without its library a program runs plain" no calls "${launch[@]}" \
    env LD_PRELOAD="$tmp/without/libskein.so" "$programs/calls-abi"
check "and under skein run" no calls \
    "$build/bin/skein" run --lib "$tmp/without" "${launch[@]}" "$programs/calls-abi"

name=MPICH
[ "$mpi" = mpich ] || name="Open MPI"
if "$build/bin/skein" info | grep -q "^    abi  *$name [0-9]"; then
    ok "skein info names $mpi"
else
    fail "skein info names $mpi" "$("$build/bin/skein" info | grep '^    abi')"
fi
finish
