#!/bin/sh
# flang.sh OUT FLANG DEFINE... -- FLAG... -- LIB...: the program `interfaces` for mpif.h, by LLVM's Fortran
# compiler. The modules of the MPIs are gfortran's, but mpif.h is for all. Its preprocessor is not the
# traditional one that the sources want, so gfortran's is used.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") flang=$2 defines= flags=
shift 2
while [ "$1" != -- ]; do defines="$defines $1"; shift; done
shift
while [ "$1" != -- ]; do case $1 in -I*) flags="$flags $1" ;; esac; shift; done
shift
libs=
for word in "$@"; do case $word in -[lL]*) libs="$libs $word" ;; esac; done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
for part in support.f90 requests.F90 collectives.F90 details.F90 neighbors.F90 interfaces.F90; do
    gfortran -cpp -E -P -DIFACE=1 $defines -I"$here" "$here/$part" -o "${part%.*}.f90"
    "$flang" -c $flags "${part%.*}.f90" -o "${part%.*}.o"
done
cc -c "$here/seen.c" -o seen.o
link=
"$flang" -### -flang-experimental-exec support.o >/dev/null 2>&1 && link=-flang-experimental-exec
"$flang" $link ./*.o -o "$out" $libs -ldl
