#!/bin/bash
# run.sh BUILD [PART]...: `skein run` as a user meets it, all of it or the parts named.
# Needs no Skein library: empty ones stand in for them.
build=$(cd "${1:-build}" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
skein=$build/bin/skein
made=$build/tests/cmd
. "$here/../tap.sh"
cd "$tmp" || exit 2
unset LD_PRELOAD PYTHONPATH
for v in $(env | sed -n 's/^\(SKEIN[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1

# In a sanitizer's build the search for leaks would take seconds for each of a thousand commands.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # newer Mesons set it

says() { tr '\n' ' ' <"$1" | cut -c1-300; }

# refuses NAME PATTERN COMMAND...: status 2, and a message that matches.
refuses() {
    local name=$1 pattern=$2 status
    shift 2
    "$@" >out 2>err </dev/null
    status=$?
    if [ $status -ne 2 ]; then
        fail "$name" "status $status, not 2: $(says err)"
    elif ! grep -qE -- "$pattern" err; then
        fail "$name" "the message does not match '$pattern': $(says err)"
    else
        ok "$name"
    fi
}

# shows NAME PATTERN COMMAND...: status 0, and an output that matches.
shows() {
    local name=$1 pattern=$2 status
    shift 2
    "$@" >out 2>err </dev/null
    status=$?
    if [ $status -ne 0 ]; then
        fail "$name" "status $status: $(says err)"
    elif ! grep -qE -- "$pattern" out; then
        fail "$name" "the output does not match '$pattern': $(says out)"
    else
        ok "$name"
    fi
}

# returns NAME STATUS COMMAND...
returns() {
    local name=$1 want=$2 status
    shift 2
    timeout "$(patience 60)" "$@" >out 2>err </dev/null
    status=$?
    if [ $status -eq "$want" ]; then ok "$name"; else fail "$name" "status $status, not $want: $(says err)"; fi
}

run() { "$skein" run --lib "$tmp/lib" "$@"; }
dry() { run --dry-run "$@"; }

[ -x "$skein" ] || { fail "command exists" "$skein is missing"; finish; }

# Stand-ins for the libraries, and programs to run: see meson.build here.
mkdir lib bin
cp "$made/plain" "$made/static" "$made/staticpie" .
cp "$(find "$made/plain.p" -name '*.o' | head -n 1)" object.o && chmod +x object.o
flavours=
cp "$made/libempty.so" lib/libskein.so || exit 2
for f in openmpi mpich; do
    cp "$made/libempty.so" "lib/libskein-$f.so" || exit 2
    [ -x "$made/app-$f" ] && command -v mpiexec.$f >/dev/null || continue
    cp "$made/app-$f" "app.$f" || exit 2
    flavours="$flavours $f"
done
[ -n "$flavours" ] || { skip "all" "neither Open MPI nor MPICH is here"; finish; }

# Launchers of our own names, so that nothing depends on which MPI owns /usr/bin/mpirun.
cat >bin/srun <<'END'
#!/bin/sh
tr '\0' '\n' </proc/self/environ | grep '^LD_PRELOAD=' >srun.preload
shift 2
exec "$@"
END
chmod +x bin/srun
first=${flavours# }
first=${first%% *}
first_app=./app.$first
first_run=mpiexec.$first

so=$tmp/lib/libskein.so
export PATH="$tmp/bin:$PATH"
shift
for part in ${*:-refuse plan match real fuzz}; do
    # shellcheck source=/dev/null
    . "$here/run_$part.sh"
done
finish
