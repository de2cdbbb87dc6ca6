/* help.c: the help of `skein bench` and `skein bench neighbor`. */
#include <stdio.h>

#include "bench/options.h"

static const char global[] =
    "usage: skein bench [OPTION]...\n"
    "       skein bench neighbor --graph GRAPH [OPTION]...\n"
    "\n"
    "Times each collective of Skein and of the host MPI by turns in one process, and compares "
    "their\n"
    "results. Progress goes to standard error, the tables to standard output.\n"
    "\n"
    "  --collective LIST   names separated by commas, or all (default)\n"
    "  --bytes LIST        block or vector sizes, K and M allowed (default 8,1K,16K,128K,1M)\n"
    "  --ranks LIST        default 2,4,8,16; MPICH: those that have a core for every rank\n"
    "  --rounds N          rounds per point (default 21; fewer where a call is slow)\n"
    "  --seconds N         share N seconds out over all points (default: 0.7 s for each)\n"
    "  --mpi NAME          openmpi, mpich or both (default: those that are here)\n"
    "  --algorithm NAME    force an algorithm of Skein\n"
    "  --all-algorithms    measure every algorithm of Skein\n"
    "  --against LIST      measure also with the host's own algorithm forced: best (each of them, "
    "the\n"
    "                      best one counts), a name such as linear, COLLECTIVE=NAME or\n"
    "                      COLLECTIVE=NUMBER\n"
    "  --csv FILE          write every measured point to FILE\n"
    "  --plain             the host against itself, without Skein: shows the noise of the machine\n"
    "\n"
    "`skein bench neighbor --help` tells of neighbourhood collectives, `skein bench match --help` "
    "of\nthe matching engines.\n"
    "Exit status: 0 done, 1 a result was wrong or a run failed, 2 used wrongly.\n";

static const char neighbor[] =
    "usage: skein bench neighbor --graph GRAPH [OPTION]...\n"
    "\n"
    "Times neighbourhood collectives of Skein and of the host MPI by turns in one process, on\n"
    "distributed graph communicators, and compares their results. Skein plans in the warm-up.\n"
    "\n"
    "  --graph GRAPH       random:DELTA[,SEED], moore:D,R or matrix:FILE; may be given again\n"
    "  --collective LIST   allgather (default), allgatherv, alltoall, alltoallv, alltoallw, or "
    "all\n"
    "  --bytes LIST        block sizes, K and M allowed (default 4,256,4K,64K)\n"
    "  --ranks LIST        default 2,4,8,16; MPICH: those that have a core for every rank\n"
    "  --rounds N          rounds per point (default 21; fewer where a call is slow)\n"
    "  --seconds N         share N seconds out over all points (default: 0.7 s for each)\n"
    "  --mpi NAME          openmpi, mpich or both (default: those that are here)\n"
    "  --algorithm NAME    force an algorithm of Skein\n"
    "  --all-algorithms    measure every algorithm of Skein\n"
    "  --csv FILE          write every measured point to FILE\n"
    "  --plain             the host against itself, without Skein: shows the noise of the machine\n"
    "\n"
    "Exit status: 0 done, 1 a result was wrong or a run failed, 2 used wrongly.\n";

void sk_bench_help(const sk_bench_options *o)
{
    fputs(o->neighbor ? neighbor : global, stdout);
}
