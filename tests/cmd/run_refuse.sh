# run_refuse.sh: what `skein run` must not start, and what it says. Part of run.sh.
refuses "no_command_is_refused" "no command to run" run
refuses "no_program_is_refused" "no program found" run $first_run -n 2
refuses "unknown_option_names_the_nearest" "did you mean --report" run --reprot $first_run -n 2 $first_app
refuses "missing_program_is_refused" "not found" run $first_run -n 2 ./nosuch
refuses "missing_program_in_path_is_refused" "nosuch-program not found" run $first_run nosuch-program
refuses "missing_launcher_is_refused" "launcher .*mpirun not found" run ./bin/mpirun -n 2 $first_app
refuses "directory_is_no_program" "not found" run $first_run -n 2 ./lib
cp $first_app noexec && chmod -x noexec
refuses "program_without_permission_is_refused" "not executable; chmod" run $first_run -n 2 ./noexec
refuses "static_program_is_refused" "linked statically" run $first_run -n 2 ./static
refuses "static_pie_program_is_refused" "linked statically" run $first_run -n 2 ./staticpie
if [ "$(id -u)" = 0 ]; then
    cp $first_app setuid && chown nobody setuid && chmod u+s setuid
    refuses "setuid_program_is_refused" "set-user-ID.*no library can be preloaded" run $first_run -n 2 ./setuid
else
    skip "setuid_program_is_refused" "only root can make one of another user"
fi
refuses "object_file_is_refused" "skein run: " run $first_run -n 2 ./object.o
refuses "unknown_setting_names_the_nearest" "SKEIN_REPROT.*SKEIN_REPORT" \
    env SKEIN_REPROT=1 "$skein" run --lib lib $first_run -n 2 $first_app
refuses "unknown_algorithm_is_refused" "SKEIN_ALLREDUCE=" \
    env SKEIN_ALLREDUCE=nosuch "$skein" run --lib lib $first_run -n 2 $first_app
refuses "unknown_mpi_is_refused" "openmpi or mpich" run --mpi=lam $first_run -n 2 $first_app
refuses "missing_library_directory_is_refused" "nosuch" "$skein" run --lib nosuch $first_run $first_app
mkdir -p empty "bad dir" broken
refuses "missing_library_is_refused" "library not found: looked for .*/empty/libskein.so" \
    "$skein" run --lib empty $first_run -n 2 $first_app
mkdir half && cp lib/libskein.so half
refuses "missing_library_of_the_mpi_is_refused" "library not found: looked for .*/half/libskein-$first.so" \
    "$skein" run --lib half $first_run -n 2 $first_app
cp lib/*.so "bad dir"
refuses "library_path_with_space_is_refused" "space" "$skein" run --lib "bad dir" $first_run $first_app
for f in '' -openmpi -mpich; do echo "no library" >broken/libskein$f.so; done
refuses "broken_library_is_refused" "damaged ELF file" "$skein" run --lib broken $first_run $first_app
refuses "report_without_name_is_refused" "file name" run --report= $first_run -n 2 $first_app
refuses "report_in_missing_directory_is_refused" "cannot write the report" \
    run --report=nosuch/r.json $first_run -n 2 $first_app
refuses "env_that_clears_the_preload_is_refused" "env -i" run $first_run -n 2 env -i $first_app
refuses "trace_speaks_in_its_own_name" "^skein trace: program ./nosuch not found" \
    "$skein" trace --lib lib $first_run -n 2 ./nosuch
refuses "simulator_is_refused" "libskein-smpi.a" run smpirun -np 2 $first_app
refuses "unknown_launcher_is_refused" "env LD_PRELOAD" run ibrun -n 2 $first_app
printf '#!/bin/sh\nexec "$@"\n' >bin/flux
chmod +x bin/flux
refuses "flux_without_run_is_refused" "flux alloc. starts no program" run flux alloc -N 1 $first_app
rm bin/flux
if [ "$flavours" = " openmpi mpich" ]; then
    refuses "mpich_program_under_open_mpi_is_refused" "links MPICH \(libmpich.so.12\), but the launcher is that of Open MPI" \
        run mpirun.openmpi -n 2 ./app.mpich
    refuses "open_mpi_program_under_mpich_is_refused" "links Open MPI \(libmpi.so.40\), but the launcher is that of MPICH" \
        run mpiexec.mpich -n 2 ./app.openmpi
    refuses "two_flavours_in_one_job_are_refused" "one job needs one MPI" \
        run srun -n 1 ./app.openmpi : -n 1 ./app.mpich
    refuses "second_program_is_checked" "linked statically" \
        run mpirun.openmpi -n 1 ./app.openmpi : -n 1 ./static
    refuses "app_file_is_refused" "hides the programs" run mpirun.openmpi --app list
    refuses "config_file_is_refused" "hides the programs" run mpiexec.mpich -configfile list
else
    skip "flavours_are_told_apart" "only$flavours is installed"
fi
