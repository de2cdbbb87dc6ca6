# Completion of `skein` for bash. Commands, options and names come from the command itself, so what it
# prints with --help is what is completed.

# The options of a command: `skein run --help` without its text.
_skein_options() { "$@" --help 2>/dev/null | grep -oE -- '^ {2,8}(-[a-z], )?--[a-z-]+(\[?=)?' | grep -oE -- '--[a-z-]+(\[?=)?' | tr -d '['; }
_skein_commands() { "$1" help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p'; }
_skein_collectives() { "$1" info 2>/dev/null | sed -n 's/^  \([a-z_]*\)$/\1/p'; }

_skein() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} skein=${COMP_WORDS[0]} words= i
    local command=${COMP_WORDS[1]} sub=
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        words=$(_skein_commands "$skein")
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        return
    fi
    # What follows `=`: bash takes it for a word of its own.
    if [ "$cur" = = ]; then cur=; elif [ "$prev" = = ]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi
    [ "${COMP_WORDS[COMP_CWORD]}" = = ] && prev=${COMP_WORDS[COMP_CWORD - 1]}
    case $prev in
    --mpi) words="openmpi mpich" ;;
    --match | --engine) words=$("$skein" info 2>/dev/null | sed -n '/^matching engines/,/^$/s/^  [* ] \([a-z+]*\) .*/\1/p') ;;
    --collective) words="all $(_skein_collectives "$skein")" ;;
    --algorithm) words=$("$skein" info 2>/dev/null | sed -n '/^[a-z]*settings/q; s/^    \([a-z][a-z-]*\)  .*/\1/p' | sort -u) ;;
    --form) words="blocking nonblocking persistent all" ;;
    --buffers) words="reused written fresh" ;;
    --graph) words="random: moore: matrix:" ;;
    --report | --plot | --csv | --prices | --show | --check | --trace | --output | -o)
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return
        ;;
    --lib)
        mapfile -t COMPREPLY < <(compgen -d -- "$cur")
        return
        ;;
    esac
    if [ -n "$words" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        [[ ${COMPREPLY[*]} != *: ]] || compopt -o nospace 2>/dev/null
        return
    fi
    case $command in
    help)
        words=$(_skein_commands "$skein")
        ;;
    run | trace | tune)
        # Behind the options comes a command line of its own.
        for ((i = 2; i < COMP_CWORD; i++)); do
            case ${COMP_WORDS[i]} in
            -o | --output | --seconds) ((i++)) ;;
            -- | = | -*) [ "${COMP_WORDS[i]}" = = ] && ((i++)) ;;
            *)
                declare -F _command_offset >/dev/null && _command_offset "$i"
                return
                ;;
            esac
        done
        words=$(_skein_options "$skein" "$command")
        [[ $cur == -* ]] || words=$(compgen -c -- "$cur")
        ;;
    *)
        case $command:${COMP_WORDS[2]} in
        explain:neighbor | bench:neighbor | bench:match) sub=${COMP_WORDS[2]} ;;
        esac
        words=$(_skein_options "$skein" "$command" $sub)
        if [[ $cur != -* ]] && [ "$COMP_CWORD" -eq 2 ]; then
            case $command in
            explain) words="neighbor $(_skein_collectives "$skein")" ;;
            bench) words="neighbor match" ;;
            esac
        elif [[ $cur != -* ]]; then
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            return
        fi
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -F _skein skein
