#!/bin/bash
# run.sh: adding things to Skein is as small as CONTRIBUTING.md says. In a copy of the tree:
#   an algorithm             one file of src/coll and one row of algos.def
#   a neighbourhood method   one folder of src/neighbor/method and one row of methods.def
#   a matching engine        one file of src/match/engine and one row of engines.def
# Each is a copy of an existing one under the name "sample". After a build, `skein info` lists them and
# the verifier and the tests of matching check them.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
copy=$tmp/skein
mkdir "$copy" || exit 2
tar -cf - --exclude='./build*' --exclude=./.git . | tar -xf - -C "$copy" || exit 2
cd "$copy" || exit 2

# add_row FILE ROW AFTER: a row behind the line that begins with AFTER.
add_row() { sed -i "/^$3/a $2" "$1"; }

# allgather_ring.c without its second struct, which is of another collective.
sed 's/allgather_ring/allgather_sample/; s/"ring"/"sample"/; /^const sk_algo sk_allgatherv_/,$d' \
    src/coll/p2p/allgather_ring.c >src/coll/p2p/allgather_sample.c
add_row src/coll/algos.def 'ALGO(allgather_sample)' 'ALGO(allgather_ring)'
cp -r src/neighbor/method/direct src/neighbor/method/sample
mv src/neighbor/method/sample/direct.c src/neighbor/method/sample/sample.c
sed -i 's/direct/sample/g; s/DIRECT/SAMPLE/g; s/sk_predict_sample/sk_predict_direct/' src/neighbor/method/sample/sample.c
add_row src/neighbor/methods.def 'METHOD(SAMPLE, sample, "a sample")' 'METHOD(NODE'
sed 's/sk_engine_list/sk_engine_sample/; s/"list"/"sample"/' src/match/engine/list.c >src/match/engine/sample.c
add_row src/match/engines.def 'ENGINE(sample)' 'ENGINE(list)'

if ! meson setup build -Doptimization=0 -Dflavours=smpi >"$tmp/log" 2>&1 ||
    ! ninja -C build bin/skein tests/verify/verify tests/unit/test_match >"$tmp/log" 2>&1; then
    fail builds "$(grep -E 'error|ERROR|undefined' "$tmp/log" | head -n 20)"
    finish
fi
ok builds

# listed NAME PATTERN: skein info has lines that match, so many.
listed() {
    local n
    n=$(build/bin/skein info | sed -n "$3" | grep -cE "$2")
    if [ "$n" -eq "$4" ]; then ok "$1"; else fail "$1" "$n lines of skein info, not $4"; fi
}
listed info_lists_the_algorithm '^    sample ' '/^  allgather$/,/^  allgatherv$/p' 1
listed info_lists_the_method '^    sample +a sample$' '/^  neighbor_/,/^[a-z]/p' 5
listed info_lists_the_engine '^  [* ] sample ' '/^matching engines/,/^$/p' 1

checked() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$tmp/log" 2>&1; then ok "$name"; else fail "$name" "$(tail -n 5 "$tmp/log")"; fi
}
checked verifier_checks_the_algorithm build/tests/verify/verify --quick allgather sample
grep -q '^ok 1 - allgather sample' "$tmp/log" || fail verifier_finds_the_algorithm "$(cat "$tmp/log")"
for coll in allgather allgatherv alltoall alltoallv alltoallw; do
    checked "verifier_checks_the_method_for_$coll" build/tests/verify/verify --quick neighbor_$coll sample
    grep -q "^ok 1 - neighbor_$coll sample" "$tmp/log" || fail verifier_finds_the_method "$(cat "$tmp/log")"
done
checked tests_of_matching_pass build/tests/unit/test_match
finish
