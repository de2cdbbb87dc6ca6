#!/bin/sh
# files.sh: every C file of the project, one per line.
cd "$(dirname "$0")/.." || exit 1
find src lab include tools tests examples sim -name '*.[ch]' | LC_ALL=C sort
