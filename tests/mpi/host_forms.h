/* host_forms.h: the persistent collectives, where the host's header lacks them (HOST_HAS_INIT 0, found
 * out by the build). Open MPI 4 has them as MPIX_<Name>_init; the library brings the MPI 4 names. These
 * are weak, so that programs also start without it. */
#ifndef HOST_FORMS_H
#define HOST_FORMS_H

#include <mpi.h>

#if HOST_HAS_INIT
#define HOST_INIT(Name) PMPI_##Name##_init
#define WEAK_INIT(Name)
#define HAVE_INIT(Name) true
#else
#include <mpi-ext.h>

#include "skein.h"
#define HOST_INIT(Name) PMPIX_##Name##_init
#define WEAK_INIT(Name)                                                                            \
    extern __typeof__(MPI_##Name##_init) MPI_##Name##_init __attribute__((weak));
#define HAVE_INIT(Name) (MPI_##Name##_init != NULL)
#endif

#endif
