#!/bin/sh
# build.sh DIR [MESON-OPTION]...: configure DIR when it is new, or when a file came or went, and
# build. PREFIX is where `make install` puts it.
cd "$(dirname "$0")/.." || exit 1
dir=$1
shift
set -- --libdir=lib --prefix="${PREFIX:-/usr/local}" "$@"
list=$(find src lab tools tests examples sim lib bin libexec doc packaging scripts -name '*.[ch]' -o -name '*.[fF]90' -o -name meson.build |
    LC_ALL=C sort; printf '%s\n' "$@")
if [ ! -f "$dir/build.ninja" ] || [ "$list" != "$(cat "$dir/files.list" 2>/dev/null)" ]; then
    mkdir -p "$dir" || exit 1
    again=
    [ -f "$dir/build.ninja" ] && again=--reconfigure
    if ! meson setup $again "$dir" "$@" >"$dir/setup.log" 2>&1; then
        cat "$dir/setup.log"
        exit 1
    fi
    grep 'skipping' "$dir/setup.log"
    printf '%s\n' "$list" >"$dir/files.list"
fi
exec ninja -C "$dir"
