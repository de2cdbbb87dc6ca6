#!/bin/sh
# Fortran programs of others, as Debian packages them: codes.sh BUILD_DIR FLAVOUR
# Only with LONG=1, and only what is installed: scalapack-mpi-test, quantum-espresso with
# quantum-espresso-data. Each runs plain and under Skein. Both must end well and print the same results,
# and Skein must have served calls.
set -u

build=$(cd "${1:?usage: codes.sh BUILD_DIR FLAVOUR}" && pwd) || exit 2
flavour=${2:?a flavour}
. "$(dirname "$0")/../tap.sh"
cd "$tmp" || exit 2
export OMP_NUM_THREADS=1

# run plain|skein PROGRAM [ARG...]: on four ranks, output in out.plain or out.skein.
run() {
    kind=$1 preload=
    shift
    [ "$kind" = skein ] && preload=$build/lib/libskein-$flavour.so
    if [ "$flavour" = openmpi ]; then
        words="$(launch_of openmpi 4) -x SKEIN_REPORT=$tmp/report ${preload:+-x LD_PRELOAD=$preload}"
    else
        words="$(launch_of mpich 4) -genv SKEIN_REPORT $tmp/report"
        words="$words -genv LD_PRELOAD ${preload:+$preload:}$build/tests/mpi/libyield.so"
    fi
    timeout "$(patience 300)" $words "$@" >"out.$kind" 2>&1 </dev/null
}

served() {
    python3 -c 'import json, sys
print(sum(r["calls"] for r in json.load(open(sys.argv[1]))["rows"] if r.get("algorithm")))' "$tmp/report" 2>/dev/null || echo 0
}

# same NAME SED PROGRAM [ARG...]: what the script for sed leaves of the output is the result.
same() {
    name="$flavour $1" script=$2
    shift 2
    rm -rf "$tmp/report" work
    if ! run plain "$@"; then
        skip "$name" "it fails without Skein: $(tail -n 1 out.plain)"
        return
    fi
    rm -rf work
    if ! run skein "$@"; then
        fail "$name" "it fails under Skein: $(tail -n 3 out.skein)"
        return
    fi
    sed -n "$script" out.plain >result.plain
    sed -n "$script" out.skein >result.skein
    if ! [ -s result.plain ]; then
        fail "$name" "it prints no result"
    elif ! cmp -s result.plain result.skein; then
        fail "$name" "$(diff result.plain result.skein | head -6)"
    elif [ "$(served)" -lt 1 ]; then
        fail "$name" "no call was served"
    else
        ok "$name: $(served) calls served"
    fi
}

scalapack() {
    tests=$(echo /usr/lib/*/scalapack/"$flavour"-tests)
    if [ ! -x "$tests/xdlu" ]; then
        skip "$flavour scalapack" "scalapack-mpi-test is not installed"
        return
    fi
    # Without condition estimates: with them it hangs, with and without Skein.
    sed 's/^T\([[:space:]].*Cond. Est.\)/F\1/' "$tests/LU.dat" >LU.dat
    same scalapack '/^WALL\|^CPU/s/ [0-9.]* *[0-9.]* *[0-9.]* \([A-Z]*\)$/ \1/p; /tests completed\|tests skipped/p' "$tests/xdlu"
}

espresso() {
    atom=/usr/share/doc/quantum-espresso/examples/EPW/diamond/pp/C_3.98148.UPF.gz
    if ! command -v pw.x >/dev/null || [ ! -e $atom ]; then
        skip "$flavour quantum-espresso" "quantum-espresso or quantum-espresso-data is not installed"
        return
    fi
    if ! ldd "$(command -v pw.x)" | grep -q "$([ "$flavour" = openmpi ] && echo libmpi.so || echo libmpich)"; then
        skip "$flavour quantum-espresso" "pw.x is built for another MPI"
        return
    fi
    gzip -dc $atom >C.UPF
    cat >pw.in <<'END'
&control
 calculation='scf', prefix='c', pseudo_dir='./', outdir='./work'
/
&system
 ibrav=2, celldm(1)=6.64245, nat=2, ntyp=1, ecutwfc=20, occupations='smearing', degauss=0.02
/
&electrons
 conv_thr=1d-10
/
ATOMIC_SPECIES
 C 12.01078 C.UPF
ATOMIC_POSITIONS alat
 C 0.00 0.00 0.00
 C 0.25 0.25 0.25
K_POINTS automatic
 2 2 2 0 0 0
END
    same quantum-espresso '/^!/p; /Fermi energy/p; /convergence has been achieved/p' pw.x -nk 2 -in pw.in
}

if [ -z "${LONG:-}" ]; then
    skip "$flavour Fortran codes" "only with LONG=1"
else
    scalapack
    espresso
fi
finish
