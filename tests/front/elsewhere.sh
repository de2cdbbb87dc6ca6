#!/bin/bash
# elsewhere.sh BUILD SUITE: this build, installed in a root of another Debian suite (scripts/root.sh), with
# the MPIs there: see installed.sh. Needs root and debootstrap; as a test it runs with LONG=1.
build=$(cd "$1" && pwd) || exit 1
suite=$2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tap.sh"
if [ -z "${LONG:-}" ]; then
    skip "this_build_on_$suite" "LONG=1 runs it"
    finish
fi
if grep -q "$suite" /etc/os-release || ! git -C "$here" rev-parse HEAD >/dev/null 2>&1; then
    skip "this_build_on_$suite" "this is $suite, or no checkout of Skein"
    finish
fi
if ! DESTDIR=$tmp/to meson install -C "$build" --no-rebuild >"$tmp/log" 2>&1; then
    fail "this_build_on_$suite" "it cannot be installed: $(tail -n 3 "$tmp/log")"
    finish
fi
prefix=$(cd "$tmp/to" && find . -path '*/bin/skein')
# shellcheck disable=SC2016
tar -C "$tmp/to" -cf - . | LONG='' "$here/../../scripts/root.sh" "$suite" sh -c '
    mkdir to && tar -xf - -C to && scripts/deps.sh </dev/null >&2 && exec tests/front/installed.sh "to/$0"' \
    "${prefix%/bin/skein}" >"$tmp/tap" 2>"$tmp/log"
relay "$suite: " <"$tmp/tap"
[ -s "$tmp/tap" ] || tail -n 5 "$tmp/log" | sed 's/^/# /'
finish
