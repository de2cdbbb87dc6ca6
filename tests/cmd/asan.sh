#!/bin/sh
# asan.sh BUILD: the parts of run.sh that read files and words, in a sanitizer's build.
exec "$(dirname "$0")/run.sh" "$1" refuse plan match fuzz
