#!/bin/bash
# run.sh BUILD: the lanes and the provider on this machine. One line per test: ok NAME, FAIL NAME: why,
# skip NAME: why.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD}" && pwd) || exit 2
out=$build/tests-fabric
mkdir -p "$out" || exit 2
cd "$here/../.." || exit 2

if ! pkg-config --exists libfabric; then
    echo "skip fabric: libfabric is not installed"
    exit 0
fi
# Several processes of a test are stopped by their leak checkers for minutes; the tests count for themselves.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}

lanes="src/fabric/lane/*.c src/fabric/proto/packet.c src/fabric/proto/address.c src/shm/segment.c src/shm/cma.c"
flags="-std=c17 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Isrc -Itests"

# compile NAME SOURCES AND FLAGS: the program NAME, or a line that says that there is none.
compile() {
    local name=$1
    shift
    # shellcheck disable=SC2046,SC2086
    cc $flags "$@" $(pkg-config --cflags --libs libfabric) -o "$out/$name" && return
    echo "FAIL $name: does not compile"
    failed=1
    return 1
}

# run PREFIX NAME ARGUMENTS: its lines, with a prefix that tells runs of the same test apart.
run() {
    local prefix=$1 name=$2 status
    shift 2
    timeout 300 "$out/$name" "$@" | sed -E "s/^(ok|FAIL|skip) /\1 $prefix/"
    status=${PIPESTATUS[0]}
    [ "$status" -eq 0 ] || failed=1
    [ "$status" -le 1 ] || echo "FAIL $prefix$name: ended with status $status"
}

help=tests/fabric/lanes_help.c
asan="-fsanitize=address,undefined -fno-sanitize-recover=undefined"
# The words of these lists are meant to be split.
# shellcheck disable=SC2086
{
    compile wire $asan tests/fabric/lanes_wire.c src/fabric/proto/packet.c src/fabric/proto/address.c &&
        run wire_ wire
    compile ring tests/fabric/lanes_ring.c -pthread && run "" ring
    compile ring_tsan -fsanitize=thread tests/fabric/lanes_ring.c -pthread && run tsan_ ring_tsan
    compile lanes -Werror tests/fabric/lanes.c $help $lanes && {
        run "" lanes shm
        LANES_CORE="tcp;ofi_rxm" run rxm_ lanes core
        LANES_CORE="" run chosen_ lanes core
    }
    compile lanes_shm -Werror tests/fabric/lanes_shm.c $help $lanes && run "" lanes_shm
    compile lanes_core -Werror tests/fabric/lanes_core.c $help $lanes && run "" lanes_core
    compile lanes_asan $asan tests/fabric/lanes.c $help $lanes && {
        run asan_ lanes_asan shm
        LANES_CORE="" run asan_ lanes_asan core
    }
    compile lanes_shm_asan $asan tests/fabric/lanes_shm.c $help $lanes && run asan_ lanes_shm_asan
}

# The provider, straight through libfabric: over shared memory, and with the core-provider lane only.
provider="src/fabric/*/*.c src/match/*.c src/match/engine/*.c src/base/*.c src/shm/*.c"
parts="calls match flow fail threads"
provider_runs() { # PREFIX FOLDER SUFFIX
    for part in $parts; do
        FI_PROVIDER_PATH=$2 run "$1" "provider_$part$3"
        FI_PROVIDER_PATH=$2 SKEIN_SHM=0 run "$1core_" "provider_$part$3"
    done
}
# shellcheck disable=SC2086
if [ -e "$build/lib/libskein-fi.so" ]; then
    for part in $parts; do
        compile "provider_$part" -Werror "tests/fabric/provider_$part.c" tests/fabric/provider_help.c -pthread
    done
    provider_runs "" "$build/lib" ""
    mkdir -p "$out/asan" && compile asan/libskein-fi.so $asan -shared -fPIC -fvisibility=hidden -Iinclude \
        $provider -pthread -ldl -lm && {
        for part in $parts; do
            compile "provider_${part}_asan" $asan "tests/fabric/provider_$part.c" tests/fabric/provider_help.c -pthread
        done
        provider_runs asan_ "$out/asan" _asan
    }
else
    echo "skip provider: it is not built"
fi

[ -z "$failed" ]
