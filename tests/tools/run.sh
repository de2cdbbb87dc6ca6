#!/bin/bash
# run.sh BUILD FLAVOUR: tools beside Skein. Wherever a tool sits, it sees every call of the program, and
# Skein serves every call.
build=$(cd "$1" && pwd) || exit 1
mpi=$2
. "$(dirname "$0")/../tap.sh"
programs=$build/tests/tools
skein=$build/lib/libskein.so

# run PRELOAD PROGRAM: $text is what it printed, $status its end.
run() {
    read -ra launch < <(launch_of "$mpi" 2)
    if [ "$mpi" = openmpi ]; then
        launch+=(-x "LD_PRELOAD=$1" -x SKEIN_REPORT=1)
        [ -n "$SKEIN_ALLREDUCE" ] && launch+=(-x SKEIN_ALLREDUCE)
    else
        launch+=(-genv LD_PRELOAD "$1" -genv SKEIN_REPORT 1)
    fi
    text=$(timeout "$(patience 60)" "${launch[@]}" "$programs/$2-$mpi" 2>&1)
    status=$?
}

# count COLLECTIVE PATTERN: the calls of a collective in the report whose rows match.
count() {
    awk -v coll="$1" -v pattern="$2" '$1 == "skein:" && $2 == coll && $0 ~ pattern {
        for (i = 3; i <= NF; i++) if ($i ~ /^[0-9]+$/ && $(i - 1) !~ /^<=$/) { n += $i; break } }
        END { print n + 0 }' <<<"$text"
}

# served NAME: the run ended well and Skein served the calls; saw NAME TOOL: the tool saw all of them.
served() {
    local a b
    a=$(count allreduce "doubling|shm") b=$(count bcast .)
    if [ $status -eq 0 ] && [ "$a" = 7 ] && [ "$b" = 1 ]; then
        ok "$1"
    else
        fail "$1" "status $status, $a allreduces of 7, $b bcasts of 1: $text"
    fi
}
saw() {
    local words="tool $2 saw init 1 barrier 1 bcast 1 allreduce 4 iallreduce 3 wait 1 waitall 1 dup 1 split 1 cart 1 recv 2"
    if [ "$(grep -cF "$words" <<<"$text")" = 1 ]; then
        ok "$1"
    else
        fail "$1" "expected once '$words', got: $text"
    fi
}

# beside NAME PRELOAD PROGRAM TOOL...
beside() {
    local name=$1 tool
    run "$2" "$3"
    shift 3
    served "skein_serves_with_${name}_on_$mpi"
    for tool; do
        saw "tool_${tool}_sees_all_with_${name}_on_$mpi" "$tool"
    done
}

a=$programs/libtool-a-$mpi.so b=$programs/libtool-b-$mpi.so next=$programs/libtool-next-$mpi.so
beside no_tool "$skein" calls
beside no_tool_and_pmpi_names "$skein" calls-pmpi
beside a_tool_before_skein "$a:$skein" calls A
beside a_tool_behind_skein "$skein:$a" calls A
beside tools_around_skein "$a:$skein:$b" calls A # as plain: A's PMPI_ calls pass B by
beside two_tools_before_skein "$a:$b:$skein" calls A
beside a_tool_linked_in "$skein" calls-static L
beside a_tool_linked_as_library "$skein" calls-linked L
beside a_linked_and_a_preloaded_tool "$a:$skein" calls-linked A
beside a_tool_through_rtld_next_before_skein "$next:$skein" calls A
beside a_tool_through_rtld_next_behind_skein "$skein:$next" calls A
beside a_linked_tool_through_rtld_next "$skein" calls-linkednext L
beside a_tool_through_rtld_next_before_another "$next:$skein:$b" calls A B

run "$skein" early
if [ $status -eq 0 ] && [ "$(count allreduce shm)" = 1 ]; then
    ok "a_library_that_starts_mpi_in_its_constructor_is_served_on_$mpi"
else
    fail "a_library_that_starts_mpi_in_its_constructor_is_served_on_$mpi" "status $status: $text"
fi

export SKEIN_ALLREDUCE=off
run "$skein:$a" calls
saw "tool_sees_calls_left_to_the_host_on_$mpi" A
finish
