! requests.F90: completing requests by every call of MPI that does so, one after the other.
#include "interface.inc"
module requests
  USE_MPI
  implicit none
  MPI_HEADER
  integer, private :: turn = 0
  integer :: base = -1 ! of the indices that the host gives: MPICH 4.0's mpi_f08 counts from 0
  logical, private :: can_testany ! not Open MPI 6's mpi_f08: its flag may be true for what is not complete
  integer, parameter, private :: ways = 11

contains

  subroutine find_base()
    T_REQUEST :: list(1)
    integer :: ierr, at, rank, i, nothing
    logical :: over
    call MPI_Irecv(nothing, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_SELF, list(1), ierr)
    call MPI_Waitany(1, list, base, MPI_STATUS_IGNORE, ierr)
    can_testany = .true.
    do i = 1, 10 ! after a test that succeeds, one that does not
      call MPI_Irecv(nothing, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_SELF, list(1), ierr)
      call MPI_Testany(1, list, at, over, MPI_STATUS_IGNORE, ierr)
      call MPI_Irecv(nothing, 0, MPI_INTEGER, 0, 0, MPI_COMM_SELF, list(1), ierr)
      call MPI_Testany(1, list, at, over, MPI_STATUS_IGNORE, ierr)
      if (over) can_testany = .false.
      call MPI_Send(nothing, 0, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierr)
      call MPI_Wait(list(1), MPI_STATUS_IGNORE, ierr)
    end do
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    if (.not. can_testany .and. rank == 0) write (*, '(a)') 'left out: MPI_Testany, whose flag may be wrong here'
  end subroutine

  subroutine finish_request(request)
    T_REQUEST, intent(inout) :: request
    T_REQUEST :: list(1)
    T_STATUS :: status
    STATUSES(1)
    integer :: ierr, at, n, places(1)
    logical :: over
    if (base < 0) call find_base()
    over = .false.
    n = 0
    list(1) = request
    select case (mod(turn, ways))
    case (0)
      call MPI_Wait(list(1), status, ierr)
    case (1)
      call MPI_Wait(list(1), MPI_STATUS_IGNORE, ierr)
    case (2)
      do while (.not. over)
        call MPI_Test(list(1), over, status, ierr)
      end do
    case (3)
      call MPI_Waitall(1, list, many, ierr)
    case (4)
      call MPI_Waitall(1, list, MPI_STATUSES_IGNORE, ierr)
    case (5)
      do while (.not. over)
        call MPI_Testall(1, list, over, MPI_STATUSES_IGNORE, ierr)
      end do
    case (6)
      call MPI_Waitany(1, list, at, status, ierr)
      if (at /= base) error stop 'MPI_Waitany: index'
    case (7)
      if (.not. can_testany) call MPI_Waitany(1, list, at, status, ierr)
      do while (can_testany .and. .not. over)
        call MPI_Testany(1, list, at, over, MPI_STATUS_IGNORE, ierr)
      end do
      if (at /= base) error stop 'MPI_Testany: index'
    case (8)
      call MPI_Waitsome(1, list, n, places, many, ierr)
      if (n /= 1 .or. places(1) /= base) error stop 'MPI_Waitsome: index'
    case (9)
      do while (n == 0)
        call MPI_Testsome(1, list, n, places, MPI_STATUSES_IGNORE, ierr)
      end do
      if (n /= 1 .or. places(1) /= base) error stop 'MPI_Testsome: index'
    case default ! Open MPI 4.1 takes no MPI_STATUS_IGNORE here
      do while (.not. over)
        call MPI_Request_get_status(list(1), over, status, ierr)
      end do
      call MPI_Wait(list(1), MPI_STATUS_IGNORE, ierr)
    end select
    request = list(1)
    turn = turn + 1
  end subroutine
end module
