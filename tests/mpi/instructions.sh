# instructions.sh: what a call costs. Part of run.sh, with $f the flavour.
# An 8-byte allreduce on 2 ranks, rank 0 under callgrind: the instructions of the library, without
# those of the host's functions it calls and without waiting. The counts are exact and the same on a
# busy machine, but they are those of a processor and a compiler. Where they were counted (x86-64, gcc 12)
# the limits are little above them; elsewhere they leave room. A nonblocking call, with its MPI_Wait, may take
# 300 more than a blocking one.
calls=1000
host=240 cached=1500 shm=900 mixed=1300 sizes=16000 unlike=700 nonblocking=1200 nothing=400 persistent=1150 reported=2000 life=60000 unseen=220
case $(uname -m)-$(cc -dumpversion) in x86_64-12*) host=220 cached=1000 shm=460 mixed=920 sizes=10200 unlike=520 nonblocking=690 nothing=330 persistent=520 reported=1060 life=25000 unseen=165 ;; esac

# Rank 0 runs under callgrind, so the other one is mostly ahead. Symbols are bound at start: callgrind
# takes the binding of a symbol on its first call for recursion.
cat >"$tmp/rank.sh" <<'END'
#!/bin/sh
if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 ]; then
    LD_BIND_NOW=1 exec valgrind --tool=callgrind --toggle-collect=measured --callgrind-out-file="$OUT" "$@"
fi
exec "$@"
END
chmod +x "$tmp/rank.sh"

measure() { # flavour name setting limit [waits [what]]
    # shellcheck disable=SC2086 # settings are words
    launcher "$1" 2 "OUT=$tmp/counts" SKEIN_GUARD_AFTER=1000000 $3 # it counts, but does not compare
    if ! eval "timeout $(patience 200) $launch $tmp/rank.sh $programs/instructions-$1 $calls ${6:-}" >"$log" 2>&1 </dev/null; then
        fail "$1 $2" "the run failed: $(grep -v '^==' "$log" | head -1)"
        return
    fi
    n=$(awk -v waits="${5:-0}" -v calls=$calls -f "$here/instructions.awk" "$tmp/counts")
    if [ "$n" = none ]; then
        skip "$1 $2" "the library has no debug information, or the calls do not reach it"
    elif [ "$n" -gt "$4" ] || [ "$n" -lt 1 ]; then
        fail "$1 $2" "$n instructions, at most $4"
    else
        ok "$1 $2: $n instructions, at most $4"
    fi
}

if ! command -v valgrind >/dev/null; then
    skip "$f instructions" "there is no valgrind"
else
    measure "$f" "a call for the host" SKEIN_ALLREDUCE=off $host
    measure "$f" "a cached call" SKEIN_SHM=0 $cached
    measure "$f" "a cached call over shared memory" SKEIN_FIND=0 $shm 1
    measure "$f" "a call of many kinds in turn" SKEIN_FIND=0 $mixed 1 mixed
    measure "$f" "a call of a size of its own" SKEIN_FIND=0 $sizes 1 sizes
    list_algorithms "$f" instructions
    tuned host 2
    measure "$f" "a call of a size of its own for the host" "SKEIN_FIND=0 SKEIN_TUNING=$tmp/tuning" $unlike 1 sizes
    measure "$f" "a nonblocking call over shared memory" SKEIN_FIND=0 $nonblocking 2 nonblocking
    measure "$f" "a nonblocking call of nothing" SKEIN_FIND=0 $nothing 2 nothing
    measure "$f" "a persistent call over shared memory" SKEIN_FIND=0 $persistent 2 persistent
    measure "$f" "a cached call over shared memory with a report" "SKEIN_FIND=0 SKEIN_REPORT=$tmp/report" $reported 1
    calls=50
    measure "$f" "a communicator's life" SKEIN_FIND=2 $life 1 lives
    calls=100 # reductions that do not round
    measure "$f" "a call that passes unseen" SKEIN_SHM=1G $unseen 1 young
fi
