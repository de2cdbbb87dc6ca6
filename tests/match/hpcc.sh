#!/bin/bash
# hpcc.sh BUILD: the HPC Challenge, a program that nobody here wrote, small, on 4 ranks over the
# provider, with and without the preload library. It checks its own results: Success=1.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: hpcc.sh BUILD}" && pwd) || exit 2
. "$here/launch.sh"
if ! command -v hpcc >/dev/null; then
    echo "skip hpcc: not installed"
    exit 0
fi
input=/usr/share/doc/hpcc/examples/_hpccinf.txt
if [ ! -e $input ]; then
    echo "skip hpcc: no $input to start from"
    exit 0
fi
room=$(mktemp -d) || exit 2
trap 'rm -rf "$log" "$room"' EXIT
cd "$room" || exit 2
# A smaller matrix and blocks, else as it comes.
sed "6s/^[0-9]*/${HPCC_N:-256}/; 8s/^[0-9]*/32/" $input >hpccinf.txt

challenge() { # [NAME=VALUE...]
    local name="hpcc${*:+ $*}${PRELOAD:+, preloaded}, 4 ranks" rc
    rm -f hpccoutf.txt
    launcher 4 "$@"
    eval "timeout -k 5 200 $launch hpcc" >"$log" 2>&1 </dev/null
    rc=$?
    if [ $rc != 0 ]; then
        failure "$name" "exit $rc: $(grep -av '^[-[:space:]]*$' "$log" | head -1) (replay: $launch hpcc)"
    elif ! grep -q '^Success=1' hpccoutf.txt; then
        failure "$name" "$(grep -a '^Success=' hpccoutf.txt || echo no result) (replay: $launch hpcc)"
    else
        echo "ok $name"
    fi
}

challenge
[ -z "${LONG:-}" ] || challenge SKEIN_SHM=0
PRELOAD=1 challenge
[ $failed = 0 ]
