#include <stdio.h>

#include "bench/match/options.h"

static const char text[] =
    "usage: skein bench match [OPTION]...                 engines on queues of one depth\n"
    "       skein bench match --stream LIST [OPTION]...   engines on applications\n"
    "       skein bench match --trace FILE... [OPTION]... engines on recorded programs\n"
    "       skein bench match --threads LIST [OPTION]...  engines under several threads\n"
    "       skein bench match --mpi [OPTION]...           MPI programs over the provider\n"
    "\n"
    "Plays receives and messages through the matching engines by turns in one process, checks\n"
    "that all engines give the same matches, and compares each with `list`. Progress goes to\n"
    "standard error, the tables to standard output.\n"
    "\n"
    "  --engine LIST      engines, separated by commas (default: all; with --mpi the default one)\n"
    "  --depth LIST       length of the queue (default 1,10,100,...,1000000; --mpi:\n"
    "                     100,1000,10000,50000; --threads: 10,1000)\n"
    "  --order LIST       forward, reverse, random: how the queue is emptied (default: all)\n"
    "  --side LIST        posted (receives wait) or unexpected (messages wait; default: both)\n"
    "  --wild LIST        per cent of the receives that take any source (default 0,10,100)\n"
    "  --any-tag          these receives take any tag too\n"
    "  --sources LIST     processes that send (default 1024)\n"
    "\n"
    "  --stream LIST      radix, nbody, miniamr, fds or all: what a rank of the program receives\n"
    "  --ranks LIST       processes of the program (default 256,512,1024,2048,4096)\n"
    "  --steps N          steps of the program (default: its own number)\n"
    "  --seed N           of all random numbers (default 1)\n"
    "  --trace FILE...    files that were written because of SKEIN_TRACE; see `skein help trace`\n"
    "  --kc N, --kp N, --theta N   as the settings SKEIN_MATCH_KC, _KP and _THETA\n"
    "\n"
    "  --threads LIST     one matcher for so many threads, each with tags of its own\n"
    "\n"
    "  --mpi              a program of two ranks under mpirun: latency, and queues emptied in\n"
    "                     reverse order with exact and with MPI_ANY_SOURCE receives\n"
    "  --transport LIST   ob1, ucx, rxm, skein (default: all)\n"
    "\n"
    "  --rounds N         timed rounds (default 9, with --mpi 3; fewer where one takes long)\n"
    "  --limit N          give up an engine or a point that takes longer than N seconds (default:\n"
    "                     0.5 s and 3 us for each match; streams and --mpi 30 s); the table then\n"
    "                     says `too long'\n"
    "  --seconds N        for the timed rounds of one point (default 2, streams 10)\n"
    "  --csv FILE         write every measured point to FILE\n"
    "\n"
    "Exit status: 0 done, 1 engines disagree or nothing could be measured, 2 used wrongly.\n";

void sk_match_help(void)
{
    fputs(text, stdout);
}
