#!/bin/bash
# run.sh [BUILD]: run the example plain and under Skein on the first MPI found, and compare.
# RANKS and SIZE choose other jobs. Fails when the results differ.
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
skein=$build/bin/skein
[ -x "$skein" ] || { echo "$skein is missing: run make first" >&2; exit 1; }

for mpi in openmpi mpich none; do
    command -v mpicc.$mpi >/dev/null && command -v mpiexec.$mpi >/dev/null && break
done
launcher=("mpiexec.$mpi")
case $mpi in
openmpi)
    ranks=${RANKS:-4}
    launcher+=(--oversubscribe)
    [ "$(id -u)" = 0 ] && launcher+=(--allow-run-as-root)
    ;;
mpich)
    # Its waiting ranks never give the core away: more ranks than cores crawl.
    cores=$(nproc)
    ranks=${RANKS:-$((cores < 2 ? 2 : cores > 4 ? 4 : cores))}
    ;;
none)
    echo "no MPI found: mpicc.openmpi or mpicc.mpich is needed" >&2
    exit 1
    ;;
esac

mkdir -p "$build/examples"
program=$build/examples/cg.$mpi
"mpicc.$mpi" -O2 examples/cg.c -o "$program" -lm || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

command=("${launcher[@]}" -n "$ranks" "$program" "${SIZE:-128}")
echo "plain:      ${command[*]}"
timeout 300 "${command[@]}" >"$tmp/plain" || { cat "$tmp/plain"; echo "the plain run failed" >&2; exit 1; }
echo "with skein: $skein run --report ${command[*]}"
timeout 300 "$skein" run --report "${command[@]}" >"$tmp/skein" 2>"$tmp/report"
status=$?
if [ $status -ne 0 ]; then
    cat "$tmp/skein" "$tmp/report" >&2
    echo "the run with Skein failed with status $status" >&2
    exit 1
fi
if ! [ -s "$tmp/report" ]; then
    echo "the run with Skein printed no report: its library did not take part" >&2
    exit 1
fi

# Lines are a name of 15 columns and a value: put the two values side by side.
echo
printf '%-16s %-24s %s\n' "" "plain" "with skein"
paste -d '\n' "$tmp/plain" "$tmp/skein" | awk '
    { name = substr($0, 1, 15); value = substr($0, 16) }
    NR % 2 { left = value; next }
    { printf "%-16s %-24s %s\n", name, left, value }'
echo
cat "$tmp/report"
echo

awk '
    function away(a, b) { return a > b ? a - b : b - a }
    { name = substr($0, 1, 15); sub(/ +$/, "", name); value[FILENAME, name] = substr($0, 16) }
    END {
        plain = ARGV[1]; skein = ARGV[2]
        a = value[plain, "checksum"] + 0; b = value[skein, "checksum"] + 0
        if (value[plain, "iterations"] == "" || a == 0) {
            print "results missing"
            exit 1
        }
        same = value[plain, "iterations"] == value[skein, "iterations"]
        near = away(a, b) <= 1e-10 * away(a, 0)
        if (same && near)
            print "results equal: the same iterations, checksums within 1e-10"
        else
            print "results DIFFER"
        exit !(same && near)
    }' "$tmp/plain" "$tmp/skein"
