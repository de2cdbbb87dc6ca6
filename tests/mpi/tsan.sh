#!/bin/bash
# tsan.sh RACE FLAVOUR LIBRARY CONCURRENT THREADS: the programs with threads, on a library built with the
# thread sanitizer. They are not instrumented, so its run-time library is loaded first. RACE is a program
# in which it must find a race: see ../shm/tsan.sh. Reports inside the MPI are suppressed: see tsan.supp.
. "$(dirname "$0")/../tap.sh"
here=$(cd "$(dirname "$0")" && pwd)
flavour=$2 library=$3 concurrent=$4 threads=$5
race=66 # the status of a program in which it found one
export SKEIN_PMPI=off # the programs compare with the host by its PMPI_ names
export TSAN_OPTIONS="exitcode=$race halt_on_error=1 suppressions=$here/tsan.supp ignore_noninstrumented_modules=1"
export PMIX_MCA_gds=hash # another store wants memory at an address that the sanitizer has taken
export OMPI_MCA_memory='^patcher' # Open MPI 6 writes its jumps over the sanitizer's own mmap, and more than that

if [ "$flavour" = mpich ]; then
    skip "mpich tsan" "MPICH ends with a segmentation fault under the thread sanitizer, also without Skein"
    finish
fi
for first in env "setarch -R"; do
    read -ra first <<<"$first"
    "${first[@]}" "$1" >"$tmp/log" 2>&1
    status=$?
    [ $status -eq $race ] && break
done
if [ "$status" -ne "$race" ]; then
    skip "$flavour tsan" "the thread sanitizer does not run here: $(grep . "$tmp/log" | tail -n 1)"
    finish
fi

check() { # [SETTING=VALUE...] PROGRAM [ARGUMENT...]
    local settings=()
    while [[ $1 == SKEIN_* ]]; do
        settings+=(-x "$1")
        shift
    done
    local name="$flavour tsan $(basename "$1" "-$flavour") ${*:2}"
    timeout "$(patience 60)" "${first[@]}" $(launch_of "$flavour" 2) -x SKEIN_CACHE=2 "${settings[@]}" -x TSAN_OPTIONS \
        -x "LD_PRELOAD=$(cc -print-file-name=libtsan.so):$library" "$@" >"$tmp/log" 2>&1 </dev/null
    status=$?
    if grep -aq 'WARNING: ThreadSanitizer' "$tmp/log"; then
        fail "$name" "$(grep -a -m1 -A40 'WARNING: ThreadSanitizer' "$tmp/log")"
    elif [ $status -ne 0 ]; then
        fail "$name" "status $status: $(grep -av '^[-[:space:]]*$' "$tmp/log" | head -n 20)"
    else
        ok "$name"
    fi
}
check "$concurrent" plans 3
check SKEIN_FIND=1000000 "$concurrent" deferred 5 # finds a race if the plans of a communicator have no lock
check "$concurrent" adopt 20
check "$concurrent" free 50
check "$concurrent" setups 200
check SKEIN_GUARD_AFTER=1 "$concurrent" repeat 200
check "$threads" 1 10
finish
