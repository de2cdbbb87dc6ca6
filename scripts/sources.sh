#!/bin/sh
# sources.sh [-r] DIR...: the C files of these directories, one per line; -r: and of those below them.
cd "$(dirname "$0")/.." || exit 1
depth="-maxdepth 1"
if [ "$1" = -r ]; then
    depth=
    shift
fi
for dir in "$@"; do
    if [ -d "$dir" ]; then
        find "$dir" $depth -name '*.c'
    fi
done | LC_ALL=C sort
