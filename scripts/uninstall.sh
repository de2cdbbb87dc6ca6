#!/bin/sh
# uninstall.sh BUILD [DESTDIR]: remove what `make install` has installed, and the folders that are empty then:
# those that it made, those of Skein, and with DESTDIR all.
build=$1 destdir=$2
files=$(meson introspect --installed "$build" | python3 -c '
import json, os, sys
for source, target in json.load(sys.stdin).items():
    if not os.path.isdir(source):
        print(target)
    for folder, _, files in os.walk(source):
        for name in files:
            print(os.path.join(target, os.path.relpath(os.path.join(folder, name), source)))') || exit 1
made=$(grep -v '^#' "$build/meson-logs/install-log.txt" 2>/dev/null)

echo "$files" | while IFS= read -r file; do
    [ ! -e "$destdir$file" ] && [ ! -L "$destdir$file" ] || rm -f "$destdir$file" || exit 1
done || exit 1
{
    echo "$files" | while IFS= read -r dir; do
        while [ "$dir" != / ]; do
            dir=$(dirname "$dir")
            [ -n "$destdir" ] || case $dir in */skein | */skein/*) ;; *) continue ;; esac
            echo "$destdir$dir"
        done
    done
    echo "$made"
} | LC_ALL=C sort -ru | while IFS= read -r dir; do
    [ ! -d "$dir" ] || rmdir "$dir" 2>/dev/null
done
left=$(echo "$files" | while IFS= read -r file; do ls -d "$destdir$file" 2>/dev/null; done)
[ -z "$left" ] || { echo "still there: $left" >&2; exit 1; }
