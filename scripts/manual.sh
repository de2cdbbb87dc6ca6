#!/bin/sh
# manual.sh SKEIN FILE: FILE with its lines @settings@, @algorithms@ and @engines@ replaced by the tables
# that the command prints.
skein=$1
while IFS= read -r line; do
    case $line in
    @*@)
        part=${line#@}
        "$skein" info --mdoc "${part%@}" || exit 1
        ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$2"
