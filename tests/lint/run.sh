#!/bin/bash
# run.sh BUILD: what can be said of the sources without running them.
build=$1
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
log=$tmp/log

# check NAME TOOL COMMAND...
check() {
    local name=$1 tool=$2
    shift 2
    if ! command -v "$tool" >/dev/null; then
        skip "$name" "$tool is not installed"
    elif "$@" >"$log" 2>&1; then
        ok "$name"
    else
        fail "$name" "$(cat "$log")"
    fi
}

format() { scripts/files.sh | xargs clang-format --dry-run -Werror; }
manuals() { mandoc -T lint -W warning doc/skein.1 "$build/doc/skein.7"; }
# Every name that a user can set, and every command, is in the manual.
described() {
    local missing=0 word
    for word in $(sed -n 's/^SETTING([A-Z_]*, \([A-Z_]*\),.*/\1/p' src/base/settings.def) \
        $(sed -n 's/^COLL(\([A-Z_]*\),.*/SKEIN_\1/p' src/coll/colls.def); do
        grep -q "^\.It Ev $word\b" "$build/doc/skein.7" || { echo "not in skein.7: $word"; missing=1; }
    done
    for word in $("$build/bin/skein" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        grep -q "^\.Cm $word\b" doc/skein.1 || { echo "not in skein.1: $word"; missing=1; }
    done
    return $missing
}
# Nothing but MPI's names, the look-ups of such names and Skein's own entry points leaves a library.
exported() {
    local lib names bad=0
    for lib in "$build"/lib/libskein*.so; do
        names=$(readelf -W --dyn-syms "$lib" | awk '$4 != "SECTION" && $6 == "DEFAULT" && $7 ~ /^[0-9]/ {print $8}' |
            grep -vE '^(P?MPIX?_|p?mpix?_|skein_|dlopen$|dlsym$|ucp_worker_progress$|fi_prov_ini$)')
        if [ -n "$names" ]; then
            echo "$lib exports" $names
            bad=1
        fi
    done
    return $bad
}

# libskein.so has every name of the libraries that it loads, except those that it asks for itself.
offered() {
    local names
    names=$(nm -D --defined-only "$build"/lib/libskein-{openmpi,mpich}.so 2>/dev/null | awk '{print $3}' |
        grep -vE '^(skein_|__st)' | sort -u)
    [ -n "$names" ] || return 0
    ! comm -23 <(echo "$names") <(nm -D --defined-only "$build/lib/libskein.so" | awk '{print $3}' | sort) | grep .
}

# The sources have the layout of this version; others break lines elsewhere.
written_for=14
version=$(clang-format --version 2>/dev/null | sed 's/.*version \([0-9]*\).*/\1/')
if [ "${version:-$written_for}" = $written_for ]; then
    check format clang-format format
else
    skip format "clang-format $version is here, the sources are laid out by version $written_for"
fi
check manuals mandoc manuals
check described sed described
if ls "$build"/lib/libskein*.so >/dev/null 2>&1; then
    check exported readelf exported
    check offered nm offered
else
    skip exported "no library was built"
fi
finish
