#!/bin/bash
# installed.sh PREFIX [MPI...]: an installed Skein, wherever it was built, and the MPIs here: their
# programs in C and Fortran are served, and `skein info` names them as they name themselves.
prefix=$(cd "$1" && pwd) || exit 1
shift
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tap.sh"
skein=$prefix/bin/skein
unset LD_PRELOAD

version_of() { # MPI: as its own tools say
    if [ "$1" = openmpi ]; then
        ompi_info --version | sed -n 's/^Open MPI v/Open MPI /p'
    else
        mpichversion | awk '/^MPICH Version:/ { v = $3 } /^MPICH Device:/ { print "MPICH " v ", device " $3 }'
    fi
}

# served NAME COMMAND...: both ranks are right, and Skein did all of their collectives.
served() {
    local name=$1 status
    shift
    timeout "$(patience 60)" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    status=$?
    if [ $status -eq 0 ] && [ "$(grep -c '^rank [01] right$' "$tmp/out")" = 2 ] &&
        grep -qE '^skein: allreduce .* shm +5 ' "$tmp/err" && grep -qE '^skein: barrier .* shm +1 ' "$tmp/err"; then
        ok "$name"
    else
        fail "$name" "status $status: $(head -c 2000 "$tmp/out" "$tmp/err")"
    fi
}

[ $# -gt 0 ] || set -- openmpi mpich
for mpi; do
    if ! command -v "mpicc.$mpi" >/dev/null; then
        skip "$mpi" "it is not here"
        continue
    fi
    version=$(version_of "$mpi")
    if [ -n "$version" ] && "$skein" info | grep -q "^    $mpi  *$version;"; then
        ok "skein_info_names $version"
    else
        fail "skein_info_names $version" "$("$skein" info | grep -A3 '^MPIs')"
    fi
    read -ra launch < <(launch_of "$mpi" 2)
    for what in "mpicc calls.c -DPROGRAM" "mpifort calls.F90" "mpifort calls.F90 -DF08"; do
        read -r compiler source option <<<"$what"
        name="$version: $source${option:+ $option}"
        # shellcheck disable=SC2086
        if ! "$compiler.$mpi" $option -o "$tmp/calls" "$here/$source" >"$tmp/out" 2>&1; then
            fail "$name" "it does not compile: $(tail -n 3 "$tmp/out")"
            continue
        fi
        served "$name" "$skein" run --report "${launch[@]}" "$tmp/calls"
        [ "$mpi" = openmpi ] || continue
        served "$name, --match" "$skein" run --match --report "${launch[@]}" "$tmp/calls"
    done
done
finish
