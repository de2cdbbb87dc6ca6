#!/bin/sh
# dist.sh DIR: the sources of the last commit as DIR/skein-VERSION.tar.xz; prints its name.
cd "$(dirname "$0")/.." || exit 1
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
mkdir -p "$1" && file=$(cd "$1" && pwd)/skein-$version.tar.xz || exit 1
git archive --prefix="skein-$version/" -o "$file.tar" HEAD && xz -T0 -c "$file.tar" >"$file" || exit 1
rm "$file.tar"
echo "$file"
