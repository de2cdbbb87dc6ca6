#!/bin/bash
# device.sh BUILD FLAVOUR: Skein never touches device memory, and such calls go to the host or run on
# copies, whoever of the ranks has any.
build=$(cd "$1" && pwd) || exit 1
mpi=$2
. "$(dirname "$0")/../tap.sh"
programs=$build/tests/tools

# run WHEN [NAME=VALUE]: $text is what it printed, $status its end.
run() {
    local preload=$build/lib/libskein.so
    [ -n "$3" ] && preload=$3
    read -ra launch < <(launch_of "$mpi" 2)
    if [ "$mpi" = openmpi ]; then
        launch+=(-x "LD_PRELOAD=$preload" -x SKEIN_REPORT=1 -x "${2:-SKEIN_DEVICE=auto}")
    else
        local set=${2:-SKEIN_DEVICE=auto}
        launch+=(-genv LD_PRELOAD "$preload" -genv SKEIN_REPORT 1 -genv "${set%%=*}" "${set#*=}")
    fi
    text=$(timeout "$(patience 60)" "${launch[@]}" "$programs/device-$mpi" "$programs/libcuda.so.1" "$1" 2>&1)
    status=$?
}

# has NAME PATTERN, lacks NAME PATTERN: the run ended well, and its report has rows that match or none.
has() {
    if [ $status -eq 0 ] && grep -q "$2" <<<"$text"; then ok "$1"; else fail "$1" "status $status: $text"; fi
}
lacks() {
    if [ $status -eq 0 ] && ! grep -q "$2" <<<"$text"; then ok "$1"; else fail "$1" "status $status: $text"; fi
}

run early
has "device_memory_goes_to_the_host_on_$mpi" "allreduce .*host MPI: GPU memory"
has "host_memory_is_served_beside_it_on_$mpi" "allreduce .*<= 64 B"
run one
has "device_memory_of_one_rank_goes_to_the_host_on_$mpi" "allgatherv .*host MPI: GPU memory"
run late
has "device_memory_after_a_late_load_is_copied_on_$mpi" "gather "
lacks "device_memory_after_a_late_load_needs_no_host_on_$mpi" "GPU memory"
run late SKEIN_DEVICE=on
has "device_memory_after_an_expected_late_load_goes_to_the_host_on_$mpi" "host MPI: GPU memory"
run early SKEIN_DEVICE=off
if [ $status -ne 0 ] && grep -q "device memory touched by .*skein" <<<"$text"; then
    ok "the_test_sees_a_touch_by_skein_on_$mpi"
else
    fail "the_test_sees_a_touch_by_skein_on_$mpi" "status $status: $text"
fi
finish
