#!/bin/bash
# run.sh BUILD FLAVOUR...: the example spmm gives the same results on any number of ranks, plain and
# under Skein; and bad files end it with a message.
build=$(cd "$1" && pwd) || exit 2
shift
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
out=$tmp
programs=$build/tests/spmm
mtxgen=$programs/mtxgen
value() { sed -n "s/^$1  *//p" "$out/log"; }

"$mtxgen" 193 1843 symmetric 1 >"$out/symmetric.mtx" &&
    "$mtxgen" 292 2208 banded 2 >"$out/banded.mtx" &&
    "$mtxgen" 5 12 random 3 >"$out/tiny.mtx" || exit 2 # fewer rows than ranks
sed '9s/ / x/' "$out/banded.mtx" >"$out/malformed.mtx"
head -n 50 "$out/banded.mtx" >"$out/short.mtx"

# Same arguments, same file; as many entries as asked for.
"$mtxgen" 292 2208 banded 2 | cmp -s - "$out/banded.mtx" &&
    [ "$(grep -c . "$out/banded.mtx")" -eq $((2208 + 3)) ] &&
    ok spmm_matrices_are_reproducible || fail spmm_matrices_are_reproducible "the files differ"

# same NAME MATRIX COMMAND...: exit 0, no wrong value, and the checksum of one rank.
same() {
    local name=$1 matrix=$2 status
    shift 2
    timeout $(patience 120) "$@" "$out/$matrix.mtx" 3 3 >"$out/log" 2>"$out/err"
    status=$?
    if [ $status -ne 0 ] || [ "$(value 'wrong values')" != 0 ]; then
        fail "$name" "exit status $status, $(value 'wrong values') wrong values: $(tail -n 1 "$out/err")"
    elif [ "$(value checksum)" != "${expected[$matrix]}" ]; then
        fail "$name" "checksum $(value checksum), not ${expected[$matrix]}"
    else
        ok "$name"
    fi
}

# real MATRIX ROWS NONZEROS COMMAND...: a matrix of the SuiteSparse collection. They are not part of
# the source: the environment variable MATRICES names a directory with some.
real() {
    local name=spmm_${mpi}_real_$1 file=$MATRICES/$1.mtx size="$2 x $2, $3, 0"
    shift 3
    [ -r "$file" ] || { skip "$name" "there is no $file"; return; }
    timeout $(patience 120) "$@" "$file" 2 2 >"$out/log" 2>"$out/err"
    if [ "$(value matrix), $(value nonzeros), $(value 'wrong values')" = "$size" ]; then
        ok "$name"
    else
        fail "$name" "$(tr '\n' ' ' <"$out/log")$(tail -n 1 "$out/err")"
    fi
}

# refused NAME TEXT COMMAND...: exit 1, soon, with the message, once.
refused() {
    local name=$1 text=$2 status
    shift 2
    timeout $(patience 60) "$@" >"$out/log" 2>"$out/err"
    status=$?
    if [ $status -ne 1 ]; then
        fail "$name" "exit status $status, not 1"
    elif [ "$(grep -cF "$text" "$out/err")" -ne 1 ]; then
        fail "$name" "not once '$text': $(head -n 1 "$out/err")"
    else
        ok "$name"
    fi
}

[ -n "$MATRICES" ] || skip "spmm_real_matrices" "MATRICES names no directory with real matrices"
for mpi in "$@"; do
    program=$programs/spmm-$mpi
    launch=("mpiexec.$mpi")
    [ $mpi = openmpi ] && launch+=(--oversubscribe)
    [ "$mpi$(id -u)" = openmpi0 ] && launch+=(--allow-run-as-root)

    declare -A expected=()
    for matrix in symmetric banded tiny; do
        timeout $(patience 60) "${launch[@]}" -n 1 "$program" "$out/$matrix.mtx" 3 3 >"$out/log" 2>"$out/err"
        expected[$matrix]=$(value checksum)
        [ -n "${expected[$matrix]}" ] || fail "spmm_${mpi}_alone_on_$matrix" "$(tail -n 1 "$out/err")"
    done
    for n in 4 7; do
        for matrix in symmetric banded tiny; do
            same spmm_${mpi}_${n}_ranks_on_$matrix $matrix "${launch[@]}" -n $n "$program"
            if [ ! -e "$build/lib/libskein-$mpi.so" ]; then
                skip "spmm_${mpi}_${n}_ranks_on_${matrix}_with_skein" "no libskein-$mpi.so"
            else
                same spmm_${mpi}_${n}_ranks_on_${matrix}_with_skein $matrix \
                    "$build/bin/skein" run "${launch[@]}" -n $n "$program"
            fi
        done
    done

    if [ -n "$MATRICES" ]; then
        with=()
        [ -e "$build/lib/libskein-$mpi.so" ] && with=("$build/bin/skein" run)
        real bcsstk13 2003 83883 "${with[@]}" "${launch[@]}" -n 4 "$program" # symmetric
        real jagmesh7 1138 7450 "${with[@]}" "${launch[@]}" -n 4 "$program"  # symmetric pattern
        real west0067 67 294 "${with[@]}" "${launch[@]}" -n 4 "$program"     # general
    fi

    refused spmm_${mpi}_names_the_line "$out/malformed.mtx:9: the column is a whole number, not 'x" \
        "${launch[@]}" -n 4 "$program" "$out/malformed.mtx"
    refused spmm_${mpi}_finds_a_short_file "$out/short.mtx:50: the file ends after 47 of 2208 entries" \
        "${launch[@]}" -n 4 "$program" "$out/short.mtx"
    refused spmm_${mpi}_names_a_missing_file "No such file" "${launch[@]}" -n 4 "$program" "$out/none.mtx"
    refused spmm_${mpi}_wants_a_file "usage: spmm FILE" "${launch[@]}" -n 2 "$program"

    name=spmm_${mpi}_finds_wrong_values
    preload=(-genv LD_PRELOAD "$programs/libspmm-wrong-$mpi.so")
    [ $mpi = openmpi ] && preload=(-x "LD_PRELOAD=$programs/libspmm-wrong-$mpi.so")
    timeout $(patience 60) "${launch[@]}" "${preload[@]}" -n 3 "$program" "$out/banded.mtx" 3 3 >"$out/log" 2>"$out/err"
    status=$?
    [ $status -eq 1 ] && [ "$(value 'wrong values')" -gt 0 ] && ok $name ||
        fail $name "exit status $status, $(value 'wrong values') wrong values"
done
finish
