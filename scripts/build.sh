#!/bin/sh
# build.sh DIR [MESON-OPTION]...: configure DIR when it is new, or when a file, an MPI or a tool came or went, and
# build. PREFIX is where `make install` puts it. TARGETS: build only these. QUIET=1: one line, and what the
# build says if it fails.
cd "$(dirname "$0")/.." || exit 1
dir=$1
shift
set -- --libdir=lib --prefix="${PREFIX:-/usr/local}" "$@"
list=$(find src lab tools tests examples sim lib bin libexec doc packaging scripts -name '*.[ch]' -o -name '*.[fF]90' -o -name meson.build |
    LC_ALL=C sort; printf '%s\n' "$@"
    for tool in mpicc.openmpi mpicc.mpich mpicc_abi smpicc gfortran clang valgrind lowdown; do command -v $tool; done
    for library in cmocka libfabric; do pkg-config --modversion $library 2>/dev/null; done)
if [ ! -f "$dir/build.ninja" ] || [ "$list" != "$(cat "$dir/files.list" 2>/dev/null)" ]; then
    mkdir -p "$dir" || exit 1
    again=
    [ -f "$dir/build.ninja" ] && again=--reconfigure
    if ! meson setup $again "$dir" "$@" >"$dir/setup.log" 2>&1; then
        cat "$dir/setup.log"
        exit 1
    fi
    [ -n "${QUIET:-}" ] || grep 'skipping' "$dir/setup.log"
    printf '%s\n' "$list" >"$dir/files.list"
fi
# shellcheck disable=SC2086
[ -n "${QUIET:-}" ] || exec ninja -C "$dir" $TARGETS
printf '%-8s %s' build "Skein, about a minute ..."
start=$(date +%s)
# shellcheck disable=SC2086
if ninja -C "$dir" $TARGETS >"$dir/build.log" 2>&1; then
    echo " done after $(($(date +%s) - start)) s"
else
    echo
    grep -v '^\[' "$dir/build.log" | head -n 60
    exit 1
fi
