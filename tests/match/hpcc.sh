# hpcc.sh: the HPC Challenge, a program that nobody here wrote, small, on 4 ranks over the provider, with
# and without the preload library. It checks its own results: Success=1. Part of run.sh.
challenge() { # [NAME=VALUE...]
    local name="hpcc${*:+ $*}${PRELOAD:+, preloaded}, 4 ranks" rc
    rm -f hpccoutf.txt
    launcher 4 "$@"
    eval "timeout -k 5 $(patience 200) $launch hpcc" >"$log" 2>&1 </dev/null
    rc=$?
    if [ $rc != 0 ]; then
        fail "$name" "exit $rc: $(grep -av '^[-[:space:]]*$' "$log" | head -1) (replay: $launch hpcc)"
    elif ! grep -q '^Success=1' hpccoutf.txt; then
        fail "$name" "$(grep -a '^Success=' hpccoutf.txt || echo no result) (replay: $launch hpcc)"
    else
        ok "$name"
    fi
}

group_hpcc() {
    local input=/usr/share/doc/hpcc/examples/_hpccinf.txt
    if ! command -v hpcc >/dev/null; then
        skip hpcc "not installed"
    elif [ ! -e $input ]; then
        skip hpcc "no $input to start from"
    else
        cd "$tmp" || exit 2
        # A smaller matrix and blocks, else as it comes.
        sed "6s/^[0-9]*/${HPCC_N:-256}/; 8s/^[0-9]*/32/" $input >hpccinf.txt
        challenge
        [ -z "$long" ] || challenge SKEIN_SHM=0
        PRELOAD=1 challenge
        cd "$here" || exit 2
    fi
}
