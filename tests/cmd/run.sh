#!/bin/bash
# run.sh BUILD [PART]...: `skein run` as a user meets it, all of it or the parts named. Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why"
# for each fact, and fails when one did. Needs no Skein library: empty ones stand in for them.
build=$(cd "${1:-build}" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
skein=$build/bin/skein
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
failed=0
unset LD_PRELOAD PYTHONPATH
for v in $(env | sed -n 's/^\(SKEIN[A-Z_]*\)=.*/\1/p'); do unset "$v"; done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1

# In a sanitizer's build the search for leaks would take seconds for each of a thousand commands.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}

ok() { echo "ok $1"; }
fail() { echo "FAIL $1: $2"; failed=1; }
skip() { echo "skip $1: $2"; }
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
    timeout 60 "$@" >out 2>err </dev/null
    status=$?
    if [ $status -eq "$want" ]; then ok "$name"; else fail "$name" "status $status, not $want: $(says err)"; fi
}

run() { "$skein" run --lib "$tmp/lib" "$@"; }
dry() { run --dry-run "$@"; }

[ -x "$skein" ] || { fail "command exists" "$skein is missing"; exit 1; }

# Stand-ins, and an MPI program that tells what it got, waits, or returns a status.
mkdir lib bin
echo 'int nothing;' >empty.c
cat >app.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *get(const char *name)
{
    const char *v = getenv(name);
    return v ? v : "none";
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d preload=%s report=%s mem=%s\n", rank, get("LD_PRELOAD"), get("SKEIN_REPORT"),
           get("SKEIN_MEM"));
    fflush(stdout);
    if (argc > 2 && strcmp(argv[1], "wait") == 0) {
        char name[4096];
        snprintf(name, sizeof name, "%s.%d", argv[2], rank);
        FILE *f = fopen(name, "w");
        if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f))
            MPI_Abort(MPI_COMM_WORLD, 9);
        sleep(60);
    }
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
END
echo 'int main(void){return 0;}' >plain.c
gcc plain.c -o plain && gcc -static plain.c -o static && gcc -static-pie plain.c -o staticpie &&
    gcc -c plain.c -o object.o && chmod +x object.o
flavours=
for f in openmpi mpich; do
    gcc -shared -fPIC empty.c -o "lib/libskein-$f.so" || exit 2
    command -v mpicc.$f >/dev/null && command -v mpiexec.$f >/dev/null || continue
    "mpicc.$f" app.c -o "app.$f" || exit 2
    flavours="$flavours $f"
done
[ -n "$flavours" ] || { skip "all" "neither mpicc.openmpi nor mpicc.mpich is installed"; exit 0; }

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

so() { echo "$tmp/lib/libskein-$1.so"; }
export PATH="$tmp/bin:$PATH"
shift
for part in ${*:-refuse plan match real fuzz}; do
    # shellcheck source=/dev/null
    . "$here/run_$part.sh"
done
exit $failed
