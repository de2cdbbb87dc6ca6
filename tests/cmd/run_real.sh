# run_real.sh: jobs that really run: who gets the preload, exit status, signals. Part of run.sh.

# environment_of PID NAME: the variable as the process has it.
environment_of() { tr '\0' '\n' <"/proc/$1/environ" | sed -n "s/^$2=//p"; }

# interrupt NAME SIGNAL COMMAND...: start, wait for two ranks, look who has the preload, signal the
# process that was `skein run`, and see everything end.
interrupt() {
    local name=$1 signal=$2 job pids i mine theirs
    shift 2
    rm -f ranks.*
    env --default-signal=INT "$skein" run --lib "$tmp/lib" "$@" wait ranks >out 2>err </dev/null &
    job=$!
    for i in $(seq 300); do
        [ -s ranks.0 ] && [ -s ranks.1 ] && break
        sleep 0.1
    done
    if ! [ -s ranks.0 ] || ! [ -s ranks.1 ]; then
        fail "$name" "the job did not start: $(says err)"
        kill -KILL $job 2>/dev/null
        return
    fi
    pids="$(cat ranks.0) $(cat ranks.1)"
    mine=$(environment_of $job LD_PRELOAD)
    theirs=$(environment_of "$(cat ranks.0)" LD_PRELOAD)
    if [ -n "$mine" ]; then
        fail "$name: launcher_has_no_preload" "LD_PRELOAD=$mine"
    elif [ -z "$theirs" ]; then
        fail "$name: rank_has_the_preload" "no LD_PRELOAD"
    else
        ok "$name: only_the_ranks_have_the_preload"
    fi
    kill -"$signal" $job
    for i in $(seq 150); do
        # shellcheck disable=SC2086
        kill -0 $job 2>/dev/null || kill -0 $pids 2>/dev/null || break
        sleep 0.1
    done
    # shellcheck disable=SC2086
    if kill -0 $job 2>/dev/null || kill -0 $pids 2>/dev/null; then
        fail "$name" "still running 15 s after SIG$signal"
        # shellcheck disable=SC2086
        kill -KILL $job $pids 2>/dev/null
    else
        ok "$name"
    fi
    wait $job 2>/dev/null
}

for f in $flavours; do
    run=mpiexec.$f app=./app.$f
    shows "$f: ranks_get_the_preload" "rank 1 preload=$so report=1 mem=none" \
        run --report $run -n 2 $app
    shows "$f: ranks_get_the_settings" "rank 0 preload=$so report=none mem=3M" \
        env SKEIN_MEM=3M "$skein" run --lib lib $run -n 2 $app
    returns "$f: exit_status_passes" 7 "$skein" run --lib lib $run -n 2 $app 7
    returns "$f: exit_status_passes_without_launcher" 7 "$skein" run --lib lib $app 7
    if $run -n 1 true : -n 1 true >out 2>&1; then
        shows "$f: second_program_gets_the_preload" "rank 1 preload=$so" \
            run $run -n 1 $app : -n 1 $app
    else
        skip "$f: second_program_gets_the_preload" "the launcher fails with two programs without Skein too"
    fi
    # A launcher that writes down its own environment.
    printf '#!/bin/sh\nenv >launcher.env\nexec mpiexec.%s "$@"\n' $f >bin/mpirun
    chmod +x bin/mpirun
    shows "$f: job_of_a_wrapped_launcher_runs" "preload=$so" run mpirun -n 2 $app
    if ! [ -s launcher.env ]; then
        fail "$f: launcher_has_no_preload" "the wrapper did not run"
    elif grep -q '^LD_PRELOAD=' launcher.env; then
        fail "$f: launcher_has_no_preload" "$(grep '^LD_PRELOAD=' launcher.env)"
    else
        ok "$f: launcher_has_no_preload"
    fi
    rm -f bin/mpirun launcher.env
    shows "$f: program_under_srun_gets_the_preload" "preload=$so" run srun -n 1 $app
    [ -s srun.preload ] && fail "$f: srun_has_no_preload" "$(cat srun.preload)"
    # A script that starts launchers, by name and by path: their ranks get the preload.
    printf '#!/bin/sh\n%s -n 2 %s\n%s -n 1 ./plain\n' $run $app $run >job.$f.sh
    chmod +x job.$f.sh
    shows "$f: script_with_a_launcher_is_run" "rank 1 preload=$so" run ./job.$f.sh
    printf '#!/bin/sh\n%s -n 2 %s\n' "$(command -v $run)" $app >path.$f.sh
    shows "$f: script_with_a_launcher_by_its_path_is_run" "rank 1 preload=$so" run sh path.$f.sh
    shows "$f: script_of_a_shell_with_a_launcher_is_run" "rank 1 preload=$so" run sh job.$f.sh
    interrupt "$f: sigterm_ends_the_job" TERM $run -n 2 $app
    interrupt "$f: sigint_ends_the_job" INT $run -n 2 $app
done
