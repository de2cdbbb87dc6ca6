#!/bin/bash
# run.sh BUILD FLAVOUR...: LD_PRELOAD=libskein.so before processes of every kind.
build=$(cd "$1" && pwd) || exit 1
shift
. "$(dirname "$0")/../tap.sh"
programs=$build/tests/front
front=$build/lib/libskein.so
unset LD_PRELOAD

# check NAME CONDITION...: with what was printed, if it does not hold.
check() {
    local name=$1
    shift
    if "$@"; then ok "$name"; else fail "$name" "status $status: $(head -c 2000 "$tmp/out" "$tmp/err")"; fi
}

# run PRELOAD COMMAND...: sets $status, fills $tmp/out and $tmp/err.
run() {
    local preload=$1
    shift
    timeout "$(patience 60)" env ${preload:+LD_PRELOAD="$preload"} "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    status=$?
}
ended() { [ $status -eq 0 ]; }
quiet() { ended && [ ! -s "$tmp/err" ]; }
lines() { grep -c '^skein: ' "$tmp/err"; }
said() { ended && [ "$(lines)" = 1 ] && grep -q "$1" "$tmp/err"; }

# ---- the library ----

needed=$(readelf -d "$front" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libdl|ld-linux.*)\.so')
if [ -z "$needed" ]; then ok needs_only_the_c_library; else fail needs_only_the_c_library "$needed"; fi
# What is loaded late gets little of the space for thread-local data that is reached directly.
for mpi; do
    tls=$(readelf -lW "$build/lib/libskein-$mpi.so" | awk '$1 == "TLS" {print $6}')
    if [ $((${tls:-0})) -le 64 ]; then
        ok "thread_local_data_of_${mpi}_is_small"
    else
        fail "thread_local_data_of_${mpi}_is_small" "$tls bytes, at most 64"
    fi
done

# ---- processes without MPI ----

cat >"$tmp/c.c" <<'END'
int main(void) { return unused; }
END
printf 'all:\n\t@echo one; false\n' >"$tmp/Makefile"
same() { # NAME COMMAND...
    local name=$1 plain
    shift
    run "" "$@"
    plain=$status
    cp "$tmp/out" "$tmp/plain.out"
    cp "$tmp/err" "$tmp/plain.err"
    run "$front" "$@"
    check "$name" eval '[ $status -eq $plain ] && cmp -s "$tmp/out" "$tmp/plain.out" && cmp -s "$tmp/err" "$tmp/plain.err"'
}
same bash_is_as_without bash -c 'echo $((6 * 7)); nosuch; (exit 3)'
same make_is_as_without make -C "$tmp" -f "$tmp/Makefile"
same gcc_is_as_without gcc -Wall -c -o "$tmp/c.o" "$tmp/c.c"
same python_is_as_without python3 -c 'import ctypes, json, socket; print(ctypes.CDLL(None).abs(-3)); print(json.dumps([1]))'
for mpi; do
    read -ra launch < <(launch_of "$mpi" 2)
    same "launcher_of_${mpi}_is_as_without" "${launch[@]}" echo hello
done
run "$front" "$programs/none"
check names_of_mpi_are_not_seen_without_mpi quiet

# No file is opened beside the library, and it costs far less than a millisecond of instructions.
loaded() { # FILE PRELOAD
    run "$2" LD_DEBUG=files bash -c true
    sed -n 's/.*calling init: //p' "$tmp/err" | sort >"$tmp/$1"
}
loaded without ""
loaded with "$front"
more=$(diff "$tmp/without" "$tmp/with" | grep '^[<>]')
if [ "$more" = "> $front" ]; then ok nothing_else_is_loaded; else fail nothing_else_is_loaded "$more"; fi
instructions() {
    LD_PRELOAD=$1 valgrind --tool=callgrind --callgrind-out-file=/dev/null bash -c true 2>&1 |
        sed -n 's/.*Collected : //p'
}
limit=100000
if ! command -v valgrind >/dev/null; then
    skip it_costs_few_instructions "there is no valgrind"
else
    plain=$(instructions "") with=$(instructions "$front")
    if [ $((with - plain)) -gt 0 ] && [ $((with - plain)) -le $limit ]; then
        ok "it_costs_few_instructions: $((with - plain)), at most $limit"
    else
        fail it_costs_few_instructions "$with with it, $plain without, at most $limit more"
    fi
fi

# ---- programs of the MPIs ----

# job PRELOAD MPI COMMAND...: on two ranks.
job() {
    local preload=$1 mpi=$2
    shift 2
    read -ra launch < <(launch_of "$mpi" 2)
    if [ "$mpi" = openmpi ]; then
        launch+=(-x "LD_PRELOAD=$preload" -x "SKEIN_REPORT=$report" -x "SKEIN=${SKEIN:-on}")
    else
        launch+=(-genv LD_PRELOAD "$preload" -genv SKEIN_REPORT "$report" -genv SKEIN "${SKEIN:-on}")
    fi
    run "" "${launch[@]}" "$@"
}
right() { ended && [ "$(grep -c '^rank [01] right$' "$tmp/out")" = 2 ]; }
served() { right && grep -qE '^skein: allreduce .* (shm|doubling) +5 ' "$tmp/err" && grep -q '^skein: barrier' "$tmp/err"; }
plain() { right && [ "$(lines)" = "$1" ]; }

# The dynamic linker says which libraries it starts: a file per process, as launchers mix what ranks print.
debug=(env LD_DEBUG=files LD_DEBUG_OUTPUT="$tmp/files")
among_files() { # NAME: of the last job; at least the C library is there
    local inits
    inits=$(sed -n 's/.*calling init: //p' "$tmp"/files.*)
    rm -f "$tmp"/files.*
    grep -q 'libc\.so' <<<"$inits" && ! grep -q "$1" <<<"$inits" && return 1
    return 0
}

mkdir "$tmp/alone" "$tmp/portable"
cp "$front" "$tmp/alone/"
cp "$programs/libskein-portable.so" "$tmp/portable/libskein.so"
for mpi; do ln -s "$build/lib/libskein-$mpi.so" "$tmp/portable/"; done
for mpi; do
    own=$build/lib/libskein-$mpi.so
    report=1
    job "$front" "$mpi" "$programs/calls-$mpi"
    check "program_is_served_on_$mpi" served
    job "$front" "$mpi" "$programs/load" "$programs/libcalls-$mpi.so"
    check "library_loaded_late_and_locally_is_served_on_$mpi" served
    job "$tmp/portable/libskein.so" "$mpi" "$programs/calls-$mpi"
    check "jumps_in_c_serve_on_$mpi" served
    job "$front:$own" "$mpi" "$programs/calls-$mpi"
    check "implementation_behind_it_serves_on_$mpi" served
    job "$own:$front" "$mpi" "$programs/calls-$mpi"
    check "implementation_before_it_serves_on_$mpi" served
    job "$own" "$mpi" "$programs/load" "$programs/libcalls-$mpi.so"
    check "implementation_alone_serves_a_library_loaded_late_on_$mpi" served
    report=
    job "$tmp/alone/libskein.so" "$mpi" "$programs/calls-$mpi"
    check "without_implementation_the_program_runs_plain_on_$mpi" eval 'plain 1 && said "no library for .*runs without Skein"'
    SKEIN=off job "$front" "$mpi" "${debug[@]}" "$programs/calls-$mpi"
    check "off_means_plain_on_$mpi" eval 'right && ! among_files libskein-$mpi'
    for other; do
        [ "$other" = "$mpi" ] && continue
        job "$build/lib/libskein-$other.so" "$mpi" "$programs/calls-$mpi"
        check "library_for_${other}_lets_${mpi}_run_plain" eval 'plain 1 && said "does not fit the MPI"'
    done
done

# Intel MPI, MVAPICH and others have MPICH's ABI in a library of another name: here, MPICH in such a file.
renamed() { # FILE TO: a copy with the other name of the library
    python3 - "$1" "$2" <<'END'
import shutil, sys
data = open(sys.argv[1], "rb").read()
old, new = b"\0libmpich.so.12\0", b"\0libmpi.so.12\0\0\0"
assert data.count(old) == 1
shutil.copy(sys.argv[1], sys.argv[2])
open(sys.argv[2], "wb").write(data.replace(old, new))
END
}
for mpi; do
    [ "$mpi" = mpich ] || continue
    mkdir "$tmp/abi"
    host=$(ldd "$programs/calls-mpich" | sed -n 's/.*libmpich\.so\.12 => \(.*\) (.*/\1/p')
    if renamed "$(readlink -f "$host")" "$tmp/abi/libmpi.so.12" && renamed "$programs/calls-mpich" "$tmp/abi/calls"; then
        report=1
        job "$front" mpich env LD_LIBRARY_PATH="$tmp/abi" "$tmp/abi/calls"
        check mpich_by_another_name_is_served served
        job "$front" mpich "${debug[@]}" LD_LIBRARY_PATH="$tmp/abi" "$tmp/abi/calls"
        check mpich_by_another_name_is_the_only_mpi eval 'right && ! among_files libmpich.so'
    else
        fail mpich_by_another_name "the library could not be renamed"
    fi
done

# ---- an MPI that Skein does not know ----

run "$front" "$programs/unknown"
check unknown_mpi_runs_plain_with_one_line said "libmpi.so.99 is not an MPI that Skein knows"
check unknown_mpi_is_right grep -q '^right$' "$tmp/out"
run "$front" PMI_RANK=1 "$programs/unknown"
check unknown_mpi_is_named_by_rank_0_only quiet
run "$front" SKEIN=off "$programs/unknown"
check unknown_mpi_is_not_named_when_off quiet
run "$tmp/portable/libskein.so" "$programs/unknown"
check jumps_in_c_reach_an_unknown_mpi said "is not an MPI that Skein knows"
finish
