# run_match.sh: --match, skein trace and what skein info says of matching. Part of run.sh. The provider
# here is a stand-in: only what is made of the command line is seen.
cp "$made/libempty.so" lib/libskein-fi.so || exit 2
unset FI_PROVIDER FI_PROVIDER_PATH
for v in $(env | sed -n 's/^\(OMPI_MCA_\(pml\|mtl\|btl\)[a-z_]*\)=.*/\1/p'); do unset "$v"; done
mca='--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include skein'
vars='OMPI_MCA_pml=cm OMPI_MCA_mtl=ofi OMPI_MCA_mtl_ofi_provider_include=skein'
btl='\^openib,ofi,vader,sm'
path="FI_PROVIDER_PATH=$tmp/lib(:[^ ]*/libfabric)?"

# notes NAME PATTERN COMMAND...: status 0, and one line on standard error that matches, beside the one
# that the stand-ins served nothing.
notes() {
    local name=$1 pattern=$2 status
    shift 2
    "$@" >out 2>all </dev/null
    status=$?
    grep '^skein' all | grep -v 'note: Skein served nothing' >err
    if [ $status -ne 0 ]; then
        fail "$name" "status $status: $(says err)"
    elif [ "$(wc -l <err)" -ne 1 ] || ! grep -qE -- "$pattern" err; then
        fail "$name" "not one line that matches '$pattern': $(says err)"
    else
        ok "$name"
    fi
}

refuses "unknown_engine_names_the_nearest" "no matching engine flt; did you mean flat" \
    run --match=flt $first_run -n 2 $first_app
refuses "unknown_engine_of_the_environment_is_refused" "no matching engine flt" \
    env SKEIN_MATCH=flt "$skein" run --lib lib --match $first_run -n 2 $first_app
refuses "match_without_name_is_refused" "name of an engine" run --match= $first_run -n 2 $first_app

shows "info_shows_engines" '^  [* ] flat +[a-z]' "$skein" info
[ "$(sed -n '/^matching engines/,/^$/p' out | grep -c '^  \* [a-z]')" = 1 ] ||
    fail "info_marks_one_default_engine" "$(grep -A9 '^matching' out | tr '\n' ' ')"
shows "info_tells_where_the_provider_is" '^    file +(not found: no )?/.*/libskein-fi.so$' "$skein" info
if [ -e "$build/lib/libskein-fi.so" ]; then
    shows "info_says_that_the_provider_is_not_in_use" '^    in use +no' "$skein" info
    shows "info_says_that_the_provider_is_in_use" '^    in use +yes' \
        env $vars FI_PROVIDER_PATH="/other:$build/lib" "$skein" info
    case $flavours in *mpich*)
        shows "info_says_why_mpich_cannot" '^    mpich +cannot use it: .*libfabric' "$skein" info ;;
    esac
else
    skip "info_says_whether_the_provider_is_in_use" "it is not built"
fi

case $flavours in *openmpi*)
    a=./app.openmpi
    if "$skein" run --lib lib --match --dry-run $a 2>&1 | grep -q "running without"; then
        skip "openmpi: match" "this Open MPI cannot use libfabric"
    else
        shows "openmpi: match_sets_the_provider" \
            "^mpirun.openmpi -x LD_PRELOAD=$so -x $path -x SKEIN_MATCH=flat $mca --mca btl $btl -n 2 $a\$" \
            dry --match=flat mpirun.openmpi -n 2 $a
        [ -s err ] && fail "openmpi: match_is_silent" "$(says err)"
        shows "openmpi: match_takes_the_default_engine" "-x $path $mca --mca btl $btl -n 2 $a\$" \
            dry --match mpirun.openmpi -n 2 $a
        shows "openmpi: each_program_gets_the_provider" "$mca .* : .*$path $mca .*-n 1 $a\$" \
            dry --match mpirun.openmpi -n 1 $a : -n 1 $a
        shows "openmpi: match_without_launcher_uses_the_environment" \
            "^env LD_PRELOAD=$so $path SKEIN_MATCH=list $vars OMPI_MCA_btl=$btl $a\$" dry --match=list $a
        shows "openmpi: match_under_srun_uses_env" "^srun -n 2 env LD_PRELOAD=$so $path $vars OMPI_MCA_btl=$btl $a\$" \
            dry --match srun -n 2 $a
        shows "openmpi: match_with_env_list_uses_env" "env_list A=1 -n 1 env LD_PRELOAD=$so $path $vars .* $a\$" \
            dry --match mpirun.openmpi --mca mca_base_env_list A=1 -n 1 $a
        shows "openmpi: match_beside_a_forced_mpi" "$mca .* ./nosuch\$" \
            dry --match --mpi=openmpi mpirun.openmpi -n 1 ./nosuch
        shows "openmpi: provider_path_is_extended" "-x FI_PROVIDER_PATH=$tmp/lib:/other " \
            env FI_PROVIDER_PATH=/other "$skein" run --lib lib --dry-run --match mpirun.openmpi -n 1 $a
        shows "openmpi: ordered_provider_path_stays_ordered" "-x FI_PROVIDER_PATH=@$tmp/lib:/other " \
            env FI_PROVIDER_PATH=@/other "$skein" run --lib lib --dry-run --match mpirun.openmpi -n 1 $a
        shows "openmpi: provider_list_is_extended" "-x FI_PROVIDER=skein,tcp " \
            env FI_PROVIDER=tcp "$skein" run --lib lib --dry-run --match mpirun.openmpi -n 1 $a
        shows "openmpi: provider_list_of_x_is_extended" " -n 1 -x FI_PROVIDER=skein,tcp $a\$" \
            dry --match mpirun.openmpi -n 1 -x FI_PROVIDER=tcp $a
        shows "openmpi: provider_list_that_excludes_others_stays" "-x FI_PROVIDER=\^udp " \
            env FI_PROVIDER=^udp "$skein" run --lib lib --dry-run --match mpirun.openmpi -n 1 $a
        shows "openmpi: parameters_that_agree_are_not_repeated" \
            "$path --mca mtl ofi --mca mtl_ofi_provider_include skein --mca pml cm --mca btl self -n 1 $a\$" \
            dry --match mpirun.openmpi --mca pml cm --mca btl self -n 1 $a
        shows "openmpi: parameter_of_the_environment_that_leaves_room_is_overridden" "$mca " \
            env OMPI_MCA_pml=^ucx "$skein" run --lib lib --dry-run --match mpirun.openmpi -n 1 $a
        refuses "openmpi: other_pml_is_refused" "needs pml cm, but --mca pml says ob1" \
            run --match mpirun.openmpi --mca pml ob1 -n 1 $a
        refuses "openmpi: other_pml_of_x_is_refused" "needs pml cm, but --mca pml says ob1" \
            run --match mpirun.openmpi -n 1 -x OMPI_MCA_pml=ob1 $a
        refuses "openmpi: excluded_mtl_is_refused" "needs mtl ofi, but OMPI_MCA_mtl says \^ofi" \
            env OMPI_MCA_mtl=^ofi "$skein" run --lib lib --match mpirun.openmpi -n 1 $a
        refuses "openmpi: other_provider_is_refused" "provider_include says tcp" \
            run --match mpirun.openmpi -n 1 $a : --mca mtl_ofi_provider_include tcp -n 1 $a
        refuses "openmpi: list_of_excluded_providers_is_refused" "provider_exclude says shm" \
            env OMPI_MCA_mtl_ofi_provider_exclude=shm "$skein" run --lib lib --match mpirun.openmpi -n 1 $a
        refuses "openmpi: excluded_provider_is_refused" "FI_PROVIDER says \^skein" \
            env FI_PROVIDER=^skein "$skein" run --lib lib --match mpirun.openmpi -n 1 $a
        mkdir -p bare && cp lib/libskein.so lib/libskein-openmpi.so bare
        notes "openmpi: missing_provider_is_said" "running without --match: no .*/bare/libskein-fi.so" \
            "$skein" run --lib bare --match mpirun.openmpi -n 2 $a
        grep -q "rank 1 preload=$tmp/bare" out || fail "openmpi: missing_provider_runs_without" "$(says out)"
        mkdir -p broken && cp lib/libskein.so lib/libskein-openmpi.so broken && echo broken >broken/libskein-fi.so
        notes "openmpi: provider_that_does_not_load_is_said" \
            "running without --match: $tmp/broken/libskein-fi.so does not load with the libfabric of this MPI \(.+\)\$" \
            "$skein" run --lib broken --match mpirun.openmpi -n 2 $a
        grep -q "rank 1 preload=$tmp/broken" out || fail "openmpi: provider_that_does_not_load_runs_without" "$(says out)"

        # Processes that come later have the launcher's environment.
        printf '#!/bin/sh\n# openmpi\necho "path=$FI_PROVIDER_PATH"\n' >bin/mpirun
        chmod +x bin/mpirun
        shows "openmpi: launcher_has_the_provider_path" "^path=$tmp/lib(:[^ ]*/libfabric)?:/other\$" \
            env FI_PROVIDER_PATH=/other "$skein" run --lib lib --match mpirun -n 2 $a

        # A launcher that only writes what ranks would write: 2 files, of 3 records and of 1.
        cat >bin/mpirun <<'END'
#!/bin/sh
# openmpi
for w in "$@"; do case $w in SKEIN_TRACE=*) file=${w#*=} ;; esac; done
[ -n "$SLOW" ] && { echo $$ >"$SLOW"; exec sleep 60; }
[ -n "$NONE" ] && exit 0
head -c 184 /dev/zero >"$file.11"
head -c 104 /dev/zero >"$file.12"
exit 5
END
        chmod +x bin/mpirun
        shows "trace_is_a_run_with_match" "-x SKEIN_TRACE=$tmp/t1 $mca .*-n 2 $a\$" \
            "$skein" trace -o t1 --lib lib --dry-run mpirun -n 2 $a
        shows "trace_takes_an_engine" "-x SKEIN_TRACE=$tmp/skein-trace -x SKEIN_MATCH=list " \
            "$skein" trace --lib lib --match=list --dry-run mpirun -n 2 $a
        returns "trace_passes_the_status" 5 "$skein" trace --lib lib -o t1 mpirun -n 2 $a
        grep -q "2 files, 4 records" err && grep -q "$tmp/t1.11  3 records" err &&
            grep -q "skein bench match --trace $tmp/t1.\*" err || fail "trace_tells_what_was_written" "$(says err)"
        refuses "trace_over_a_trace_is_refused" "there is a trace already, $tmp/t1.11; remove" \
            "$skein" trace --lib lib -o t1 mpirun -n 2 $a
        returns "trace_without_records_ends" 0 env NONE=1 "$skein" trace --lib lib -o t2 mpirun -n 2 $a
        grep -q "nothing was recorded" err || fail "trace_without_records_says_so" "$(says err)"
        refuses "trace_in_missing_directory_is_refused" "cannot write the trace" \
            "$skein" trace --lib lib -o nosuch/t mpirun -n 2 $a
        refuses "trace_without_provider_is_refused" "nothing to record without the provider" \
            "$skein" trace --lib bare -o t3 mpirun -n 2 $a
        SLOW=$tmp/slow "$skein" trace --lib lib -o t4 mpirun -n 2 $a >out 2>err </dev/null &
        job=$!
        for _ in $(seq 100); do [ -s slow ] && break; sleep 0.1; done
        kill -TERM $job
        wait $job
        status=$?
        if [ $status -ne 143 ]; then
            fail "trace_passes_signals_on" "status $status, not 143: $(says err)"
            kill -KILL "$(cat slow)" 2>/dev/null
        else
            ok "trace_passes_signals_on"
        fi
        rm bin/mpirun
    fi
    ;;
esac
case $flavours in *mpich*)
    a=./app.mpich
    notes "mpich: match_says_that_it_cannot_and_runs" "running without --match: the MPICH of .* libfabric" \
        "$skein" run --lib lib --match mpiexec.mpich -n 2 $a
    grep -q "rank 1 preload=$so" out || fail "mpich: match_runs_without" "$(says out)"
    shows "mpich: match_changes_nothing" "^mpiexec.mpich -genv LD_PRELOAD $so -n 2 $a\$" \
        dry --match=flat mpiexec.mpich -n 2 $a
    refuses "mpich: trace_is_refused" "nothing to record without the provider: the MPICH" \
        "$skein" trace --lib lib -o t5 mpiexec.mpich -n 2 $a
    ;;
esac
rm lib/libskein-fi.so
