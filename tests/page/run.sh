#!/bin/bash
# run.sh BUILD: the page of `skein report`: of a large run with hostile names, of two runs, and what is refused.
build=$(cd "${1:?usage: run.sh BUILD}" && pwd) || exit 2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tap.sh"
skein=$build/bin/skein
cd "$tmp" || exit 2
export HOME=$tmp # the browser keeps something there

# check PREFIX PAGE JSON
check() {
    relay "$1_" < <(python3 "$here/check.py" "$2" "$3" $browser 2>&1; echo 1..0)
}

browser=$(command -v chromium-headless-shell || command -v chromium)
[ -n "$browser" ] || skip "browser" "there is no Chromium (chromium-headless-shell): pages are not opened"

python3 "$here/fixture.py" 1000 >big.json || exit 2
python3 "$here/fixture.py" 3 2 >small.json
for run in big small; do
    if "$skein" report $run.json >out 2>&1 && grep -qx "wrote $run.html" out; then
        check $run $run.html $run.json
    else
        fail "${run}_page" "$(cat out)"
    fi
done
if [ "$(stat -c %s big.html)" -lt 1000000 ]; then ok page_of_1000_ranks_is_small; else fail page_of_1000_ranks_is_small "$(stat -c %s big.html) bytes"; fi
echo '{"value": {"rows": []}}' >none.json
if "$skein" report big.json small.json >out 2>&1 && [ -f small-against-big.html ]; then
    check two_runs small-against-big.html none.json
else
    fail two_runs "$(cat out)"
fi

# says NAME PATTERN COMMAND...: status 0, and that on standard output.
says() {
    local name=$1 pattern=$2
    shift 2
    if "$@" >out 2>err && grep -qE -- "$pattern" out; then ok "$name"; else fail "$name" "no '$pattern' in: $(head -c 400 out err)"; fi
}
says text_has_the_calls "^allreduce +<= 64 B +[0-9]+ +[0-9.]+" "$skein" report --text big.json
says text_compares "^bytes between nodes +" "$skein" report --text big.json small.json
says page_to_standard_output "^</html>" "$skein" report -o - small.json
if "$skein" report --text big.json | LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f]\|\xc2[\x80-\x9f]'; then
    fail text_has_no_control_characters "it has"
else
    ok text_has_no_control_characters
fi
for words in "waits for late ranks" "neighbourhood collective" "keep --match" \
    "Neighbours sit on other nodes" "SKEIN_CACHE="; do
    says "advice_${words// /_}" "$words" "$skein" advise big.json
done

# refused NAME PATTERN FILE: an error that says what to do, and no page.
refused() {
    rm -f refused.html
    if "$skein" report -o refused.html "$3" >out 2>err; then
        fail "$1" "it was taken"
    elif [ -e refused.html ] || ! grep -qE -- "$2" err || ! grep -q '^skein report: ' err; then
        fail "$1" "$(head -c 400 err)"
    else
        ok "$1"
    fi
}
write='`skein run --report=FILE` writes one'
refused missing_file "cannot read no.json: No such file" no.json
refused a_folder "cannot read" .
: >empty.json
refused empty_file "line 1: it ends too early; $write" empty.json
echo '{"ranks": 4}' >old.json
refused another_schema "'format' is missing; $write" old.json
sed 's/"version": 1/"version": 2/' small.json >version.json
refused another_version "its version is 2, and 1 is read here; $write" version.json
sed 's/"run_seconds": [0-9.]*/"run_seconds": 1e999/' small.json >number.json
refused an_infinite_number "wrong or too large" number.json
sed 's/"ranks": 3/"ranks": "3"/' small.json >kind.json
refused a_text_for_a_number "'ranks' is no number" kind.json
head -c 3000 small.json >cut.json
refused cut_off "line 1: " cut.json
python3 -c 'print("[" * 100000)' >deep.json
refused brackets_in_brackets "too many brackets" deep.json
python3 -c 'import json; d = json.load(open("small.json")); d["rows"] *= 100; json.dump(d, open("long.json", "w"))'
refused too_many_rows "'rows' has [0-9]* elements" long.json
head -c 40000000 /dev/zero >zero.json
refused too_large "is too large for a report" zero.json
head -c 100000 /dev/urandom >random.json
refused random_bytes "line [0-9]*: " random.json
cp small.json same.json
if "$skein" report -o same.json same.json >out 2>err || ! cmp -s small.json same.json; then
    fail report_is_not_overwritten "it was"
else
    ok report_is_not_overwritten
fi
finish
