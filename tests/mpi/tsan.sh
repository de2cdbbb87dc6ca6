#!/bin/sh
# tsan.sh BUILD [PROGRAMS]: the tests with threads on a library built with the thread sanitizer (meson
# setup BUILD -Db_sanitize=thread -Db_lundef=false), whose run-time library must be loaded first. Reports
# inside the MPIs are suppressed by name. PROGRAMS: the build whose tests-mpi has the programs.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: tsan.sh BUILD [PROGRAMS]}" && pwd) || exit 2
programs=$(cd "${2:-$build}" && pwd)/tests-mpi
first=$(cc -print-file-name=libtsan.so)
options="suppressions=$here/tsan.supp ignore_noninstrumented_modules=1 exitcode=66"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
root=
[ "$(id -u)" = 0 ] && root=--allow-run-as-root
failed=
check() { # NAME COMMAND...
    name=$1
    shift
    timeout 200 "$@" >"$log" 2>&1 </dev/null
    rc=$?
    if grep -q 'WARNING: ThreadSanitizer' "$log"; then
        echo "FAIL $name: $(grep -m1 '^SUMMARY' "$log")"
        failed=1
    elif [ $rc != 0 ]; then
        echo "FAIL $name: exit $rc"
        failed=1
    else
        echo "ok $name"
    fi
}
for what in "concurrent plans 3" "concurrent free 50" "concurrent setups 200" "threads 1 10"; do
    check "openmpi tsan $what" mpirun.openmpi $root --oversubscribe -n 2 -x SKEIN_CACHE=2 \
        -x "TSAN_OPTIONS=$options" -x "LD_PRELOAD=$first:$build/lib/libskein-openmpi.so" \
        "$programs/openmpi/"$what
    check "mpich tsan $what" mpiexec.mpich -n 2 -genv SKEIN_CACHE 2 -genv TSAN_OPTIONS "$options" \
        -genv LD_PRELOAD "$first:$build/lib/libskein-mpich.so" "$programs/mpich/"$what
done
[ -z "$failed" ]
