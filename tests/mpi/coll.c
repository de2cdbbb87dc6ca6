/* coll.c: the table of collectives turned into calls. */
#include "coll.h"
#include "host_forms.h"

#include <stdlib.h>
#include <string.h>

#define COLL(ID, Name, iname, traits, ...) WEAK_INIT(Name)
#include "colls.def"
#undef COLL

#if HOST_HAS_LARGE
#define MPI_Barrier_c      MPI_Barrier /* it has no count to enlarge */
#define MPI_Ibarrier_c     MPI_Ibarrier
#define MPI_Barrier_init_c MPI_Barrier_init
#endif

static const struct {
    const char *name;
    int traits;
} table[NCOLLS] = {
#define COLL(ID, Name, iname, traits, ...) [C_##ID] = {#iname, traits},
#include "colls.def"
#undef COLL
};

const char *coll_name(coll c)
{
    return table[c].name;
}

coll coll_find(const char *name)
{
    coll c = 0;
    while (c < NCOLLS && strcmp(name, table[c].name) != 0)
        c++;
    return c;
}

int coll_traits(coll c)
{
    return table[c].traits;
}

const char *form_name(form f, bool big)
{
    static const char *const names[NFORMS][2] = {{"blocking", "blocking _c"},
                                                 {"nonblocking", "nonblocking _c"},
                                                 {"persistent", "persistent _c"}};
    return names[f][big];
}

static MPI_Count *wide_counts(const int *v, int n)
{
    MPI_Count *w = must_alloc((size_t)n * sizeof *w);
    for (int i = 0; v != NULL && i < n; i++)
        w[i] = v[i];
    return w;
}

static MPI_Aint *wide_displs(const int *v, int n)
{
    MPI_Aint *w = must_alloc((size_t)n * sizeof *w);
    for (int i = 0; v != NULL && i < n; i++)
        w[i] = v[i];
    return w;
}

void args_widen(args *a, int sn, int rn)
{
    a->bigs = (big_counts){
        .scount = a->ints.scount,
        .rcount = a->ints.rcount,
        .scounts = wide_counts(a->ints.scounts, sn),
        .rcounts = wide_counts(a->ints.rcounts, rn),
        .sdispls = wide_displs(a->ints.sdispls, sn),
        .rdispls = wide_displs(a->ints.rdispls, rn),
    };
}

void args_free_wide(args *a)
{
    free(a->bigs.scounts);
    free(a->bigs.rcounts);
    free(a->bigs.sdispls);
    free(a->bigs.rdispls);
    a->bigs = (big_counts){0};
}

bool form_exists(coll c, form f, bool big)
{
    if (big && !HOST_HAS_LARGE)
        return false;
    if (f != F_PERSISTENT)
        return true;
    switch (c) {
#define COLL(ID, Name, iname, traits, ...)                                                         \
    case C_##ID:                                                                                   \
        return HAVE_INIT(Name);
#include "colls.def"
#undef COLL
    default:
        return true;
    }
}

static int call_ints(const args *a, form f, MPI_Request *req)
{
    const counts *k = &a->ints;
    (void)k;
    switch (a->coll) {
#define COLL(ID, Name, iname, traits, ...)                                                         \
    case C_##ID:                                                                                   \
        return f == F_BLOCKING      ? MPI_##Name(__VA_ARGS__)                                      \
               : f == F_NONBLOCKING ? MPI_I##iname(__VA_ARGS__, req)                               \
                                    : MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, req);
#include "colls.def"
#undef COLL
    default:
        return MPI_ERR_INTERN;
    }
}

#if HOST_HAS_LARGE
static int call_bigs(const args *a, form f, MPI_Request *req)
{
    const big_counts *k = &a->bigs;
    switch (a->coll) {
#define COLL(ID, Name, iname, traits, ...)                                                         \
    case C_##ID:                                                                                   \
        return f == F_BLOCKING      ? MPI_##Name##_c(__VA_ARGS__)                                  \
               : f == F_NONBLOCKING ? MPI_I##iname##_c(__VA_ARGS__, req)                           \
                                    : MPI_##Name##_init_c(__VA_ARGS__, MPI_INFO_NULL, req);
#include "colls.def"
#undef COLL
    default:
        return MPI_ERR_INTERN;
    }
}
#endif

int coll_call(const args *a, form f, bool big, MPI_Request *req)
{
#if HOST_HAS_LARGE
    if (big)
        return call_bigs(a, f, req);
#endif
    (void)big;
    return call_ints(a, f, req);
}

int coll_host(const args *a)
{
    return coll_host_form(a, F_BLOCKING, NULL);
}

int coll_host_form(const args *a, form f, MPI_Request *req)
{
    const counts *k = &a->ints;
    switch (a->coll) {
#define COLL(ID, Name, iname, traits, ...)                                                         \
    case C_##ID:                                                                                   \
        return f == F_BLOCKING      ? PMPI_##Name(__VA_ARGS__)                                     \
               : f == F_NONBLOCKING ? PMPI_I##iname(__VA_ARGS__, req)                              \
                                    : HOST_INIT(Name)(__VA_ARGS__, MPI_INFO_NULL, req);
#include "colls.def"
#undef COLL
    default:
        return MPI_ERR_INTERN;
    }
}
