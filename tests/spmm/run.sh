#!/bin/bash
# run.sh BUILD: the example spmm gives the same results on any number of ranks, on either MPI, plain
# and under Skein; and bad files end it with a message. One line per test.
build=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/../.." || exit 2
out=$build/tests-spmm
mkdir -p "$out"
failed=0

ok() { echo "ok $1"; }
fail() {
    echo "FAIL $1: $2"
    failed=1
}
value() { sed -n "s/^$1  *//p" "$out/log"; }

cc -Wall -Wextra -Werror -O2 examples/mtxgen.c -o "$out/mtxgen" || exit 2
"$out/mtxgen" 193 1843 symmetric 1 >"$out/symmetric.mtx" &&
    "$out/mtxgen" 292 2208 banded 2 >"$out/banded.mtx" &&
    "$out/mtxgen" 5 12 random 3 >"$out/tiny.mtx" || exit 2 # fewer rows than ranks
sed '9s/ / x/' "$out/banded.mtx" >"$out/malformed.mtx"
head -n 50 "$out/banded.mtx" >"$out/short.mtx"

# Same arguments, same file; as many entries as asked for.
"$out/mtxgen" 292 2208 banded 2 | cmp -s - "$out/banded.mtx" &&
    [ "$(grep -c . "$out/banded.mtx")" -eq $((2208 + 3)) ] &&
    ok spmm_matrices_are_reproducible || fail spmm_matrices_are_reproducible "the files differ"

# same NAME MATRIX COMMAND...: exit 0, no wrong value, and the checksum of one rank.
same() {
    local name=$1 matrix=$2 status
    shift 2
    timeout 120 "$@" "$out/$matrix.mtx" 3 3 >"$out/log" 2>"$out/err"
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
    [ -r "$file" ] || { echo "skip $name: there is no $file"; return; }
    timeout 120 "$@" "$file" 2 2 >"$out/log" 2>"$out/err"
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
    timeout 60 "$@" >"$out/log" 2>"$out/err"
    status=$?
    if [ $status -ne 1 ]; then
        fail "$name" "exit status $status, not 1"
    elif [ "$(grep -cF "$text" "$out/err")" -ne 1 ]; then
        fail "$name" "not once '$text': $(head -n 1 "$out/err")"
    else
        ok "$name"
    fi
}

[ -n "$MATRICES" ] || echo "skip spmm_real_matrices: MATRICES names no directory with real matrices"
for mpi in openmpi mpich; do
    if ! command -v mpicc.$mpi >/dev/null || ! command -v mpiexec.$mpi >/dev/null; then
        echo "skip spmm_$mpi: no $mpi"
        continue
    fi
    program=$out/spmm.$mpi
    if ! mpicc.$mpi -std=c17 -D_GNU_SOURCE -Isrc -Wall -Wextra -Werror -O2 examples/spmm.c \
        lab/graph/mtx*.c -o "$program" -lm; then
        fail "spmm_${mpi}_compiles" "see above"
        continue
    fi
    launch=("mpiexec.$mpi")
    [ $mpi = openmpi ] && launch+=(--oversubscribe)
    [ "$mpi$(id -u)" = openmpi0 ] && launch+=(--allow-run-as-root)

    declare -A expected=()
    for matrix in symmetric banded tiny; do
        timeout 60 "${launch[@]}" -n 1 "$program" "$out/$matrix.mtx" 3 3 >"$out/log" 2>"$out/err"
        expected[$matrix]=$(value checksum)
        [ -n "${expected[$matrix]}" ] || fail "spmm_${mpi}_alone_on_$matrix" "$(tail -n 1 "$out/err")"
    done
    for n in 4 7; do
        for matrix in symmetric banded tiny; do
            same spmm_${mpi}_${n}_ranks_on_$matrix $matrix "${launch[@]}" -n $n "$program"
            if [ ! -e "$build/lib/libskein-$mpi.so" ]; then
                echo "skip spmm_${mpi}_${n}_ranks_on_${matrix}_with_skein: no libskein-$mpi.so"
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
    if ! mpicc.$mpi -shared -fPIC tests/spmm/wrong.c -o "$out/wrong.$mpi.so"; then
        fail $name "wrong.c does not compile"
        continue
    fi
    preload=(-genv LD_PRELOAD "$out/wrong.$mpi.so")
    [ $mpi = openmpi ] && preload=(-x "LD_PRELOAD=$out/wrong.$mpi.so")
    timeout 60 "${launch[@]}" "${preload[@]}" -n 3 "$program" "$out/banded.mtx" 3 3 >"$out/log" 2>"$out/err"
    status=$?
    [ $status -eq 1 ] && [ "$(value 'wrong values')" -gt 0 ] && ok $name ||
        fail $name "exit status $status, $(value 'wrong values') wrong values"
done
exit $failed
