/* work.c: see work.h. */
#include "bench/mpi/work.h"

#include <mpi.h>
#include <stdint.h>

static void compute(double steps)
{
    uint64_t x = 1;
    for (uint64_t n = (uint64_t)steps; n > 0; n--) {
        x = x * 6364136223846793005u + 1;
        __asm__ volatile("" : "+r"(x));
    }
}

sk_work sk_work_new(const sk_clock *c)
{
    enum { TRIES = 30, STEPS = 20000 }; /* tens of us each: some are not interrupted */
    double mine = 0;
    for (int i = 0; i < TRIES; i++) {
        double t = sk_clock_now(c);
        compute(STEPS);
        t = 1e6 * (sk_clock_now(c) - t);
        mine = t > 0 && STEPS / t > mine ? STEPS / t : mine;
    }
    sk_work w;
    PMPI_Allreduce(&mine, &w.steps, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return w;
}

void sk_work_do(const sk_work *w, double us)
{
    if (us > 0)
        compute(us * w->steps);
}
