#!/bin/sh
# Fortran programs of others, as Debian packages them: codes.sh BUILD_DIR FLAVOUR
# Only with LONG=1: ScaLAPACK, MUMPS, Quantum ESPRESSO, CP2K. Each runs plain and under Skein. Both must end well and print the same results,
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
    [ "$kind" = skein ] && preload=$build/lib/libskein.so
    if [ "$flavour" = openmpi ]; then
        words="$(launch_of openmpi 4) -x SKEIN_REPORT=$tmp/report ${preload:+-x LD_PRELOAD=$preload}"
    else
        words="$(launch_of mpich 4) -genv SKEIN_REPORT $tmp/report"
        words="$words -genv LD_PRELOAD ${preload:+$preload:}$build/tests/mpi/libyield.so"
    fi
    timeout "$(patience 300)" $words "$@" >"out.$kind" 2>&1 <"$input"
}

served() {
    python3 -c 'import json, sys
print(sum(r["calls"] for r in json.load(open(sys.argv[1]))["rows"] if r.get("algorithm")))' "$tmp/report" 2>/dev/null || echo 0
}

input=/dev/null

# mpi_of PROGRAM: is it built for this MPI?
mpi_of() {
    ldd "$1" | grep -q "$([ "$flavour" = openmpi ] && echo libmpi.so || echo libmpich)"
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
    if ! mpi_of "$(command -v pw.x)"; then
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

mumps() {
    for kind in d z; do
        program=/usr/lib/mumps/${kind}simpletest
        if [ ! -x $program ]; then
            skip "$flavour mumps" "mumps-test is not installed"
        elif ! mpi_of $program; then
            skip "$flavour mumps" "$program is built for another MPI"
        else
            input=/usr/lib/mumps/input_simpletest_$([ $kind = d ] && echo real || echo cmplx)
# The solution is 1, 2, 3, 4, 5, but for rounding.
            same "mumps $kind" 's/[0-9]\.\(9999999999\|0000000000\)[0-9]*/integer/g; /Solution is/p' $program
            input=/dev/null
        fi
    done
}

cp2k() {
    if ! command -v cp2k.popt >/dev/null; then
        skip "$flavour cp2k" "cp2k is not installed"
        return
    fi
    if ! mpi_of "$(command -v cp2k.popt)"; then
        skip "$flavour cp2k" "cp2k.popt is built for another MPI"
        return
    fi
    cat >water.inp <<'END'
&GLOBAL
  PROJECT w
  RUN_TYPE ENERGY_FORCE
  PRINT_LEVEL MEDIUM
&END GLOBAL
&FORCE_EVAL
  METHOD QS
  &DFT
    BASIS_SET_FILE_NAME /usr/share/cp2k/BASIS_SET
    POTENTIAL_FILE_NAME /usr/share/cp2k/GTH_POTENTIALS
    &MGRID
      CUTOFF 150
    &END MGRID
    &SCF
      EPS_SCF 1.0E-7
      MAX_SCF 40
      SCF_GUESS ATOMIC
    &END SCF
    &XC
      &XC_FUNCTIONAL PADE
      &END XC_FUNCTIONAL
    &END XC
  &END DFT
  &SUBSYS
    &CELL
      ABC 6.0 6.0 6.0
    &END CELL
    &COORD
      O 0.000000 0.000000 -0.065587
      H 0.000000 -0.757136 0.520545
      H 0.000000 0.757136 0.520545
      O 3.000000 0.000000 -0.065587
      H 3.000000 -0.757136 0.520545
      H 3.000000 0.757136 0.520545
    &END COORD
    &KIND H
      BASIS_SET DZVP-GTH-PADE
      POTENTIAL GTH-PADE-q1
    &END KIND
    &KIND O
      BASIS_SET DZVP-GTH-PADE
      POTENTIAL GTH-PADE-q6
    &END KIND
  &END SUBSYS
&END FORCE_EVAL
END
    # The last digits are rounding.
    same cp2k 's/^ ENERGY|.*\(-[0-9]*\.[0-9]\{8\}\)[0-9]*/\1/p; /SCF run converged/p' cp2k.popt water.inp
}

if [ -z "${LONG:-}" ]; then
    skip "$flavour Fortran codes" "only with LONG=1"
else
    scalapack
    mumps
    espresso
    cp2k
fi
finish
