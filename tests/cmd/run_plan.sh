# run_plan.sh: the commands that `skein run` makes, by dry run. Part of run.sh.
shows "help_is_shown" "^Usage: skein run" "$skein" run --help
shows "direct_start_uses_the_environment" "^env LD_PRELOAD=$so $first_app 3\$" dry $first_app 3
again="'?PATH=[^ ]*/launchers:.* '_SKEIN_RUN_AGAIN=.* run --or-plain --lib .*'"
shows "direct_start_through_a_tool" "^env LD_PRELOAD=$so $again nice -n 1 $first_app\$" \
    dry nice -n 1 $first_app
shows "program_without_mpi_may_load_one" "^env LD_PRELOAD=$so .*./plain\$" dry ./plain
shows "double_dash_ends_the_options" "LD_PRELOAD.* $first_app\$" dry -- $first_app
shows "srun_gets_env" "^srun -n4 --cpu-bind cores env LD_PRELOAD=$so SKEIN_REPORT=1 $first_app x\$" \
    dry --report srun -n4 --cpu-bind cores $first_app x
for l in "jsrun -n 4 -a1 --bind none" "aprun -n 4 -N2 -cc depth" "prun -n 4 --map-by core" "flux run -n4 -N 2 -o x=1" \
    "flux mini run -n 4 --exclusive"; do
    name=${l%% -*}
    printf '#!/bin/sh\nexec "$@"\n' >bin/${l%% *}
    chmod +x bin/${l%% *}
    # shellcheck disable=SC2086
    shows "${name// /_}_gets_env" "^$l env LD_PRELOAD=$so $first_app x\$" dry $l $first_app x
    rm bin/${l%% *}
done
printf '#!/bin/sh\n%s -n 2 %s\n' $first_run $first_app >job.sh
chmod +x job.sh
shows "script_finds_our_launchers" "^env LD_PRELOAD=$so $again ./job.sh a\$" dry ./job.sh a
shows "shell_finds_our_launchers" "^env LD_PRELOAD=$so $again bash -c true\$" dry bash -c true
shows "forced_mpi_needs_no_program" "LD_PRELOAD=$so ./nosuch" dry --mpi=openmpi ./nosuch
shows "launcher_behind_a_tool" "^timeout 9 $first_run .*LD_PRELOAD.* $first_app\$" \
    dry timeout 9 $first_run -n 2 $first_app
shows "unknown_launcher_option_with_value" " --brand-new 7 $first_app\$" \
    dry $first_run --brand-new 7 $first_app
shows "words_are_quoted_for_a_shell" "'it'\\\\''s a word' ''\$" dry $first_app "it's a word" ""
shows "program_in_path_is_found" "LD_PRELOAD.*app.$first\$" env PATH="$tmp:$PATH" \
    "$skein" run --lib lib --dry-run $first_run -n 1 app.$first
mkdir -p work && cp $first_app work/inner
shows "working_directory_is_respected" "LD_PRELOAD.* ./inner\$" dry $first_run -wdir "$tmp/work" -n 1 ./inner

for f in $flavours; do
    run=mpiexec.$f app=./app.$f
    case $f in
    openmpi) opt="-x LD_PRELOAD=$so" eq='=' set=-x ;;
    mpich) opt="-genv LD_PRELOAD $so" eq=' ' set=-genv ;;
    esac
    shows "$f: launcher_option_sets_the_preload" "^$run $opt -n 2 $app a b\$" dry $run -n 2 $app a b
    shows "$f: settings_reach_the_ranks" "$set SKEIN_MEM${eq}1M .*$app\$" \
        env SKEIN_MEM=1M "$skein" run --lib lib --dry-run $run -n 2 $app
    shows "$f: report_reaches_the_ranks" "$set SKEIN_REPORT${eq}1 .*$app\$" dry --report $run -n 2 $app
    shows "$f: report_file_becomes_absolute" "$set SKEIN_REPORT${eq}$tmp/r.json .*$app\$" \
        dry --report=r.json $run -n 2 $app
    shows "$f: earlier_preload_is_kept" "LD_PRELOAD${eq}$so:/other.so -n" \
        env SK_TEST=1 sh -c 'LD_PRELOAD=/other.so exec "$@" 2>/dev/null' sh \
        "$skein" run --lib lib --dry-run $run -n 2 $app
    shows "$f: preload_of_env_is_kept" " env A=1 LD_PRELOAD=$so:/other.so $app LD_PRELOAD=z\$" \
        dry $run -n 2 env A=1 LD_PRELOAD=/other.so $app LD_PRELOAD=z
    for tool in "taskset -c 0" "numactl --localalloc" "valgrind -q" "env A=1" "strace -f" "bash -c"; do
        name=${tool%% *}
        if command -v "$name" >/dev/null; then
            shows "$f: program_behind_$name" "$opt -n 1 $tool $app\$" dry $run -n 1 $tool $app
        else
            skip "$f: program_behind_$name" "not installed"
        fi
    done
    shows "$f: program_in_a_shell_command" "$opt -n 1 sh -c" dry $run -n 1 sh -c "cd . && $app 1"
    printf '#!/bin/sh\n# a comment\nexport A=b\nexec "$(dirname "$0")"/app.%s "$@"\n' $f >script.$f
    chmod +x script.$f
    shows "$f: script_gets_the_preload" "$opt -n 1 ./script.$f\$" dry $run -n 1 ./script.$f
    grep -q note: err && fail "$f: script_is_no_surprise" "$(says err)"

    # A library between the program and MPI, found by RUNPATH and by LD_LIBRARY_PATH.
    mkdir -p deep.$f
    cp "$made/libwork-$f.so" deep.$f/
    cp "$made/deep-$f" deep.$f.env
    cp "$made/deep-$f" deep.$f/run
    shows "$f: mpi_behind_a_library" "$opt" dry $run -n 1 ./deep.$f/run
    shows "$f: mpi_behind_a_library_path" "$opt" env LD_LIBRARY_PATH="$tmp/deep.$f" \
        "$skein" run --lib lib --dry-run $run -n 1 ./deep.$f.env

    # A launcher whose name tells nothing.
    printf '#!/bin/sh\nexec mpiexec.%s "$@"\n' $f >bin/mpirun
    chmod +x bin/mpirun
    shows "$f: wrapper_of_a_launcher" "^mpirun $opt -n 1 $app\$" dry mpirun -n 1 $app
    printf '#!/bin/sh\nexec "$@"\n' >bin/mpirun
    shows "$f: silent_launcher_is_that_of_its_program" "^mpirun $opt -n 1 $app\$" dry mpirun -n 1 $app
    shows "$f: silent_launcher_of_a_script_gets_env" "^mpirun -n 1 env LD_PRELOAD=$so ./script.$f\$" \
        dry mpirun -n 1 ./script.$f
    rm bin/mpirun
done

case $flavours in *openmpi*)
    a=./app.openmpi
    shows "openmpi: each_program_gets_the_preload" \
        "mpirun.openmpi -x LD_PRELOAD=$so -n 1 $a : -x LD_PRELOAD=$so --mca btl self -n 1 $a 2\$" \
        dry mpirun.openmpi -n 1 $a : --mca btl self -n 1 $a 2
    shows "openmpi: preload_of_x_is_merged" "^mpirun.openmpi -n 1 -x LD_PRELOAD=$so:/o.so $a\$" \
        dry mpirun.openmpi -n 1 -x LD_PRELOAD=/o.so $a
    shows "openmpi: setting_of_x_wins" "^mpirun.openmpi -x LD_PRELOAD=$so -x SKEIN_MEM=2M -n 1 $a\$" \
        env SKEIN_MEM=1M "$skein" run --lib lib --dry-run mpirun.openmpi -x SKEIN_MEM=2M -n 1 $a
    shows "openmpi: env_list_takes_the_env_way" "env_list A=1 -n 1 env LD_PRELOAD=$so $a\$" \
        dry mpirun.openmpi --mca mca_base_env_list A=1 -n 1 $a
    ;;
esac
case $flavours in *mpich*)
    a=./app.mpich
    shows "mpich: preload_of_env_option_is_merged" \
        "^mpiexec.mpich -genv LD_PRELOAD $so -n 1 $a : -env LD_PRELOAD $so:/o.so -n 1 $a\$" \
        dry mpiexec.mpich -n 1 $a : -env LD_PRELOAD /o.so -n 1 $a
    shows "mpich: preload_of_genv_is_merged" "^mpiexec.mpich -genv LD_PRELOAD $so:/o.so -n 1 $a\$" \
        dry mpiexec.mpich -genv LD_PRELOAD=/o.so -n 1 $a
    ;;
esac
