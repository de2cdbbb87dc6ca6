! neighbors.F90: communicators and topologies made from Fortran, and every neighbourhood collective on
! them, in each form, against a plain loop.
#include "interface.inc"
module neighbors
  USE_MPI
  use support
  use requests, only: finish_request
  use collectives, only: value, s, r, expected, counts, displs, counts2, displs2, types, types2, comm, request, &
    rank, nranks, form, starts, start, ierr, clear, check, in_place, blk
  implicit none
  MPI_HEADER
  integer :: nin, nout, from(8), to(8)
  integer(MPI_ADDRESS_KIND) :: bytes(8), bytes2(8)
  logical :: careful = .false.

contains

  subroutine test_neighbor_allgather()
    integer :: i, e
    call clear()
    do i = 1, blk
      s(i) = value(rank, 0, i)
      do e = 1, nin
        if (from(e) >= 0) expected((e - 1) * blk + i) = value(from(e), 0, i)
      end do
    end do
#define COLL c_neighbor_allgather
#define CALL MPI_Neighbor_allgather
#define ICALL MPI_Ineighbor_allgather
#define PCALL PERSISTENT(Neighbor_allgather)
#define ARGS s, blk, MPI_INTEGER, r, blk, MPI_INTEGER, comm
#include "three.inc"
#undef ARGS
#include "undef.inc"
    call check('neighbor_allgather', nin * blk + 1)
  end subroutine

  subroutine test_neighbor_allgatherv()
    integer :: i, e
    call clear()
    do i = 1, 1 + mod(rank, blk)
      s(i) = value(rank, 0, i)
    end do
    do e = 1, nin
      displs(e) = (e - 1) * (blk + 1)
      counts(e) = merge(1 + mod(from(e), blk), 0, from(e) >= 0)
      do i = 1, counts(e)
        expected(displs(e) + i) = value(from(e), 0, i)
      end do
    end do
#define COLL c_neighbor_allgatherv
#define CALL MPI_Neighbor_allgatherv
#define ICALL MPI_Ineighbor_allgatherv
#define PCALL PERSISTENT(Neighbor_allgatherv)
#define ARGS s, 1 + mod(rank, blk), MPI_INTEGER, r, counts, displs, MPI_INTEGER, comm
#include "three.inc"
#undef ARGS
#include "undef.inc"
    call check('neighbor_allgatherv', nin * (blk + 1))
  end subroutine

  subroutine test_neighbor_alltoall()
    integer :: i, e
    call clear()
    do i = 1, blk
      do e = 1, nout
        s((e - 1) * blk + i) = value(rank, to(e), i)
      end do
      do e = 1, nin
        if (from(e) >= 0) expected((e - 1) * blk + i) = value(from(e), rank, i)
      end do
    end do
#define COLL c_neighbor_alltoall
#define CALL MPI_Neighbor_alltoall
#define ICALL MPI_Ineighbor_alltoall
#define PCALL PERSISTENT(Neighbor_alltoall)
#define ARGS s, blk, MPI_INTEGER, r, blk, MPI_INTEGER, comm
#include "three.inc"
#undef ARGS
#include "undef.inc"
    call check('neighbor_alltoall', nin * blk + 1)
  end subroutine

  ! Rank a sends 1 + mod(a + 2 b, 3) elements to rank b.
  subroutine pairs()
    integer :: i, e
    call clear()
    do e = 1, nout
      displs(e) = (e - 1) * (blk + 1)
      counts(e) = merge(1 + mod(rank + 2 * to(e), blk), 0, to(e) >= 0)
      do i = 1, counts(e)
        s(displs(e) + i) = value(rank, to(e), i)
      end do
    end do
    do e = 1, nin
      displs2(e) = (e - 1) * (blk + 1)
      counts2(e) = merge(1 + mod(from(e) + 2 * rank, blk), 0, from(e) >= 0)
      do i = 1, counts2(e)
        expected(displs2(e) + i) = value(from(e), rank, i)
      end do
    end do
  end subroutine

  subroutine test_neighbor_alltoallv()
    call pairs()
#define COLL c_neighbor_alltoallv
#define CALL MPI_Neighbor_alltoallv
#define ICALL MPI_Ineighbor_alltoallv
#define PCALL PERSISTENT(Neighbor_alltoallv)
#define ARGS s, counts, displs, MPI_INTEGER, r, counts2, displs2, MPI_INTEGER, comm
#include "three.inc"
#undef ARGS
#include "undef.inc"
    call check('neighbor_alltoallv', nin * (blk + 1))
  end subroutine

  subroutine test_neighbor_alltoallw()
    call pairs()
    types = MPI_INTEGER
    types2 = MPI_INTEGER
    bytes = 4 * displs(1:8)
    bytes2 = 4 * displs2(1:8)
#define COLL c_neighbor_alltoallw
#define CALL MPI_Neighbor_alltoallw
#define ICALL MPI_Ineighbor_alltoallw
#define PCALL PERSISTENT(Neighbor_alltoallw)
#define ARGS s, counts, bytes, types, r, counts2, bytes2, types2, comm
#include "three.inc"
#undef ARGS
#include "undef.inc"
    call check('neighbor_alltoallw', nin * (blk + 1))
  end subroutine

  ! The Fortran layer of Open MPI 4.1 converts as many types as there are ranks; that of mpi_f08 in
  ! MPICH 4.0 asks a distributed graph for the number of types.
  logical function host_can_alltoallw()
    integer :: kind
    call MPI_Topo_test(comm, kind, ierr)
#ifdef FLAVOUR_OPENMPI
    host_can_alltoallw = max(nin, nout) <= nranks .and. &
      (form == blocking .or. nranks > 1 .or. host_alltoallw_overruns() == 0)
#else
    host_can_alltoallw = IFACE < 3 .or. kind == MPI_DIST_GRAPH
#endif
  end function

  subroutine all_neighbor_calls(last_form)
    integer, intent(in) :: last_form
    integer :: again
    in_place = .false.
    do again = 1, 3 ! the patterns are made after the first call
      do form = 1, last_form
        call test_neighbor_allgather()
        call test_neighbor_allgatherv()
        call test_neighbor_alltoall()
        call test_neighbor_alltoallv()
        if (.not. careful .and. host_can_alltoallw()) call test_neighbor_alltoallw()
      end do
    end do
  end subroutine

  ! My neighbours on a Cartesian communicator.
  subroutine read_cart(ndims)
    integer, intent(in) :: ndims
    integer :: d
    do d = 0, ndims - 1
      call MPI_Cart_shift(comm, d, 1, from(2 * d + 1), from(2 * d + 2), ierr)
    end do
    nin = 2 * ndims
    nout = nin
    where (from == MPI_PROC_NULL) from = -1
    to = from
  end subroutine

  subroutine test_topologies(world, last_form)
    T_COMM, intent(in) :: world
    integer, intent(in) :: last_form
    T_COMM :: parent
    integer :: dims(2), n, p, i, me, index(64), edges(256), none(1), kind
    logical :: ring(1)
    parent = world
    call MPI_Comm_size(parent, n, ierr)
    call MPI_Comm_rank(parent, me, ierr)

    ring = .true.
    call MPI_Cart_create(parent, 1, [n], ring, .false., comm, ierr)
    call MPI_Comm_rank(comm, rank, ierr)
    call read_cart(1)
    call all_neighbor_calls(last_form)
    call MPI_Comm_free(comm, ierr)

    dims = 0
    call MPI_Dims_create(n, 2, dims, ierr)
    call MPI_Cart_create(parent, 2, dims, [.false., .false.], .true., comm, ierr)
    call MPI_Comm_rank(comm, rank, ierr)
    call read_cart(2)
    call all_neighbor_calls(last_form)
    call MPI_Comm_free(comm, ierr)

    do p = 0, n - 1 ! everybody and its two neighbours in a ring
      index(p + 1) = 2 * (p + 1)
      edges(2 * p + 1) = mod(p + n - 1, n)
      edges(2 * p + 2) = mod(p + 1, n)
    end do
    call MPI_Graph_create(parent, n, index, edges, .false., comm, ierr)
    call MPI_Topo_test(comm, kind, ierr)
    call expect(kind == MPI_GRAPH, 'MPI_Graph_create: topology')
    call MPI_Comm_rank(comm, rank, ierr)
    nin = 2
    nout = 2
    from(1:2) = edges(2 * rank + 1:2 * rank + 2)
    to = from
    call all_neighbor_calls(last_form)
    call MPI_Comm_free(comm, ierr)

    do i = 1, 2 ! to the next two
      to(i) = mod(me + i, n)
      from(i) = modulo(me - i, n)
    end do
    call MPI_Dist_graph_create_adjacent(parent, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED, MPI_INFO_NULL, &
      .false., comm, ierr)
    rank = me
    call all_neighbor_calls(last_form)
    call MPI_Comm_free(comm, ierr)

    ! Rank 0 tells it all: everybody sends to rank 0, which sends to nobody else.
    none = 0
    if (me == 0) then
      call MPI_Dist_graph_create(parent, n, [(p, p=0, n - 1)], [(1, p=0, n - 1)], [(0, p=0, n - 1)], MPI_UNWEIGHTED, &
        MPI_INFO_NULL, .false., comm, ierr)
    else
      call MPI_Dist_graph_create(parent, 0, none, none, none, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., comm, ierr)
    end if
    nout = 1
    to(1) = 0
    nin = 0
    if (me == 0 .and. n <= 8) call read_sources(n)
    if (n <= 8) call all_neighbor_calls(last_form)
    call MPI_Comm_free(comm, ierr)
  end subroutine

  ! The order of the sources is the host's choice.
  subroutine read_sources(n)
    integer, intent(in) :: n
    integer :: weights(8), d(8)
    nin = n
    call MPI_Dist_graph_neighbors(comm, n, from, weights, 1, d, weights, ierr)
  end subroutine
end module
