/* neighbor_call.c: see neighbor_call.h; the table turned into calls as in coll.c. */
#include "neighbor_call.h"
#include "host_forms.h"

#include <string.h>

#define NEIGHBOR(ID, name, ...) WEAK_INIT(Neighbor_##name)
#include "neighbors.def"
#undef NEIGHBOR

static const char *const names[NNCOLLS] = {
#define NEIGHBOR(ID, name, ...) [N_##ID] = "neighbor_" #name,
#include "neighbors.def"
#undef NEIGHBOR
};

const char *ncoll_name(ncoll c)
{
    return names[c];
}

ncoll ncoll_find(const char *name)
{
    ncoll c = 0;
    while (c < NNCOLLS && strcmp(name, names[c]) != 0)
        c++;
    return c;
}

bool ncoll_exists(ncoll c, form f, bool big)
{
    if (big && !HOST_HAS_LARGE)
        return false;
    if (f != F_PERSISTENT)
        return true;
    switch (c) {
#define NEIGHBOR(ID, name, ...)                                                                    \
    case N_##ID:                                                                                   \
        return HAVE_INIT(Neighbor_##name);
#include "neighbors.def"
#undef NEIGHBOR
    default:
        return true;
    }
}

static int call_ints(ncoll c, const args *a, form f, MPI_Request *req)
{
    const counts *k = &a->ints;
    switch (c) {
#define NEIGHBOR(ID, name, ...)                                                                    \
    case N_##ID:                                                                                   \
        return f == F_BLOCKING      ? MPI_Neighbor_##name(__VA_ARGS__)                             \
               : f == F_NONBLOCKING ? MPI_Ineighbor_##name(__VA_ARGS__, req)                       \
                                    : MPI_Neighbor_##name##_init(__VA_ARGS__, MPI_INFO_NULL, req);
#include "neighbors.def"
#undef NEIGHBOR
    default:
        return MPI_ERR_INTERN;
    }
}

#if HOST_HAS_LARGE
static int call_bigs(ncoll c, const args *a, form f, MPI_Request *req)
{
    const big_counts *k = &a->bigs;
    switch (c) {
#define NEIGHBOR(ID, name, ...)                                                                    \
    case N_##ID:                                                                                   \
        return f == F_BLOCKING ? MPI_Neighbor_##name##_c(__VA_ARGS__)                              \
               : f == F_NONBLOCKING                                                                \
                   ? MPI_Ineighbor_##name##_c(__VA_ARGS__, req)                                    \
                   : MPI_Neighbor_##name##_init_c(__VA_ARGS__, MPI_INFO_NULL, req);
#include "neighbors.def"
#undef NEIGHBOR
    default:
        return MPI_ERR_INTERN;
    }
}
#endif

int ncoll_call(ncoll c, const args *a, form f, bool big, MPI_Request *req)
{
#if HOST_HAS_LARGE
    if (big)
        return call_bigs(c, a, f, req);
#endif
    (void)big;
    return call_ints(c, a, f, req);
}

int ncoll_host(ncoll c, const args *a, form f, MPI_Request *req)
{
    const counts *k = &a->ints;
    switch (c) {
#define NEIGHBOR(ID, name, ...)                                                                    \
    case N_##ID:                                                                                   \
        return f == F_BLOCKING ? PMPI_Neighbor_##name(__VA_ARGS__)                                 \
                               : PMPI_Ineighbor_##name(__VA_ARGS__, req);
#include "neighbors.def"
#undef NEIGHBOR
    default:
        return MPI_ERR_INTERN;
    }
}
