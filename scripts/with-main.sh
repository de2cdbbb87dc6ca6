#!/bin/sh
# with-main.sh DIR: the C files of this folder that are programs, one per line: they define main.
cd "$(dirname "$0")/.." || exit 1
grep -l '^int main(' "$1"/*.c | LC_ALL=C sort
