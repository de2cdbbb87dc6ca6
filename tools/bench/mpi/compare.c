#include "bench/mpi/compare.h"

#include <stdio.h>
#include <string.h>

#include "bench/point.h"

/* Whether it is the host that errs where the results differ: with neighbours that can be told (some
 * versions of MPICH err in neighbor_alltoallw). Overwrites the host's result. */
static bool host_errs(const sk_case *c, const char *skein)
{
    if (!c->neighborhood)
        return false;
    sk_case_neighbor_expect(c, c->recv);
    return sk_first_difference(skein, c->recv, c->check_bytes) < 0;
}

/* One line for all ranks, from the first of them. */
static void tell_host_errs(const sk_case *c, bool here)
{
    int mine = here ? c->rank : c->nranks, first;
    PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == c->rank)
        fprintf(stderr, "the host's result is wrong: %s of %lld bytes on %d ranks: rank %d\n",
                sk_coll_name(c->coll), (long long)c->bytes, c->nranks, c->rank);
}

bool sk_compare(const sk_case *c, char *keep)
{
    sk_case_reset(c);
    sk_case_run(c, false);
    memcpy(keep, c->recv, c->check_bytes);
    sk_case_reset(c);
    sk_case_run(c, true);
    int64_t at = sk_first_difference(keep, c->recv, c->check_bytes);
    bool host = at >= 0 && host_errs(c, keep);
    if (at >= 0 && !host)
        fprintf(stderr, "wrong result: %s of %lld bytes on %d ranks: rank %d, byte %lld of %zu\n",
                sk_coll_name(c->coll), (long long)c->bytes, c->nranks, c->rank, (long long)at,
                c->check_bytes);
    if (c->neighborhood)
        tell_host_errs(c, host);
    int mine = at < 0 || host, all;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}
