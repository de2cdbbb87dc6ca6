#!/bin/sh
# sources.sh DIR...: the C files that lie directly in these directories, one per line.
cd "$(dirname "$0")/.." || exit 1
for dir in "$@"; do
    if [ -d "$dir" ]; then
        find "$dir" -maxdepth 1 -name '*.c'
    fi
done | LC_ALL=C sort
