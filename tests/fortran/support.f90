! support.f90: what the Fortran tests share and no MPI is needed for: failures, the calls made and
! the calls that Skein saw, random numbers.
module support
  use iso_c_binding, only: c_int, c_long_long
  implicit none

  integer, parameter :: i8 = selected_int_kind(18)
  integer, parameter :: ncolls = 22
  enum, bind(c)
    enumerator :: c_barrier = 1, c_bcast, c_scatter, c_scatterv, c_gather, c_gatherv, c_allgather, c_allgatherv, &
      c_alltoall, c_alltoallv, c_alltoallw, c_reduce, c_allreduce, c_reduce_scatter, c_reduce_scatter_block, &
      c_scan, c_exscan, c_neighbor_allgather, c_neighbor_allgatherv, c_neighbor_alltoall, c_neighbor_alltoallv, &
      c_neighbor_alltoallw
  end enum
  character(len=20), parameter :: coll_name(ncolls) = [character(len=20) :: 'barrier', 'bcast', 'scatter', &
    'scatterv', 'gather', 'gatherv', 'allgather', 'allgatherv', 'alltoall', 'alltoallv', 'alltoallw', 'reduce', &
    'allreduce', 'reduce_scatter', 'reduce_scatter_block', 'scan', 'exscan', 'neighbor_allgather', &
    'neighbor_allgatherv', 'neighbor_alltoall', 'neighbor_alltoallv', 'neighbor_alltoallw']

  enum, bind(c)
    enumerator :: blocking = 1, nonblocking, persistent
  end enum
  character(len=11), parameter :: form_name(3) = [character(len=11) :: 'blocking', 'nonblocking', 'persistent']

  integer :: failures = 0, world_rank = -1
  integer(i8) :: made(ncolls) = 0
  integer(i8), private :: served_before, host_before
  logical :: left_to_host ! the last call
  character(len=:), allocatable :: program_name

  interface
    function skein_seen(served, host) bind(c)
      import c_int, c_long_long
      integer(c_long_long), intent(out) :: served, host
      integer(c_int) :: skein_seen
    end function
    function host_alltoallw_overruns() bind(c)
      import c_int
      integer(c_int) :: host_alltoallw_overruns
    end function
    function host_serves_arrays() bind(c)
      import c_int
      integer(c_int) :: host_serves_arrays
    end function
    subroutine watch(seconds) bind(c)
      import c_int
      integer(c_int), value :: seconds
    end subroutine
  end interface

contains

  subroutine fail(text)
    character(len=*), intent(in) :: text
    failures = failures + 1
    if (failures <= 10) write (*, '(a, ": rank ", i0, ": ", a)') program_name, world_rank, text
  end subroutine

  subroutine expect(right, text)
    logical, intent(in) :: right
    character(len=*), intent(in) :: text
    if (.not. right) call fail(text)
  end subroutine

  ! Around one call, or one that is started `starts` times: Skein must see each exactly once.
  subroutine before_call()
    integer :: there
    there = skein_seen(served_before, host_before)
  end subroutine

  subroutine after_call(coll, form, starts)
    integer, intent(in) :: coll, form, starts
    integer(i8) :: served, host
    integer :: there
    character(len=200) :: text
    there = skein_seen(served, host)
    served = served - served_before
    host = host - host_before
    left_to_host = host > 0
    if (there == 0) then
      made(coll) = made(coll) + 1
      return
    end if
    made(coll) = made(coll) + served + host
    ! Of a persistent call, Skein counts the starts; what it leaves to the host is counted once.
    if (form == persistent .and. served == starts .and. host == 0) return
    if (form == persistent .and. served == 0 .and. host == 1) return
    if (form /= persistent .and. served + host == starts) return
    write (text, '(a, " ", a, ": ", i0, " calls, Skein saw ", i0, " served and ", i0, " left to the host")') &
      trim(form_name(form)), trim(coll_name(coll)), starts, served, host
    call fail(trim(text))
  end subroutine

  ! The last words of a program: on rank 0 how many calls it made, then its status.
  subroutine finish_program()
    integer :: c
    if (world_rank == 0) then
      do c = 1, ncolls
        if (made(c) > 0) write (*, '("made ", a, " ", i0)') trim(coll_name(c)), made(c)
      end do
    end if
    if (failures > 0) then
      write (*, '(a, ": rank ", i0, ": ", i0, " failures")') program_name, world_rank, failures
      call exit(1)
    end if
  end subroutine

  ! A number in 0 .. 2^31 - 1 that depends on all arguments.
  pure integer function hash(a, b, c)
    integer(i8), intent(in) :: a
    integer, intent(in) :: b, c
    integer(i8) :: x
    x = ieor(a * 2654435761_i8, ishft(int(b, i8), 32)) + int(c, i8) * 40503_i8 + 12345_i8
    x = ieor(x, ishft(x, -29)) * 6364136223846793005_i8 + 1442695040888963407_i8
    x = ieor(x, ishft(x, -32)) * 6364136223846793005_i8 + 1442695040888963407_i8
    hash = int(iand(ishft(x, -33), 2147483647_i8))
  end function
end module
