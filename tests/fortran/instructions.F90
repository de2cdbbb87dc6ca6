! instructions.F90: N allreduces of 8 bytes on MPI_COMM_WORLD, for instructions.sh to count under
! callgrind, which looks only into `measured`. tests/mpi/instructions.c is the same program in C.
#include "interface.inc"
module loop
  USE_MPI
  use iso_c_binding
  implicit none
  MPI_HEADER

contains

  subroutine measured(n, out) bind(c)
    integer(c_int), value :: n
    integer(c_long), intent(out) :: out
    integer(c_long) :: in
    integer :: i, ierr
    in = 1
    do i = 1, n
      call MPI_Allreduce(in, out, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierr)
    end do
  end subroutine

  subroutine warm_up()
    integer(c_long) :: in, out
    integer :: i, ierr
    in = 1
    do i = 1, 50
      call MPI_Allreduce(in, out, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierr)
    end do
  end subroutine
end module

program instructions
  USE_MPI
  use loop, only: measured, warm_up
  use iso_c_binding
  implicit none
  MPI_HEADER
  integer(c_long) :: out
  integer :: ierr, nranks
  integer(c_int) :: n
  character(len=16) :: text
  call get_command_argument(1, text)
  read (text, *) n
  call MPI_Init(ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  call warm_up()
  call measured(n, out)
  call MPI_Finalize(ierr)
  if (out /= nranks) call exit(1)
end program
