#!/bin/sh
# mpi-flags.sh openmpi|mpich|abi|smpi cflags|libs|fflags|flibs: how to compile and link C or Fortran
# against that MPI, asked from its compiler wrapper. Fails, with the reason on standard error, when there
# is none.
flavour=$1 part=$2

# A wrapper counts only if its mpi.h is of the family asked for: plain `mpicc` may be any.
belongs() {
    command -v "$1" >/dev/null 2>&1 &&
        echo '#include <mpi.h>' | "$1" -E -dM -x c - 2>/dev/null | grep -q "^#define $2\b"
}

# The Fortran wrappers: known by the library that they link.
case $flavour:$part in
*:f*)
    case $flavour in
    openmpi) library=-lmpi_mpifh ;;
    mpich) library=-lmpichfort ;;
    *) echo "no Fortran for $flavour" >&2; exit 1 ;;
    esac
    for wrapper in mpifort.$flavour mpifort; do
        words=$("$wrapper" -show 2>/dev/null | tr -s ' ' '\n') || continue
        echo "$words" | grep -qx -e "$library" || continue
        case $part in
        fflags) echo "$words" | grep -e '^-I' -e '^-fallow' ;;
        flibs) echo "$words" | grep -e '^-L' -e '^-l' -e '^-Wl,-rpath' -e '^-pthread' ;;
        esac
        exit 0
    done
    echo "neither mpifort.$flavour nor mpifort is there, or is its own" >&2
    exit 1
    ;;
esac

case $flavour in
openmpi) macro=OPEN_MPI wrappers="mpicc.openmpi mpicc" ;;
mpich) macro=MPICH wrappers="mpicc.mpich mpicc" ;;
abi) macro="MPI_ABI_VERSION *1" wrappers="mpicc_abi mpicc" ;;
smpi) macro=SMPI_H wrappers=smpicc ;;
*) echo "unknown flavour $flavour" >&2; exit 2 ;;
esac

for wrapper in $wrappers; do
    if [ "$flavour" = smpi ] && command -v smpicc >/dev/null 2>&1; then
        found=$wrapper
    elif belongs "$wrapper" "$macro"; then
        found=$wrapper
    else
        continue
    fi
    break
done
# Open MPI keeps the header of the standard ABI beside its own.
if [ "$flavour:$found" = abi: ]; then
    for dir in $(mpicc.openmpi -show 2>/dev/null | tr -s ' ' '\n' | sed -n 's/^-I//p'); do
        [ -e "$dir/standard_abi/mpi.h" ] || continue
        case $part in cflags) echo "-isystem$dir/standard_abi" ;; libs) echo -lmpi_abi ;; esac
        exit 0
    done
fi
if [ "$flavour:$found" = abi: ]; then
    echo "no MPI here has an mpi.h of the standard ABI of MPI 5.0" >&2
    exit 1
fi
if [ -z "$found" ]; then
    echo "none of these belongs to it or is installed: $wrappers" >&2
    exit 1
fi

# The core is compiled without the simulator's header, so memory must come from one allocator only.
[ "$flavour:$part" = smpi:cflags ] && echo -DSMPI_NO_OVERRIDE_MALLOC

take_next=
"$found" -show | tr -s ' ' '\n' | while read -r word; do
    if [ -n "$take_next" ]; then
        [ "$part" = cflags ] && printf '%s\n' "$take_next" "$word"
        take_next=
        continue
    fi
    case $part:$word in
    *:-include) take_next=$word ;;
    cflags:-I/usr/include) ;;
    cflags:-I*) printf '%s\n' "-isystem${word#-I}" ;; # the headers of others are not ours to check
    cflags:-D* | libs:-L* | libs:-l* | libs:-Wl,-rpath* | libs:-pthread) echo "$word" ;;
    esac
done
