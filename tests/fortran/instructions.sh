# instructions.sh: what a call costs in Fortran and in C. Part of run.sh.
# An 8-byte allreduce on one rank under callgrind: all instructions between the program's call and its
# return, those of the host's Fortran layer and of the host included. On one rank nobody waits, so the
# counts are exact. What is compared is the cost that Skein adds or saves: (Fortran under Skein - Fortran
# plain) with (C under Skein - C plain). The host's Fortran layer is in both of the first and in none of
# the others, so it cancels out; it is shown by itself.
calls=1000
most=60

# count plain|skein PROGRAM: sets $cost, the instructions of a call, or fails.
count() {
    start 1 "$1" LD_BIND_NOW=1 -- valgrind --tool=callgrind --toggle-collect=measured \
        --callgrind-out-file="$tmp/counts" "$2" $calls || return 1
    cost=$(awk '/^(summary|totals):/ { n = $2 } END { print n / '$calls' }' "$tmp/counts")
    cost=${cost%.*}
}

c_program=$build/tests/mpi/instructions-$flavour
if ! command -v valgrind >/dev/null; then
    skip "$flavour Fortran instructions" "there is no valgrind"
elif [ ! -x "$c_program" ]; then
    skip "$flavour Fortran instructions" "there is no $c_program to compare with"
elif ! count plain "$c_program" || ! { c_plain=$cost; count skein "$c_program"; }; then
    fail "$flavour instructions in C" "the run failed: $(grep -v '^==' "$log" | head -2)"
else
    c_skein=$cost
    for interface in mpifh mpi mpi_f08; do
        name="$flavour $interface instructions"
        program=$programs/instructions-$interface-$flavour
        if ! count plain "$program" || ! { plain=$cost; count skein "$program"; }; then
            fail "$name" "the run failed: $(grep -v '^==' "$log" | head -2)"
            continue
        fi
        more=$(((cost - plain) - (c_skein - c_plain)))
        figures="$cost a call, $plain plain; in C $c_skein and $c_plain; Skein costs $more more than in C, at most $most; \
the host's Fortran layer costs $((plain - c_plain))"
        if [ $more -gt $most ] || [ "$c_plain" -lt 1 ] || [ "$plain" -le "$c_plain" ]; then
            fail "$name" "$figures"
        else
            ok "$name: $figures"
        fi
    done
fi
