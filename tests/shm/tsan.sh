#!/bin/bash
# tsan.sh RACE PROGRAM: a program with cmocka tests, built with the thread sanitizer. RACE is a program
# in which it must find a race: some kernels spread addresses too widely for it, unless setarch keeps
# them in place.
. "$(dirname "$0")/../tap.sh"
name=tsan_$(basename "$2" -tsan)
race=66 # the status of a program in which it found one
export TSAN_OPTIONS=exitcode=$race:halt_on_error=1 CMOCKA_MESSAGE_OUTPUT=TAP
for first in env "setarch -R"; do
    read -ra first <<<"$first"
    "${first[@]}" "$1" >"$tmp/log" 2>&1
    status=$?
    [ $status -eq $race ] && break
done
if [ "$status" -ne "$race" ]; then
    skip "$name" "the thread sanitizer does not run here: $(grep . "$tmp/log" | tail -n 1)"
    finish
fi
timeout "$(patience 200)" "${first[@]}" "$2" >"$tmp/log" 2>&1
status=$?
if [ $status -eq 0 ]; then
    relay "${name}_" <"$tmp/log"
else
    fail "$name" "status $status: $(tail -n 60 "$tmp/log")"
fi
finish
