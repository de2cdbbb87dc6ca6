! interface.h: what differs between the three Fortran interfaces of MPI. IFACE is 1 for mpif.h, 2 for
! `use mpi`, 3 for `use mpi_f08`. A module starts with USE_MPI, `implicit none`, MPI_HEADER.
#if IFACE == 1
#define INTERFACE 'mpif.h'
#define USE_MPI
#define MPI_HEADER include 'mpif.h'
#elif IFACE == 2
#define INTERFACE 'use mpi'
#define USE_MPI use mpi
#define MPI_HEADER
#else
#define INTERFACE 'use mpi_f08'
#ifdef FLAVOUR_OPENMPI
#define USE_MPI use mpi_f08; use mpi_f08_ext
#else
#define USE_MPI use mpi_f08
#endif
#define MPI_HEADER
#endif

#if IFACE == 3
#define T_COMM type(MPI_Comm)
#define T_REQUEST type(MPI_Request)
#define T_DATATYPE type(MPI_Datatype)
#define T_OP type(MPI_Op)
#define T_GROUP type(MPI_Group)
#define T_STATUS type(MPI_Status)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define STATUSES(n) type(MPI_Status) :: many(n)
#define SOURCE_OF_ENTRY(i) many(i)%MPI_SOURCE
#define TAG_OF_ENTRY(i) many(i)%MPI_TAG
#else
#define T_COMM integer
#define T_REQUEST integer
#define T_DATATYPE integer
#define T_OP integer
#define T_GROUP integer
#define T_STATUS integer, dimension(MPI_STATUS_SIZE)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#define STATUSES(n) integer :: many(MPI_STATUS_SIZE, n)
#define SOURCE_OF_ENTRY(i) many(MPI_SOURCE, i)
#define TAG_OF_ENTRY(i) many(MPI_TAG, i)
#endif

! Persistent collectives: MPI 4 has them; Open MPI 4.1 has them under other names.
#ifdef FLAVOUR_OPENMPI
#define PERSISTENT(Name) MPIX_/**/Name/**/_init
#else
#define PERSISTENT(Name) MPI_/**/Name/**/_init
#endif
