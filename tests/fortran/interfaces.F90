! interfaces.F90: the program of collectives.F90, neighbors.F90 and details.F90 for one interface. On
! rank 0 it prints the calls that it made. Without Skein it leaves out what the hosts do wrong by themselves:
! MPICH 4.0 persistent collectives (MPI_Testall) and MPI_Neighbor_alltoallw, Open MPI 4.1 nonblocking
! alltoallw (it uses arrays that its Fortran layer has freed). On one rank alltoallw is only blocking where
! host_alltoallw_overruns.
#include "interface.inc"
program interfaces
  USE_MPI
  use support
  use collectives, only: comm, rank, nranks, form, in_place, ierr, test_barrier, test_bcast, test_scatter, &
    test_scatterv, test_gather, test_gatherv, test_allgather, test_allgatherv, test_alltoall, test_alltoallv, &
    test_alltoallw, test_reduce, test_allreduce, test_reduce_scatter, test_reduce_scatter_block, test_scan, test_exscan
  use neighbors, only: test_topologies, careful
  use details, only: detail_comm => comm, detail_rank => rank, detail_n => n, test_logical, test_integers, &
    test_reals, test_complex, test_pairs, test_user_operations, test_bottom, test_characters, test_request_sets, &
    test_communicators
#if IFACE == 3
  use details, only: test_sections
#endif
  implicit none
  MPI_HEADER
  integer :: again, root, place, provided, last_form
  integer(i8) :: served, host
  logical :: flag

  program_name = 'interfaces (' // INTERFACE // ')'
#if IFACE == 2
  call MPI_Init_thread(MPI_THREAD_SINGLE, provided, ierr)
#else
  call MPI_Init(ierr)
#endif
  call watch(300)
  call MPI_Initialized(flag, ierr)
  call expect(flag, 'MPI_Initialized')
  comm = MPI_COMM_WORLD
  call MPI_Comm_rank(comm, rank, ierr)
  call MPI_Comm_size(comm, nranks, ierr)
  world_rank = rank

  last_form = persistent
  careful = skein_seen(served, host) == 0
  if (careful) last_form = nonblocking

  ! Again, because shared memory comes into play after a few calls.
  do again = 1, 3
    do place = 0, 1
      in_place = place == 1
      do form = blocking, last_form
        root = mod(again + form, nranks)
        call test_barrier()
        call test_bcast(root)
        call test_scatter(root)
        call test_scatterv(root)
        call test_gather(root)
        call test_gatherv(root)
        call test_allgather()
        call test_allgatherv()
        call test_alltoall()
        call test_alltoallv()
        if (form == blocking .or. .not. (careful .or. nranks == 1 .and. host_alltoallw_overruns() /= 0)) call test_alltoallw()
        call test_reduce(root)
        call test_allreduce()
        call test_reduce_scatter()
        call test_reduce_scatter_block()
        call test_scan()
        call test_exscan()
      end do
    end do
  end do

  detail_comm = MPI_COMM_WORLD
  detail_rank = rank
  detail_n = nranks
  do again = 1, 2
    call test_logical()
    call test_integers()
    call test_reals()
    call test_complex()
    call test_pairs()
    call test_user_operations()
    call test_bottom()
    call test_characters()
    call test_request_sets()
    call test_communicators()
#if IFACE == 3
    call test_sections()
#endif
  end do
  call test_topologies(MPI_COMM_WORLD, last_form)

  call MPI_Finalize(ierr)
  call MPI_Finalized(flag, ierr)
  call expect(flag, 'MPI_Finalized')
  call finish_program()
end program
