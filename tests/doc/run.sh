#!/bin/bash
# run.sh BUILD: the pages of doc/site. Every command of a `console` block runs as it is printed and ends well, and
# its output has the lines that the page shows (numbers may differ, "..." stands for any lines); the site and its manual
# pages can be built, their links lead somewhere, and headings and tables are in order.
#   <!-- needs: COMMAND -->   before a block: skipped where COMMAND fails
#   <!-- in: slurm -->        runs on two hosts with Slurm (lab/cluster)
#   <!-- script: NAME -->     a job script; runs with this variable set to a file of hosts
build=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/../.." || exit 2
root=$PWD
. tests/tap.sh
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)

# ---- the site ----
if ! command -v lowdown >/dev/null; then
    skip site "lowdown is not installed"
else
    if sh doc/site/build.sh html doc/site "$tmp/html" "$version" "$build/bin/skein" >"$tmp/log" 2>&1 &&
        sh doc/site/build.sh man doc/site "$tmp/man" "$version" >>"$tmp/log" 2>&1; then
        ok builds
    else
        fail builds "$(cat "$tmp/log")"
    fi
    if python3 tests/doc/site.py "$tmp/html" >"$tmp/log" 2>&1; then ok links_and_outline; else fail links_and_outline "$(cat "$tmp/log")"; fi
    if command -v mandoc >/dev/null; then
        if mandoc -T lint -W error "$tmp"/man/*.7 >"$tmp/log" 2>&1; then ok manual_pages; else fail manual_pages "$(head -n 20 "$tmp/log")"; fi
    fi
fi

# ---- the commands ----
if ! command -v mpirun.openmpi >/dev/null || [ ! -e "$build/lib/libskein-openmpi.so" ]; then
    skip commands "no Open MPI"
    finish
fi
work=$tmp/work
mkdir -p "$work/bin" && cd "$work" || exit 2
mpicc.openmpi -O2 -o app "$root/examples/cg.c" -lm && cp app app.mpich || exit 2
! command -v mpicc.mpich >/dev/null || mpicc.mpich -O2 -o app.mpich "$root/examples/cg.c" -lm
cat >hello.f90 <<'END'
program hello
  use mpi_f08
  integer :: one = 1, sum
  call MPI_Init()
  call MPI_Allreduce(one, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
end program
END
cat >hello.py <<'END'
from array import array
from mpi4py import MPI
one, total = array("i", [1]), array("i", [0])
MPI.COMM_WORLD.Allreduce(one, total)
END
# The commands of the pages, on this machine: mpirun is Open MPI's, there may be more ranks than cores.
ln -s "$(command -v mpirun.openmpi)" bin/mpirun
export PATH=$work/bin:$build/bin:$PATH LIBSKEIN=$build/lib/libskein.so
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

run() { # KIND COMMAND
    local limit
    limit=$(patience 60)
    case $1 in
    slurm) timeout "$limit" "$root/lab/cluster/run.sh" --hosts 2 --ranks 2 -- "$root/lab/cluster/slurm.sh" bash -c "$2" ;;
    script)
        printf 'localhost\nlocalhost\n' >nodes
        env "$3=$work/nodes" PBS_O_WORKDIR="$work" timeout "$limit" bash -c "$2"
        ;;
    *) timeout "$limit" bash -c "$2" ;;
    esac
}
python3 "$root/tests/doc/commands.py" "$work/cases" "$root"/doc/site/*.md "$root/README.md" || exit 2
for case in "$work"/cases/*/; do
    name=$(cat "$case/name")
    needs=$(cat "$case/needs")
    kind=$(cat "$case/kind")
    if [ -n "$needs" ] && ! bash -c "$needs" >/dev/null 2>&1; then
        skip "$name" "this fails: $needs"
        continue
    fi
    if [ "$kind" = slurm ] && { ! command -v slurmctld >/dev/null || "$root/lab/cluster/run.sh" -- true 2>/dev/null; [ $? = 77 ]; }; then
        skip "$name" "no Slurm, or no namespaces"
        continue
    fi
    # shellcheck disable=SC2086
    run $kind "$(cat "$case/command")" $(cat "$case/variable") >"$case/out" 2>&1 </dev/null
    status=$?
    if [ $status -ne 0 ]; then
        fail "$name" "status $status: $(tail -n 5 "$case/out")"
    elif ! missing=$(python3 "$root/tests/doc/commands.py" --compare "$case"); then
        fail "$name" "$missing"
    else
        ok "$name"
    fi
done
finish
