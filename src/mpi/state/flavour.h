/* flavour.h: the host MPI and its features. The rest of src/mpi tests SK_HAVE_* and SK_HOST_*, never
 * the name of the host. */
#ifndef SK_FLAVOUR_H
#define SK_FLAVOUR_H

#include <mpi.h>

/* The header and the host may be of different versions: a function that only some have is declared in
 * host.def and looked up by its name. */
#if defined(SKEIN_FLAVOUR_OPENMPI)
#define SK_HOST_FLAVOUR SK_MPI_OPENMPI
#define SK_HOST_YIELDS  1 /* yields by itself while it waits when ranks outnumber cores */
#define SK_HOST_CHECKS_ALIAS(coll)                                                                 \
    ((coll) == SK_REDUCE)      /* equal send and receive buffers are an error */
#define SK_HOST_MIXES_KINDS  1 /* may call a distributed graph a grid or a graph */
#define SK_HOST_ERRORS_ABORT "ompi_mpi_errors_abort" /* handles are addresses of objects */
#define SK_HOST_MPIX_INIT    1 /* once had its persistent collectives under MPIX_ names */
#define SK_HOST_PERSISTS                                                                           \
    1 /* its persistent collectives are right at every start; those of MPICH 4.0 are not */
#elif defined(SKEIN_FLAVOUR_ABI)
/* Any MPI with the standard ABI of MPI 5.0: what holds for one of them is assumed of all. */
#define SK_HOST_FLAVOUR            SK_MPI_ABI
#define SK_HOST_YIELDS             0
#define SK_HOST_CHECKS_ALIAS(coll) true
#define SK_HOST_MPIX_INIT          0
#define SK_HOST_PERSISTS           0
#define SK_HOST_MIXES_KINDS        1
#else
#define SK_HOST_FLAVOUR            SK_MPI_MPICH
#define SK_HOST_YIELDS             0
#define SK_HOST_CHECKS_ALIAS(coll) true
#define SK_HOST_MPIX_INIT          0
#define SK_HOST_PERSISTS           0
#define SK_HOST_MIXES_KINDS        0
#endif

#if defined(SKEIN_FLAVOUR_ABI)
/* Open MPI 6.0 replaces the values of these constants by its own in every buffer argument. The second
 * block behind MPI_BOTTOM may be at such an address. */
#define SK_HOST_MISREADS(at) ((at) == MPI_IN_PLACE || (at) == MPI_BUFFER_AUTOMATIC)
#else
#define SK_HOST_MISREADS(at) ((void)(at), 0)
#endif

#if defined(SKEIN_FLAVOUR_MPICH) || defined(SKEIN_FLAVOUR_ABI)
/* MPICH 4.0 receives a long message into a derived type only if it was sent with a derived type. The
 * chunks of a contiguous one may end inside an element, which MPICH reports as truncation. */
#define SK_HOST_SPLITS_ELEMENTS 1
/* Errors of requests go to the handler of MPI_COMM_WORLD. */
#define SK_HOST_RAISES_ON_WORLD 1
/* A broadcast message of another length than the receiver's is an error, also a shorter one. */
#define SK_HOST_CHECKS_BCAST 1
/* Above 2 KB its MPI_Reduce reads from MPI_IN_PLACE at another root than 0. */
#define SK_HOST_REDUCES_IN_PLACE 0
/* Its MPI_Neighbor_alltoallw loses blocks of a rank with more sources than targets. */
#define SK_HOST_NEIGHBOR_W 0
/* Its MPI_Pack and MPI_Unpack cannot start from MPI_BOTTOM. */
#define SK_HOST_PACKS_BOTTOM 0
#else
#define SK_HOST_SPLITS_ELEMENTS  0
#define SK_HOST_RAISES_ON_WORLD  0
#define SK_HOST_CHECKS_BCAST     0
#define SK_HOST_REDUCES_IN_PLACE 1
#define SK_HOST_NEIGHBOR_W       1
#define SK_HOST_PACKS_BOTTOM     1
#endif

/* Open MPI takes the send type's size for that of the receive type when it chooses the algorithm of MPI_Allgatherv. Ranks
 * whose send types differ choose differently, and wait for ever. In place it takes the receive type's. */
#if defined(SKEIN_FLAVOUR_MPICH)
#define SK_HOST_ALLGATHERV_BY_SENDER 0
#else
#define SK_HOST_ALLGATHERV_BY_SENDER 1
#endif

/* In its MPI_Gather a rank that passes on blocks of others keeps them as elements of its own send type. Where these lie
 * between each other's bytes, as the columns of a matrix do, blocks overwrite each other. */
#define SK_HOST_GATHERS_BY_SENDER SK_HOST_ALLGATHERV_BY_SENDER

/* Open MPI 4.1 reads as many types of MPI_Ialltoallw as there are neighbours, if the communicator has a topology. */
#define SK_HOST_IALLTOALLW_BY_NEIGHBORS SK_HOST_ALLGATHERV_BY_SENDER

/* MPI_Request_get_status_any, _all and _some take requests that they do not change. MPICH 4.2 does not say
 * so. */
#ifdef SK_HOST_CONST_REQUESTS
#define SK_CONST_REQUEST const MPI_Request
#else
#define SK_CONST_REQUEST MPI_Request
#endif

#if defined(SKEIN_FLAVOUR_SMPI)
/* Ranks are simulated: one archive per rank, no dynamic linker in between. */
#define SK_HAVE_NEXT          0
#define SK_HAVE_MATCHED_PROBE 0
#define SK_HAVE_IRSEND        0
#define SK_HAVE_GRAPHS        0
#define SK_HAVE_BINDING       0
#define SK_HAVE_PROBE         0 /* it has one, but polls while it waits */
#define SK_HAVE_IALLGATHER    0 /* it has one, but with a message per pair of ranks */
#define SK_HAVE_ENVELOPE      0
#define SK_HAVE_SHM           0
#define SK_HAVE_INIT          0 /* persistent collectives */
#define SK_HAVE_LARGE         0 /* the _c forms; see also sk_host.large */
#define SK_HAVE_THREADS       0 /* and little space for thread-local data */
#define SK_HAVE_CLOCK         0 /* time is simulated too */
#else
#define SK_HAVE_NEXT          1
#define SK_HAVE_MATCHED_PROBE 1
#define SK_HAVE_IRSEND        1
#define SK_HAVE_GRAPHS        1
#define SK_HAVE_BINDING       1
#define SK_HAVE_PROBE         1
#define SK_HAVE_IALLGATHER    1
#define SK_HAVE_ENVELOPE      1
#define SK_HAVE_SHM           1
#define SK_HAVE_INIT          1
#define SK_HAVE_LARGE         1
#define SK_HAVE_THREADS       1
#define SK_HAVE_CLOCK         1
#endif

#define SK_EXPORT       __attribute__((visibility("default")))
#define SK_UNPAREN(...) __VA_ARGS__

#endif
