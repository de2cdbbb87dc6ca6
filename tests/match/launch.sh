# launch.sh: how the scripts here start programs under Open MPI over the provider; to be sourced with
# $build set. Lines are "ok NAME", "FAIL NAME: why (replay: ...)" or "skip NAME: why".
programs=$build/tests-match
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT
failed=0

# What mpirun needs for the provider; words, for eval. Without vader nothing is made in /dev/shm, which
# a killed job would leave there; without osc/ucx windows go over the provider too.
provider="--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include skein"
provider="$provider --mca btl ^openib,ofi,vader --mca osc ^ucx"
provider="$provider -x FI_PROVIDER_PATH=$build/lib"
mpirun="mpirun.openmpi --oversubscribe"
[ "$(id -u)" = 0 ] && mpirun="$mpirun --allow-run-as-root"

compile() {
    local cc="mpicc.openmpi -std=gnu17 -O1 -g -Wall -Wextra -Werror"
    mkdir -p "$programs" || return 1
    (cd "$here" && $cc main.c msg.c wild.c groups.c probe.c modes.c pairs.c sizes.c refuse.c \
        deep.c threads.c dynamic.c window.c traffic.c ../mpi/testlib.c \
        -o "$programs/match" -ldl -lpthread -lm &&
        $cc killed.c ../mpi/testlib.c -o "$programs/killed" -ldl -lpthread)
}

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
    [ -z "${PRELOAD:-}" ] || libs=${libs:+$libs:}$build/lib/libskein-openmpi.so
    [ -z "$libs" ] || launch="$launch -x LD_PRELOAD=$libs"
}

failure() { # NAME WHY
    echo "FAIL $1: $2"
    failed=$((failed + 1))
}

# run SECONDS RANKS [NAME=VALUE...] -- PROGRAM [ARG...]
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
        echo "skip $name: there is no $build/lib/libskein-openmpi.so"
        return
    fi
    [ -z "${matching:-}" ] || name=${name/"$matching"/(matching)}
    local cmd="$launch $programs/$program $*"
    eval "timeout -k 5 $limit $cmd" >"$log" 2>&1 </dev/null
    rc=$?
    if [ $rc = 0 ]; then
        echo "ok $name"
    else
        why=$(grep -a "^$program: " "$log" | grep -av 'left out' | head -1)
        [ $rc = 124 ] && why="no end after $limit s"
        failure "$name" "${why:-exit $rc: $(grep -av '^[-[:space:]]*$' "$log" | head -1)} (replay: $cmd)"
    fi
    grep -a 'left out: ' "$log" | sed "s/^.*left out: /skip /" | sort -u
}
