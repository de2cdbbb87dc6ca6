#!/bin/sh
# deps.sh [run]: see to it that what building and testing need is installed; run: only what Skein and the
# examples need. Quick when it is.
packages="gcc libc6-dev make pkg-config meson ninja-build openmpi-bin libopenmpi-dev libfabric-dev"
[ "${1:-}" = run ] || packages="$packages gfortran mpich libmpich-dev libsimgrid-dev libfabric-bin hpcc
libcmocka-dev clang libclang-rt-dev clang-format clang-tidy valgrind libc6-dbg mandoc lowdown python3
iproute2 util-linux procps slurmctld slurmd slurm-client munge gnuplot-nox
chromium-headless-shell"
# The line before the last is for tests/cluster, where Slurm and munge took 10 seconds to install, and for plots. The
# last is for tests/page: 16 seconds, 64 MB.
# LONG=1: programs of others, see tests/fortran/codes.sh; debootstrap, see root.sh; what builds packages, see
# tests/package; LLVM's Fortran compiler, whose package has its version in its name.
[ -z "${LONG:-}" ] ||
    packages="$packages scalapack-mpi-test mumps-test quantum-espresso quantum-espresso-data cp2k debootstrap
debhelper dpkg-dev lintian cmake zsh tcl lua5.3
$(apt-cache pkgnames flang- 2>/dev/null | grep -x 'flang-[0-9]*' | sort -V | tail -n 1)"

if ! command -v dpkg-query >/dev/null 2>&1; then
    missing=$packages
else
    missing=
    for p in $packages; do
        case $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null) in
        *" installed") ;;
        *) missing="$missing $p" ;;
        esac
    done
fi
[ -z "$missing" ] && exit 0

command="apt-get install -y --no-install-recommends"
missing=$(echo $missing)
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing: $missing"
    export DEBIAN_FRONTEND=noninteractive
    log=$(mktemp) || exit 1
    trap 'rm -f "$log"' EXIT
    step() {
        echo "  $(echo "$*" | cut -c1-60) ..."
        "$@" >"$log" 2>&1 && return
        tail -n 20 "$log" >&2
        echo "failed: $*" >&2
        exit 1
    }
    step apt-get update
    known=
    for p in $missing; do
        if apt-cache policy "$p" | grep -q 'Candidate: [0-9]'; then
            known="$known $p"
        else
            echo "  this Debian has no $p"
        fi
    done
    [ -z "$known" ] || step $command $known
    exit 0
fi

echo "not installed: $missing"
echo "to install them: sudo $command $missing"
for tool in cc meson ninja pkg-config; do
    if ! command -v $tool >/dev/null 2>&1; then
        echo "cannot go on without $tool" >&2
        exit 1
    fi
done
echo "going on without them"
