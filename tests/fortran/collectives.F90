! collectives.F90: every collective once, in each form, with and without MPI_IN_PLACE, against a plain
! loop. The same text is compiled for each Fortran interface of MPI.
#include "interface.inc"
module collectives
  USE_MPI
  use support
  use requests, only: finish_request
  implicit none
  MPI_HEADER

  integer, parameter :: most = 64, blk = 3 ! ranks, elements of a block
  integer, target :: s(most * most * blk), r(most * most * blk)
  integer :: expected(most * most * blk)
  integer :: counts(most), displs(most), counts2(most), displs2(most)
  T_DATATYPE :: types(most), types2(most)
  T_COMM :: comm
  T_REQUEST :: request
  integer :: rank, nranks, form, starts, start, ierr
  logical :: in_place

contains

  ! What rank a has for rank b at place i.
  pure integer function value(a, b, i)
    integer, intent(in) :: a, b, i
    value = 10000 * (a + 1) + 100 * b + i
  end function

  subroutine check(name, n)
    character(len=*), intent(in) :: name
    integer, intent(in) :: n
    integer :: i
    character(len=200) :: text
    do i = 1, n
      if (r(i) == expected(i)) cycle
      write (text, '(3a, l1, a, i0, a, i0, a, i0)') trim(form_name(form)), ' ', name, in_place, ': element ', i, &
        ' is ', r(i), ', not ', expected(i)
      call fail(trim(text))
      return
    end do
  end subroutine

  subroutine clear()
    s = -1
    r = -2
    expected = -2
    starts = merge(1, 2, in_place)
  end subroutine

  ! Blocks of length 1, 2, 3, 1 ... with a hole after each.
  subroutine uneven(shift)
    integer, intent(in) :: shift
    integer :: i
    do i = 1, nranks
      counts(i) = 1 + mod(i + shift, blk)
      displs(i) = (i - 1) * (blk + 1)
    end do
  end subroutine

  subroutine test_barrier()
#define COLL c_barrier
#define CALL MPI_Barrier
#define ICALL MPI_Ibarrier
#define PCALL PERSISTENT(Barrier)
#define ARGS comm
#include "three.inc"
#include "undef.inc"
#undef ARGS
  end subroutine

  subroutine test_bcast(root)
    integer, intent(in) :: root
    integer :: i
    call clear()
    do i = 1, blk
      expected(i) = value(root, 0, i)
      if (rank == root) r(i) = expected(i)
    end do
#define COLL c_bcast
#define CALL MPI_Bcast
#define ICALL MPI_Ibcast
#define PCALL PERSISTENT(Bcast)
#define ARGS r, blk, MPI_INTEGER, root, comm
#include "three.inc"
#include "undef.inc"
#undef ARGS
    call check('bcast', blk + 1)
  end subroutine

  subroutine test_scatter(root)
    integer, intent(in) :: root
    integer :: i, p
    call clear()
    do p = 0, nranks - 1
      do i = 1, blk
        if (rank == root) s(p * blk + i) = value(root, p, i)
      end do
    end do
    do i = 1, blk
      expected(i) = value(root, rank, i)
    end do
#define COLL c_scatter
#define CALL MPI_Scatter
#define ICALL MPI_Iscatter
#define PCALL PERSISTENT(Scatter)
    if (in_place .and. rank == root) then
      expected = -2
#define ARGS s, blk, MPI_INTEGER, MPI_IN_PLACE, blk, MPI_INTEGER, root, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, blk, MPI_INTEGER, r, blk, MPI_INTEGER, root, comm
#include "three.inc"
#undef ARGS
    end if
    call check('scatter', blk + 1)
#include "undef.inc"
  end subroutine

  subroutine test_scatterv(root)
    integer, intent(in) :: root
    integer :: i, p
    call clear()
    call uneven(root)
    do p = 0, nranks - 1
      do i = 1, counts(p + 1)
        if (rank == root) s(displs(p + 1) + i) = value(root, p, i)
        if (p == rank) expected(i) = value(root, p, i)
      end do
    end do
#define COLL c_scatterv
#define CALL MPI_Scatterv
#define ICALL MPI_Iscatterv
#define PCALL PERSISTENT(Scatterv)
    if (in_place .and. rank == root) then
      expected = -2
#define ARGS s, counts, displs, MPI_INTEGER, MPI_IN_PLACE, counts(rank + 1), MPI_INTEGER, root, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, counts, displs, MPI_INTEGER, r, counts(rank + 1), MPI_INTEGER, root, comm
#include "three.inc"
#undef ARGS
    end if
    call check('scatterv', blk + 1)
#include "undef.inc"
  end subroutine

  subroutine test_gather(root)
    integer, intent(in) :: root
    integer :: i, p
    call clear()
    do i = 1, blk
      s(i) = value(rank, root, i)
      if (in_place .and. rank == root) r(rank * blk + i) = s(i)
    end do
    do p = 0, nranks - 1
      do i = 1, blk
        if (rank == root) expected(p * blk + i) = value(p, root, i)
      end do
    end do
#define COLL c_gather
#define CALL MPI_Gather
#define ICALL MPI_Igather
#define PCALL PERSISTENT(Gather)
    if (in_place .and. rank == root) then
#define ARGS MPI_IN_PLACE, blk, MPI_INTEGER, r, blk, MPI_INTEGER, root, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, blk, MPI_INTEGER, r, blk, MPI_INTEGER, root, comm
#include "three.inc"
#undef ARGS
    end if
    call check('gather', nranks * blk + 1)
#include "undef.inc"
  end subroutine

  subroutine test_gatherv(root)
    integer, intent(in) :: root
    integer :: i, p
    call clear()
    call uneven(root)
    do i = 1, counts(rank + 1)
      s(i) = value(rank, root, i)
      if (in_place .and. rank == root) r(displs(rank + 1) + i) = s(i)
    end do
    do p = 0, nranks - 1
      do i = 1, counts(p + 1)
        if (rank == root) expected(displs(p + 1) + i) = value(p, root, i)
      end do
    end do
#define COLL c_gatherv
#define CALL MPI_Gatherv
#define ICALL MPI_Igatherv
#define PCALL PERSISTENT(Gatherv)
    if (in_place .and. rank == root) then
#define ARGS MPI_IN_PLACE, 0, MPI_INTEGER, r, counts, displs, MPI_INTEGER, root, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, counts(rank + 1), MPI_INTEGER, r, counts, displs, MPI_INTEGER, root, comm
#include "three.inc"
#undef ARGS
    end if
    call check('gatherv', nranks * (blk + 1))
#include "undef.inc"
  end subroutine

  subroutine test_allgather()
    integer :: i, p
    call clear()
    do i = 1, blk
      s(i) = value(rank, 0, i)
      if (in_place) r(rank * blk + i) = s(i)
    end do
    do p = 0, nranks - 1
      do i = 1, blk
        expected(p * blk + i) = value(p, 0, i)
      end do
    end do
#define COLL c_allgather
#define CALL MPI_Allgather
#define ICALL MPI_Iallgather
#define PCALL PERSISTENT(Allgather)
    if (in_place) then
#define ARGS MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, r, blk, MPI_INTEGER, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, blk, MPI_INTEGER, r, blk, MPI_INTEGER, comm
#include "three.inc"
#undef ARGS
    end if
    call check('allgather', nranks * blk + 1)
#include "undef.inc"
  end subroutine

  subroutine test_allgatherv()
    integer :: i, p
    call clear()
    call uneven(1)
    do i = 1, counts(rank + 1)
      s(i) = value(rank, 0, i)
      if (in_place) r(displs(rank + 1) + i) = s(i)
    end do
    do p = 0, nranks - 1
      do i = 1, counts(p + 1)
        expected(displs(p + 1) + i) = value(p, 0, i)
      end do
    end do
#define COLL c_allgatherv
#define CALL MPI_Allgatherv
#define ICALL MPI_Iallgatherv
#define PCALL PERSISTENT(Allgatherv)
    if (in_place) then
#define ARGS MPI_IN_PLACE, 0, MPI_INTEGER, r, counts, displs, MPI_INTEGER, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, counts(rank + 1), MPI_INTEGER, r, counts, displs, MPI_INTEGER, comm
#include "three.inc"
#undef ARGS
    end if
    call check('allgatherv', nranks * (blk + 1))
#include "undef.inc"
  end subroutine

  subroutine test_alltoall()
    integer :: i, p
    call clear()
    do p = 0, nranks - 1
      do i = 1, blk
        s(p * blk + i) = value(rank, p, i)
        if (in_place) r(p * blk + i) = s(p * blk + i)
        expected(p * blk + i) = value(p, rank, i)
      end do
    end do
#define COLL c_alltoall
#define CALL MPI_Alltoall
#define ICALL MPI_Ialltoall
#define PCALL PERSISTENT(Alltoall)
    if (in_place) then
#define ARGS MPI_IN_PLACE, 0, MPI_INTEGER, r, blk, MPI_INTEGER, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, blk, MPI_INTEGER, r, blk, MPI_INTEGER, comm
#include "three.inc"
#undef ARGS
    end if
    call check('alltoall', nranks * blk + 1)
#include "undef.inc"
  end subroutine

  ! Rank a sends 1 + mod(a + b, 3) elements to rank b, so both directions are equal.
  subroutine pairwise()
    integer :: i, p
    do p = 0, nranks - 1
      counts(p + 1) = 1 + mod(rank + p, blk)
      displs(p + 1) = p * (blk + 1)
      do i = 1, counts(p + 1)
        s(displs(p + 1) + i) = value(rank, p, i)
        if (in_place) r(displs(p + 1) + i) = value(rank, p, i)
        expected(displs(p + 1) + i) = value(p, rank, i)
      end do
    end do
  end subroutine

  subroutine test_alltoallv()
    call clear()
    call pairwise()
#define COLL c_alltoallv
#define CALL MPI_Alltoallv
#define ICALL MPI_Ialltoallv
#define PCALL PERSISTENT(Alltoallv)
    if (in_place) then
#define ARGS MPI_IN_PLACE, counts, displs, MPI_INTEGER, r, counts, displs, MPI_INTEGER, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, counts, displs, MPI_INTEGER, r, counts, displs, MPI_INTEGER, comm
#include "three.inc"
#undef ARGS
    end if
    call check('alltoallv', nranks * (blk + 1))
#include "undef.inc"
  end subroutine

  subroutine test_alltoallw()
    call clear()
    call pairwise()
    displs = displs * 4
    types = MPI_INTEGER
#define COLL c_alltoallw
#define CALL MPI_Alltoallw
#define ICALL MPI_Ialltoallw
#define PCALL PERSISTENT(Alltoallw)
    if (in_place) then
#define ARGS MPI_IN_PLACE, counts, displs, types, r, counts, displs, types, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, counts, displs, types, r, counts, displs, types, comm
#include "three.inc"
#undef ARGS
    end if
    call check('alltoallw', nranks * (blk + 1))
#include "undef.inc"
  end subroutine

  ! The sum over ranks from..to of what they have at place i.
  pure integer function summed(from, to, i)
    integer, intent(in) :: from, to, i
    integer :: p
    summed = 0
    do p = from, to
      summed = summed + value(p, 0, i)
    end do
  end function

  subroutine operands(n)
    integer, intent(in) :: n
    integer :: i
    call clear()
    do i = 1, n
      s(i) = value(rank, 0, i)
      if (in_place) r(i) = s(i)
    end do
  end subroutine

  subroutine test_reduce(root)
    integer, intent(in) :: root
    integer :: i
    call operands(blk)
    if (rank /= root) r = -2
    do i = 1, blk
      if (rank == root) expected(i) = summed(0, nranks - 1, i)
    end do
#define COLL c_reduce
#define CALL MPI_Reduce
#define ICALL MPI_Ireduce
#define PCALL PERSISTENT(Reduce)
    if (in_place .and. rank == root) then
#define ARGS MPI_IN_PLACE, r, blk, MPI_INTEGER, MPI_SUM, root, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, r, blk, MPI_INTEGER, MPI_SUM, root, comm
#include "three.inc"
#undef ARGS
    end if
    call check('reduce', blk + 1)
#include "undef.inc"
  end subroutine

  subroutine test_allreduce()
    integer :: i
    call operands(blk)
    do i = 1, blk
      expected(i) = summed(0, nranks - 1, i)
    end do
#define COLL c_allreduce
#define CALL MPI_Allreduce
#define ICALL MPI_Iallreduce
#define PCALL PERSISTENT(Allreduce)
    if (in_place) then
#define ARGS MPI_IN_PLACE, r, blk, MPI_INTEGER, MPI_SUM, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, r, blk, MPI_INTEGER, MPI_SUM, comm
#include "three.inc"
#undef ARGS
    end if
    call check('allreduce', blk + 1)
#include "undef.inc"
  end subroutine

  subroutine test_reduce_scatter()
    integer :: i, at
    call uneven(1)
    call operands(sum(counts(1:nranks)))
    at = sum(counts(1:rank))
    if (in_place) expected = r
    do i = 1, counts(rank + 1)
      expected(i) = summed(0, nranks - 1, at + i)
    end do
#define COLL c_reduce_scatter
#define CALL MPI_Reduce_scatter
#define ICALL MPI_Ireduce_scatter
#define PCALL PERSISTENT(Reduce_scatter)
    if (in_place) then
#define ARGS MPI_IN_PLACE, r, counts, MPI_INTEGER, MPI_SUM, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, r, counts, MPI_INTEGER, MPI_SUM, comm
#include "three.inc"
#undef ARGS
    end if
    call check('reduce_scatter', merge(counts(rank + 1), blk + 1, in_place))
#include "undef.inc"
  end subroutine

  subroutine test_reduce_scatter_block()
    integer :: i
    call operands(nranks * blk)
    do i = 1, blk
      expected(i) = summed(0, nranks - 1, rank * blk + i)
    end do
#define COLL c_reduce_scatter_block
#define CALL MPI_Reduce_scatter_block
#define ICALL MPI_Ireduce_scatter_block
#define PCALL PERSISTENT(Reduce_scatter_block)
    if (in_place) then
#define ARGS MPI_IN_PLACE, r, blk, MPI_INTEGER, MPI_SUM, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, r, blk, MPI_INTEGER, MPI_SUM, comm
#include "three.inc"
#undef ARGS
    end if
    call check('reduce_scatter_block', blk)
#include "undef.inc"
  end subroutine

  subroutine test_scan()
    integer :: i
    call operands(blk)
    do i = 1, blk
      expected(i) = summed(0, rank, i)
    end do
#define COLL c_scan
#define CALL MPI_Scan
#define ICALL MPI_Iscan
#define PCALL PERSISTENT(Scan)
    if (in_place) then
#define ARGS MPI_IN_PLACE, r, blk, MPI_INTEGER, MPI_SUM, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, r, blk, MPI_INTEGER, MPI_SUM, comm
#include "three.inc"
#undef ARGS
    end if
    call check('scan', blk + 1)
#include "undef.inc"
  end subroutine

  subroutine test_exscan()
    integer :: i
    call operands(blk)
    do i = 1, blk
      expected(i) = summed(0, rank - 1, i)
    end do
#define COLL c_exscan
#define CALL MPI_Exscan
#define ICALL MPI_Iexscan
#define PCALL PERSISTENT(Exscan)
    if (in_place) then
#define ARGS MPI_IN_PLACE, r, blk, MPI_INTEGER, MPI_SUM, comm
#include "three.inc"
#undef ARGS
    else
#define ARGS s, r, blk, MPI_INTEGER, MPI_SUM, comm
#include "three.inc"
#undef ARGS
    end if
    if (rank > 0) call check('exscan', blk + 1) ! rank 0 gets nothing defined
#include "undef.inc"
  end subroutine
end module
