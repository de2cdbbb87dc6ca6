#!/bin/bash
# run.sh [BUILD]: two ordinary MPI programs, plain and under Skein by turns, on the first MPI found; prints the ratios
# of their times with their spread, and compares their results. cg is a solver with global collectives, spmm
# a sparse matrix times a dense one with neighbourhood collectives. RANKS and PAIRS choose other jobs. Fails
# if results differ.
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
skein=$build/bin/skein out=$build/examples pairs=${PAIRS:-7}
[ -x "$skein" ] || { echo "$skein is missing: run make first" >&2; exit 1; }

for mpi in openmpi mpich none; do
    command -v mpicc.$mpi >/dev/null && command -v mpiexec.$mpi >/dev/null && break
done
launcher=("mpiexec.$mpi")
cores=$(nproc)
case $mpi in
openmpi)
    ranks=${RANKS:-$((cores < 4 ? 4 : cores > 8 ? 8 : cores))}
    [ "$ranks" -le "$cores" ] || launcher+=(--oversubscribe)
    [ "$(id -u)" != 0 ] || launcher+=(--allow-run-as-root)
    ;;
mpich)
    # Its waiting ranks never give the core away: more ranks than cores crawl.
    ranks=${RANKS:-$((cores < 2 ? 2 : cores > 8 ? 8 : cores))}
    ;;
none)
    echo "no MPI found: mpicc.openmpi or mpicc.mpich is needed" >&2
    exit 1
    ;;
esac
launcher+=(-n "$ranks")
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$out" "$tmp/cg" "$tmp/spmm"

step() { printf '%-8s %s' "$1" "$2"; }
say_done() { printf ' %s\n' "${1:-done}"; }
die() { echo; cat "$2" >&2; echo "$1" >&2; exit 1; }

read -r load _ </proc/loadavg
awk -v load="$load" -v cores="$cores" 'BEGIN { if (load > cores / 2)
    printf "busy     the load of this machine is %.1f, it has %d cores: expect a wide spread\n", load, cores }'
step compile "examples/cg.c and examples/spmm.c with mpicc.$mpi ..."
{
    "mpicc.$mpi" -O2 examples/cg.c -o "$out/cg.$mpi" -lm &&
        "mpicc.$mpi" -O2 -Isrc -I. -D_GNU_SOURCE examples/spmm.c lab/graph/mtx.c src/base/numbers.c -o "$out/spmm.$mpi" -lm &&
        cc -O2 examples/mtxgen.c -o "$out/mtxgen" && "$out/mtxgen" 128 6096 symmetric 1 >"$out/matrix.mtx"
} >"$tmp/log" 2>&1 || die "an example does not compile" "$tmp/log"
say_done

cg=("$out/cg.$mpi" 128)
spmm=("$out/spmm.$mpi" "$out/matrix.mtx" 8 1000)
run_one() { # plain|skein CASE PAIR COMMAND...
    local with=() file=$tmp/$2/$1.$3 what=$1
    [ "$1" = plain ] || with=("$skein" run)
    shift 3
    timeout 300 "${with[@]}" "${launcher[@]}" "$@" >"$file" 2>"$tmp/log" || { cat "$file" >>"$tmp/log"; die "the run failed: $what, $*" "$tmp/log"; }
}
run_case() { # CASE COMMAND...
    local case=$1 i
    shift
    step "$case" "${launcher[*]} $*"$'\n         '"plain and with skein, by turns:"
    for ((i = 1; i <= pairs; i++)); do
        # Who is first changes: what drifts, drifts for both.
        if ((i % 2)); then
            run_one plain "$case" $i "$@" && run_one skein "$case" $i "$@"
        else
            run_one skein "$case" $i "$@" && run_one plain "$case" $i "$@"
        fi
        printf ' %d' $i
    done
    say_done
}
run_case cg "${cg[@]}"
run_case spmm "${spmm[@]}"

step report "the solver once more, under skein run --report=html ..."
report=$out/report.html
timeout 300 "$skein" run --report=html:"$report" "${launcher[@]}" "${cg[@]}" >"$tmp/log" 2>&1 || die "the run failed" "$tmp/log"
[ -s "$report" ] || die "there is no report: Skein's library did not take part" "$tmp/log"
say_done

# values CASE plain|skein NAME: of all pairs, one per line.
values() { for ((i = 1; i <= pairs; i++)); do sed -n "s/^$3  *//p" "$tmp/$1/$2.$i"; done; }
row() { # CASE TITLE NAME FACTOR: medians in milliseconds, and the ratios of the pairs
    paste <(values "$1" plain "$3") <(values "$1" skein "$3") | awk -v title="$2" -v factor="$4" '
        function insert(v, n, x) { while (n > 1 && v[n - 1] > x) { v[n] = v[n - 1]; n-- } v[n] = x }
        function mid(v) { return (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2 }
        NF == 2 && $2 > 0 { n++; insert(a, n, $1); insert(b, n, $2); insert(r, n, $1 / $2) }
        END {
            if (!n) { print title ": no times"; exit 1 }
            printf "%-42s %9.3f %11.3f %9.2fx %7.2f to %.2f\n", title, mid(a) * factor, mid(b) * factor, mid(r), r[1], r[n]
        }'
}
value() { values "$1" plain "$2" | head -n 1; }
printf '\n%-42s %9s %11s %10s %15s\n' "milliseconds, medians of $pairs runs" plain "with skein" ratio "of all pairs"
row cg "cg, $(value cg grid) grid, $ranks ranks: solve" seconds 1000
row cg "    of this, in collectives" "in collectives" 1000
row spmm "spmm, $(value spmm nonzeros) nonzeros, $ranks ranks: product" "us per product" .001
row spmm "    of this, gathering from neighbours" "us in gather" .001

# ---- results ----
different() { # CASE NAME: the values of all runs
    { values "$1" plain "$2"; values "$1" skein "$2"; } | sort -u
}
near() { # CASE NAME: within 1e-10 of each other
    different "$1" "$2" | awk 'NR == 1 { least = most = $1 } { if ($1 < least) least = $1; if ($1 > most) most = $1 }
        END { d = most - least; m = most < 0 ? -most : most; exit !(NR && d <= 1e-10 * m) }'
}
equal=1
[ "$(different cg iterations | wc -l)" = 1 ] && near cg checksum || { echo "cg: results DIFFER"; equal=; }
[ "$(different spmm checksum | wc -l)" = 1 ] && [ "$(different spmm 'wrong values')" = 0 ] || { echo "spmm: results DIFFER"; equal=; }
echo
[ -n "$equal" ] || exit 1
echo "results equal in all $((4 * pairs)) runs: cg the same iterations and checksums within 1e-10; spmm the same bits"
echo "what the collectives of cg cost, as a page: $report"
