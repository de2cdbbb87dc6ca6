#!/bin/bash
# odd.sh BUILD FLAVOUR: programs that use more than collectives, or come to MPI in other ways, end under
# Skein as they do without.
build=$(cd "$1" && pwd) || exit 1
mpi=$2
. "$(dirname "$0")/../tap.sh"
programs=$build/tests/tools
skein=$build/lib/libskein.so

# run SKEIN? PROGRAM ARGUMENT...: $text is what it printed, $status its end.
run() {
    local with=$1 program=$programs/$2-$mpi
    shift 2
    read -ra launch < <(launch_of "$mpi" 2)
    if [ -n "$with" ] && [ "$mpi" = openmpi ]; then
        launch+=(-x "LD_PRELOAD=$skein" -x SKEIN_REPORT=1)
    elif [ -n "$with" ]; then
        launch+=(-genv LD_PRELOAD "$skein" -genv SKEIN_REPORT 1)
    fi
    text=$(timeout "$(patience 12)" "${launch[@]}" "$program" "$@" 2>&1)
    status=$?
}

# same NAME PATTERN PROGRAM ARGUMENT...: it ends well under Skein, and the report has a row that matches. If
# one of three runs without Skein does not end well either, the MPI cannot do it.
same() {
    local name=$1_on_$mpi pattern=$2
    shift 2
    run with "$@"
    if [ $status -eq 0 ] && grep -q "$pattern" <<<"$text"; then
        ok "$name"
        return
    fi
    local i under="status $status: $text"
    for i in 1 2 3; do
        run "" "$@"
        if [ $status -ne 0 ]; then
            skip "$name" "the MPI fails without Skein too"
            return
        fi
    done
    fail "$name" "$under"
}

any="skein: allreduce .* shm "
same tool_interface "$any" odd mpi_t
same error_handlers "$any" odd errors
same files_beside_collectives "$any" odd file "$tmp/file"
same windows_beside_collectives "$any" odd window
same threads "$any" odd threads
same fork_in_a_rank "$any" odd fork
same spawned_processes "$any" dynamic spawn
same connected_processes "$any" dynamic accept
library=$(ldd "$programs/odd-$mpi" | awk '$1 ~ /^libmpi(ch)?[.]so/ {print $1; exit}')
same loaded_library_local "$any" dlopened "$library" local
same loaded_library_global "$any" dlopened "$library" global
if [ -x "$programs/session-$mpi" ]; then
    same sessions "" session
else
    skip "sessions_on_$mpi" "this MPI has none"
fi
finish
