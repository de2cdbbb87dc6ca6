#!/bin/bash
# tidy.sh BUILD: clang-tidy over every source that the build compiles from src and tools, several at
# once. A file that is compiled for several MPIs is checked for the first. LONG=1: with clang's analyzer,
# which takes fifteen times as long as all the rest.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
build=$1
if ! command -v clang-tidy >/dev/null; then
    skip tidy "clang-tidy is not installed"
    finish
fi
# Other versions have other checks of the same names.
written_for=14
version=$(clang-tidy --version | sed -n 's/.*LLVM version \([0-9]*\).*/\1/p')
if [ "$version" != $written_for ]; then
    skip tidy "clang-tidy $version is here, the list of checks is for version $written_for"
    finish
fi
mkdir -p "$build/tidy" || exit 1
python3 - "$build" >"$build/tidy/files" <<'END' || exit 1
import json, os, sys
build = sys.argv[1]
first = {}
for entry in json.load(open(f"{build}/compile_commands.json")):
    path = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
    name = os.path.relpath(path)
    if name.startswith(("src/", "lab/", "tools/")):
        first.setdefault(name, entry)
json.dump(list(first.values()), open(f"{build}/tidy/compile_commands.json", "w"))
print("\n".join(sorted(first)))
END
checks=-clang-analyzer-*
[ -z "${LONG:-}" ] || checks=
if xargs -P "$(nproc)" -n 4 clang-tidy -p "$build/tidy" --quiet --checks="$checks" >"$tmp/log" 2>/dev/null <"$build/tidy/files"; then
    ok tidy
else
    fail tidy "$(cat "$tmp/log")"
fi
finish
