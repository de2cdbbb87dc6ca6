! calls.F90: the collectives of calls.c, by `use mpi` or, with F08, `use mpi_f08`.
program calls
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: ierr, rank, nranks, total, i
  logical :: wrong
  wrong = .false.
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  do i = 1, 5
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    wrong = wrong .or. total /= nranks*(nranks - 1)/2
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  print '(a,i0,a)', 'rank ', rank, merge(' wrong', ' right', wrong)
end program
