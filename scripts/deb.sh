#!/bin/sh
# deb.sh DIR: Debian packages, source and binary, of the last commit, in DIR. Prints the name of the
# .changes file; what dpkg-buildpackage says is in DIR/log.
cd "$(dirname "$0")/.." || exit 1
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
mkdir -p "$1" && out=$(cd "$1" && pwd) && cd "$out" && rm -rf "skein-$version" || exit 1
source="git -C $OLDPWD archive --prefix=skein-$version/ HEAD"
$source ':!debian' | xz -T0 >"skein_$version.orig.tar.xz" && $source | tar -xf - || exit 1
cd "skein-$version" || exit 1
if ! dpkg-buildpackage --no-sign "-j$(nproc)" >../log 2>&1; then
    tail -n 40 ../log >&2
    echo "deb.sh: dpkg-buildpackage failed; all that it said is in $out/log" >&2
    exit 1
fi
cd .. && rm -rf "skein-$version" && ls "$PWD"/skein_*.changes
