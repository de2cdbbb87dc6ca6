# tap.sh: how the test scripts report, in TAP (Test Anything Protocol); to be sourced.
#   ok NAME, fail NAME WHY, skip NAME WHY    one test
#   relay PREFIX <TAP                        the tests of another program, as tests of this one
#   finish                                   the last line: prints the plan, ends with the status
# $tmp is a folder for the script, removed at its end. A script that ends without `finish` fails.
# `patience` turns the seconds that a run takes at most on a free machine into a limit that holds on a
# loaded one too (PATIENCE times as long): nothing here asserts a time, limits only end what hangs.
tap_count=0 tap_failed=0 tap_done=
tmp=$(mktemp -d) && [ -n "$tmp" ] || exit 2
export XDG_CONFIG_HOME="$tmp" # no tuning file of the user
trap 'rm -rf "$tmp"; [ -n "$tap_done" ] || echo "Bail out! the script ended early"' EXIT

# In a name, # would begin a directive.
tap_line() { # ok|not ok, NAME, DIRECTIVE
    tap_count=$((tap_count + 1))
    case $2 in
    *'#'*) printf '%s %d - %s%s\n' "$1" $tap_count "$(printf %s "$2" | tr '#' '-')" "$3" ;;
    *) printf '%s %d - %s%s\n' "$1" $tap_count "$2" "$3" ;;
    esac
}
ok() { tap_line ok "$1" ""; }
skip() { tap_line ok "$1" " # SKIP $2"; }
fail() {
    tap_line "not ok" "$1" ""
    printf '%s\n' "$2" | sed 's/^/# /'
    tap_failed=$((tap_failed + 1))
}

relay() {
    tap_plan=
    while IFS= read -r tap_text; do
        case $tap_text in
        1..*) tap_plan=1 ;;
        "ok "*" # SKIP "*)
            tap_text=${tap_text#*- }
            skip "$1${tap_text%% # SKIP *}" "${tap_text#* # SKIP }"
            ;;
        "ok "*) ok "$1${tap_text#*- }" ;;
        "not ok "*)
            tap_line "not ok" "$1${tap_text#*- }" ""
            tap_failed=$((tap_failed + 1))
            ;;
        "# "*) echo "$tap_text" ;;
        *) echo "# $tap_text" ;;
        esac
    done
    [ -n "$tap_plan" ] || fail "$1ends" "it ended early, or had no tests"
}

finish() {
    tap_done=1
    echo "1..$tap_count"
    [ $tap_failed -eq 0 ]
    exit
}

patience() { echo $(($1 * ${PATIENCE:-5})); }

# launch_of FLAVOUR RANKS: the command that starts a job, as words.
launch_of() {
    if [ "$1" = openmpi ]; then
        tap_root=
        [ "$(id -u)" = 0 ] && tap_root=--allow-run-as-root
        echo mpirun.openmpi --oversubscribe $tap_root -n "$2"
    else
        echo mpiexec.mpich -n "$2"
    fi
}
