#!/bin/bash
# spmm.sh [BUILD [FILE...]]: multiply sparse matrices (spmm.c) plain and under Skein, and put the
# times of a product side by side. Without files: made-up matrices of the sizes that the paper on
# distance halving uses (its Table II). RANKS, WIDTH, REPEATS and MPI (openmpi or mpich) choose
# other jobs. Fails when results differ.
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
shift
skein=$build/bin/skein out=$build/examples
[ -x "$skein" ] || { echo "$skein is missing: run make first" >&2; exit 1; }

mpi=${MPI:-openmpi}
command -v "mpicc.$mpi" >/dev/null || { echo "no mpicc.$mpi" >&2; exit 1; }
launcher=("mpiexec.$mpi")
[ "$mpi" = openmpi ] && launcher+=(--oversubscribe)
[ "$mpi$(id -u)" = openmpi0 ] && launcher+=(--allow-run-as-root)
launcher+=(-n "${RANKS:-4}")

mkdir -p "$out"
cc -O2 examples/mtxgen.c -o "$out/mtxgen" || exit 1
"mpicc.$mpi" -O2 -Isrc -I. -D_GNU_SOURCE examples/spmm.c lab/graph/mtx*.c src/base/numbers.c -o "$out/spmm.$mpi" -lm || exit 1

# Name, rows, nonzeros; and the kind that is nearest to the real one.
if [ $# -eq 0 ]; then
    while read -r name rows nnz kind; do
        file=$out/$name.mtx
        "$out/mtxgen" "$rows" "$nnz" "$kind" 1 >"$file" || exit 1
        set -- "$@" "$file"
    done <<'END'
dwt_193 193 1843 symmetric
Journals 128 6096 symmetric
Heart1 3600 1387773 random
ash292 292 2208 symmetric
bcsstk13 2003 83883 symmetric
cegb2802 2802 277362 banded
comsol 1500 97645 banded
END
fi

value() { sed -n "s/^$1  *//p" <<<"$2"; }
job() { timeout 300 "$@" "$out/spmm.$mpi" "$file" "${WIDTH:-8}" "${REPEATS:-20}"; }

status=0
echo "microseconds per product, ${RANKS:-4} ranks of $mpi, Y with ${WIDTH:-8} columns"
printf '%-14s %8s %10s %-24s %12s %12s\n' matrix rows nonzeros neighbours plain "with skein"
for file; do
    plain=$(job "${launcher[@]}") && woven=$(job "$skein" run "${launcher[@]}") || { status=1; continue; }
    rows=$(value matrix "$plain")
    printf '%-14s %8s %10s %-24s %12s %12s\n' "$(basename "$file" .mtx)" "${rows%% *}" \
        "$(value nonzeros "$plain")" "$(value neighbours "$plain")" \
        "$(value 'us per product' "$plain")" "$(value 'us per product' "$woven")"
    if [ "$(value checksum "$plain")" != "$(value checksum "$woven")" ]; then
        echo "results DIFFER: $(value checksum "$plain") and $(value checksum "$woven")"
        status=1
    fi
done
exit $status
