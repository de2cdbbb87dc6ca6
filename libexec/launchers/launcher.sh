#!/bin/sh
# A launcher in a script that `skein run` starts: the folder of this file is first in PATH, under the
# names of all launchers. Runs the real one, which follows in PATH, under `skein run`.
here=$(cd "$(dirname "$0")" && pwd)
PATH=$(printf %s "$PATH" | tr : '\n' | grep -Fxv "$here" | paste -sd: -)
export PATH
eval "exec ${_SKEIN_RUN_AGAIN:?is not set: this file is for \`skein run\`} ${0##*/} \"\$@\""
