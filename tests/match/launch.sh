# launch.sh: how the scripts here start programs under Open MPI over the provider; to be sourced with
# $build and $here set.
. "$here/../tap.sh"
programs=$build/tests/match
log=$tmp/log
export SKEIN_PMPI=off # the programs compare with the host by its PMPI_ names

# What mpirun needs for the provider; words, for eval. Without vader, later called sm, nothing is made in
# /dev/shm, which a killed job would leave there; without osc/ucx windows go over the provider too.
provider="--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include skein"
provider="$provider --mca btl ^openib,ofi,vader,sm --mca osc ^ucx"
provider="$provider -x FI_PROVIDER_PATH=$build/lib"
# Open MPI 5 gives the processes of MPI_Comm_spawn the environment of mpirun, not what -x says.
export FI_PROVIDER_PATH=$build/lib
mpirun="mpirun.openmpi --oversubscribe"
[ "$(id -u)" = 0 ] && mpirun="$mpirun --allow-run-as-root"

# launcher RANKS [NAME=VALUE...]: sets $launch. PRELOAD=1 puts Skein's library before the ranks,
# FIRST=libs others before it; HOST=1 leaves the provider out: the tests test themselves.
launcher() {
    launch="$mpirun -n $1"
    shift
    # ob1 reads long messages straight from the sender, and then writes past what it may
    if [ -n "${HOST:-}" ]; then
        launch="$launch --mca btl_vader_single_copy_mechanism none"
    else
        launch="$launch $provider"
    fi
    local v libs=${FIRST:-}
    for v in "$@"; do launch="$launch -x '$v'"; done
    [ -z "${PRELOAD:-}" ] || libs=${libs:+$libs:}$build/lib/libskein.so
    [ -z "$libs" ] || launch="$launch -x LD_PRELOAD=$libs"
}

# on_host TIMES RANKS PROGRAM [ARG...]: does the program end well so often over Open MPI's own transport?
on_host() {
    local i times=$1 n=$2 program=$3 launch
    shift 3
    HOST=1 PRELOAD= launcher "$n"
    for ((i = 0; i < times; i++)); do
        eval "timeout -k 5 $(patience 10) $launch $programs/$program-openmpi $*" >"$tmp/host" 2>&1 </dev/null || return 1
    done
}

# run SECONDS RANKS [NAME=VALUE...] -- PROGRAM [ARG...]
# With RARE=1 what Open MPI cannot do over its own transport every time is skipped if it fails.
run() {
    local limit=$1 n=$2 vars=() program name rc why
    shift 2
    while [ "$1" != -- ]; do
        vars+=("$1")
        shift
    done
    shift
    launcher "$n" "${vars[@]}"
    program=$1
    shift
    name="$program${*:+ $*}${vars[*]:+ ${vars[*]}}${PRELOAD:+, preloaded}, $n ranks"
    if [ -n "${PRELOAD:-}" ] && [ ! -e "$build/lib/libskein-openmpi.so" ]; then
        skip "$name" "there is no $build/lib/libskein-openmpi.so"
        return
    fi
    [ -z "${matching:-}" ] || name=${name/"$matching"/(matching)}
    local cmd="$launch $programs/$program-openmpi $*"
    eval "timeout -k 5 $(patience $limit) $cmd" >"$log" 2>&1 </dev/null
    rc=$?
    if [ $rc = 0 ]; then
        ok "$name"
    elif [ -n "${RARE:-}" ] && ! on_host 5 "$n" $program "$@"; then
        skip "$name" "Open MPI fails over its own transport too, one time in a few"
    else
        why=$(grep -a "^$program: " "$log" | grep -av 'left out' | head -1)
        [ $rc = 124 ] && why="no end after $limit s"
        fail "$name" "${why:-exit $rc: $(grep -av '^[-[:space:]]*$' "$log" | head -1)} (replay: $cmd)"
    fi
    grep -a 'left out: ' "$log" | sed 's/^.*left out: //' | sort -u >"$tmp/left"
    while read -r why; do skip "$name: a case" "$why"; done <"$tmp/left"
}
