! details.F90: what Fortran passes in its own way: constants, statuses, user operations, LOGICAL,
! COMPLEX and pair types, absolute addresses, sections of arrays.
#include "interface.inc"
module details
  USE_MPI
  use support
  use requests, only: finish_request, base
  use iso_c_binding
  implicit none
  MPI_HEADER
  T_COMM :: comm
  integer :: rank, n, ierr

contains

  ! Reduce x to y, which becomes w, in two forms.
#define REDUCED_N(count, name, type, op, equals) \
    do form = blocking, nonblocking; \
      y = x; \
      call before_call(); \
      if (form == blocking) call MPI_Allreduce(x, y, count, type, op, comm, ierr); \
      if (form == nonblocking) call MPI_Iallreduce(x, y, count, type, op, comm, request, ierr); \
      if (form == nonblocking) call finish_request(request); \
      call after_call(c_allreduce, form, 1); \
      call expect(.not. left_to_host, 'not served'); \
      call expect(all(y equals w), name); \
    end do
#define REDUCED(name, type, op, equals) REDUCED_N(size(x), name, type, op, equals)

  subroutine test_logical()
    logical, target :: x(5), y(5), w(5)
    integer :: form
    T_REQUEST :: request
    x = [.true., rank > 0, .false., rank < n, n > 0]
    w = [.true., .false., .false., .true., .true.]
    REDUCED('land', MPI_LOGICAL, MPI_LAND, .eqv.)
    x = [.true., rank == 0, .false., rank == n, n > 0]
    w = [.true., .true., .false., .false., .true.]
    REDUCED('lor', MPI_LOGICAL, MPI_LOR, .eqv.)
    x = [.true., rank == 0, .false., .true., .true.]
    w = [mod(n, 2) == 1, .true., .false., mod(n, 2) == 1, mod(n, 2) == 1]
    REDUCED('lxor', MPI_LOGICAL, MPI_LXOR, .eqv.)
  end subroutine

  subroutine test_integers()
    integer(1), target :: x(3), y(3), w(3)
    integer :: form
    T_REQUEST :: request
    x = [1, 2, 3]
    w = [n, 2 * n, 3 * n]
    REDUCED('integer1', MPI_INTEGER1, MPI_SUM, ==)
    call integers2()
    call integers4()
    call integers8()
  end subroutine

  subroutine integers2()
    integer(2), target :: x(3), y(3), w(3)
    integer :: form
    T_REQUEST :: request
    x = int([rank, -rank, 300], 2)
    w = [n - 1, 0, 300]
    REDUCED('integer2', MPI_INTEGER2, MPI_MAX, ==)
  end subroutine

  subroutine integers4()
    integer(4), target :: x(3), y(3), w(3)
    integer :: form
    T_REQUEST :: request
    x = [rank, -rank, 70000]
    w = [0, 1 - n, 70000]
    REDUCED('integer4', MPI_INTEGER4, MPI_MIN, ==)
    x = [ishft(1, rank), 0, 8]
    w = [ishft(1, n) - 1, 0, 8]
    REDUCED('integer', MPI_INTEGER, MPI_BOR, ==)
  end subroutine

  subroutine integers8()
    integer(8), target :: x(2), y(2), w(2)
    integer :: form
    T_REQUEST :: request
    x = [5000000000_8, int(rank, 8)]
    w = [n * 5000000000_8, n * (n - 1_8) / 2]
    REDUCED('integer8', MPI_INTEGER8, MPI_SUM, ==)
    x = [2_8, int(rank, 8)]
    w = [2_8**n, 0_8]
    REDUCED('aint', MPI_AINT, MPI_PROD, ==)
    x = [2_8, int(rank, 8)]
    w = [2_8, n - 1_8]
    REDUCED('offset', MPI_OFFSET, MPI_MAX, ==)
    x = [2_8, int(rank, 8)]
    w = [2_8, n - 1_8]
    REDUCED('count', MPI_COUNT, MPI_MAX, ==)
  end subroutine

  subroutine test_reals()
    real(4), target :: x(2), y(2), w(2)
    integer :: form
    T_REQUEST :: request
    x = [0.5, real(rank)]
    w = [0.5 * n, n * (n - 1) / 2.0]
    REDUCED('real', MPI_REAL, MPI_SUM, ==)
    x = [0.5, real(rank)]
    w = [0.5, n - 1.0]
    REDUCED('real4', MPI_REAL4, MPI_MAX, ==)
    call reals8()
  end subroutine

  subroutine reals8()
    real(8), target :: x(2), y(2), w(2)
    integer :: form
    T_REQUEST :: request
    x = [0.5d0, dble(rank)]
    w = [0.5d0 * n, n * (n - 1) / 2d0]
    REDUCED('double precision', MPI_DOUBLE_PRECISION, MPI_SUM, ==)
    x = [0.5d0, dble(rank)]
    w = [0.5d0**n, 0d0]
    REDUCED('real8', MPI_REAL8, MPI_PROD, ==)
  end subroutine

  subroutine test_complex()
    complex(4), target :: x(2), y(2), w(2)
    integer :: form
    T_REQUEST :: request
    x = [(1.0, 2.0), cmplx(rank, -rank)]
    w = [cmplx(n, 2 * n), (1.0, -1.0) * (n * (n - 1) / 2)]
    REDUCED('complex', MPI_COMPLEX, MPI_SUM, ==)
    x = [(0.0, 1.0), (1.0, 0.0)]
    w = [(0.0, 1.0)**n, (1.0, 0.0)]
    REDUCED('complex8', MPI_COMPLEX8, MPI_PROD, ==)
    call complexes16()
  end subroutine

  subroutine complexes16()
    complex(8), target :: x(2), y(2), w(2)
    integer :: form
    T_REQUEST :: request
    x = [(1d0, 2d0), (0d0, 1d0) * rank]
    w = [(1d0, 2d0) * n, (0d0, 1d0) * (n * (n - 1) / 2)]
    REDUCED('double complex', MPI_DOUBLE_COMPLEX, MPI_SUM, ==)
    x = [(0d0, 1d0), (1d0, 0d0)]
    w = [(0d0, 1d0)**n, (1d0, 0d0)]
    REDUCED('complex16', MPI_COMPLEX16, MPI_PROD, ==)
  end subroutine

  ! Value and place: MPI_2INTEGER, MPI_2REAL, MPI_2DOUBLE_PRECISION are two numbers of one type.
  subroutine test_pairs()
    integer, target :: x(2), y(2), w(2)
    integer :: form
    T_REQUEST :: request
    x = -rank
    x(2) = rank
    w = [1 - n, n - 1]
    REDUCED_N(1, '2integer minloc', MPI_2INTEGER, MPI_MINLOC, ==)
    x = 7
    x(2) = rank
    w = [7, 0]
    REDUCED_N(1, '2integer maxloc of equals', MPI_2INTEGER, MPI_MAXLOC, ==)
    call pairs_real()
    call pairs_double()
  end subroutine

  subroutine pairs_real()
    real, target :: x(2), y(2), w(2)
    integer :: form
    T_REQUEST :: request
    x = 0.5 * rank
    x(2) = rank
    w = [0.5 * (n - 1), n - 1.0]
    REDUCED_N(1, '2real maxloc', MPI_2REAL, MPI_MAXLOC, ==)
    x = 0.5 * rank
    x(2) = rank
    w = [0.0, 0.0]
    REDUCED_N(1, '2real minloc', MPI_2REAL, MPI_MINLOC, ==)
  end subroutine

  subroutine pairs_double()
    double precision, target :: x(2), y(2), w(2)
    integer :: form
    T_REQUEST :: request
    x = 0.5d0 * rank
    x(2) = rank
    w = [0.5d0 * (n - 1), n - 1d0]
    REDUCED_N(1, '2double maxloc', MPI_2DOUBLE_PRECISION, MPI_MAXLOC, ==)
    x = 0.5d0 * rank
    x(2) = rank
    w = [0d0, 0d0]
    REDUCED_N(1, '2double minloc', MPI_2DOUBLE_PRECISION, MPI_MINLOC, ==)
  end subroutine

  ! ---- user operations ----

#if IFACE == 3
  subroutine largest_digits(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    if (datatype /= MPI_INTEGER) call fail('the datatype of a user operation')
    b = max(a, b)
  end subroutine

  subroutine compose(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:, :), b(:, :)
    call c_f_pointer(invec, a, [2, len])
    call c_f_pointer(inoutvec, b, [2, len])
    call compose_all(a, b, len)
  end subroutine
#else
  subroutine largest_digits(invec, inoutvec, len, datatype)
    integer :: len, datatype, invec(len), inoutvec(len)
    if (datatype /= MPI_INTEGER) call fail('the datatype of a user operation')
    inoutvec = max(invec, inoutvec)
  end subroutine

  subroutine compose(invec, inoutvec, len, datatype)
    integer :: len, datatype, invec(2, len), inoutvec(2, len)
    call compose_all(invec, inoutvec, len)
  end subroutine
#endif

  ! x -> a x + b modulo 1009; the earlier rank's is applied last, so the order matters.
  subroutine compose_all(a, b, len)
    integer, intent(in) :: len, a(2, len)
    integer, intent(inout) :: b(2, len)
    integer :: i
    do i = 1, len
      b(:, i) = [mod(a(1, i) * b(1, i), 1009), mod(a(1, i) * b(2, i) + a(2, i), 1009)]
    end do
  end subroutine

  subroutine test_user_operations()
    T_OP :: op, ordered
    T_DATATYPE :: map
    T_REQUEST :: request
    integer, target :: x(700), y(700), w(700), a(2, 300), b(2, 300), c(2, 300)
    integer :: form, i, p
    logical :: commutes
    call MPI_Op_create(largest_digits, .true., op, ierr)
    call MPI_Op_create(compose, .false., ordered, ierr)
    call MPI_Op_commutative(ordered, commutes, ierr)
    call expect(.not. commutes, 'MPI_Op_commutative')
    x = [(i * mod(rank + i, n), i=1, 700)]
    w = [(i * (n - 1), i=1, 700)]
    REDUCED('a user operation', MPI_INTEGER, op, ==)
    call MPI_Type_contiguous(2, MPI_INTEGER, map, ierr)
    call MPI_Type_commit(map, ierr)
    do p = n - 1, 0, -1
      a = reshape([(2 + mod(7 * p + i, 5), 1 + mod(3 * p + i, 11), i=1, 300)], [2, 300])
      if (p == n - 1) c = a
      if (p < n - 1) call compose_all(a, c, 300)
    end do
    a = reshape([(2 + mod(7 * rank + i, 5), 1 + mod(3 * rank + i, 11), i=1, 300)], [2, 300])
    do form = blocking, nonblocking
      b = -1
      call before_call()
      if (form == blocking) call MPI_Allreduce(a, b, 300, map, ordered, comm, ierr)
      if (form == nonblocking) call MPI_Iallreduce(a, b, 300, map, ordered, comm, request, ierr)
      if (form == nonblocking) call finish_request(request)
      call after_call(c_allreduce, form, 1)
      call expect(all(b == c), 'a user operation that does not commute')
    end do
    call MPI_Type_free(map, ierr)
    call MPI_Op_free(op, ierr)
    call MPI_Op_free(ordered, ierr)
  end subroutine

  ! ---- addresses ----

  subroutine test_bottom()
    integer, target, save :: first(3), second(2)
    integer(MPI_ADDRESS_KIND) :: at(2)
    T_DATATYPE :: absolute
    T_REQUEST :: request
    integer :: form
    call MPI_Get_address(first, at(1), ierr)
    call MPI_Get_address(second, at(2), ierr)
    call MPI_Type_create_hindexed(2, [3, 2], at, MPI_INTEGER, absolute, ierr)
    call MPI_Type_commit(absolute, ierr)
    do form = blocking, nonblocking
      first = rank
      second = rank
      if (rank == n - 1) first = [11, 12, 13]
      if (rank == n - 1) second = [14, 15]
      call before_call()
      if (form == blocking) call MPI_Bcast(MPI_BOTTOM, 1, absolute, n - 1, comm, ierr)
      if (form == nonblocking) call MPI_Ibcast(MPI_BOTTOM, 1, absolute, n - 1, comm, request, ierr)
      if (form == nonblocking) call finish_request(request)
      call after_call(c_bcast, form, 1)
      call touch(first, second)
      call expect(all(first == [11, 12, 13]) .and. all(second == [14, 15]), 'MPI_BOTTOM')
    end do
    call MPI_Type_free(absolute, ierr)
  end subroutine

  ! The compiler must not keep copies of what MPI_BOTTOM reaches.
  subroutine touch(a, b)
    integer, intent(inout) :: a(:), b(:)
    if (size(a) + size(b) < 0) a = b
  end subroutine

  subroutine test_characters()
    character(len=12), target, save :: text, all_text(64)
    integer :: p
    write (text, '("rank ", i4.4, "...")') rank
    all_text = ''
    call before_call()
    call MPI_Allgather(text, 12, MPI_CHARACTER, all_text, 12, MPI_CHARACTER, comm, ierr)
    call after_call(c_allgather, blocking, 1)
    do p = 0, n - 1
      write (text, '("rank ", i4.4, "...")') p
      call expect(all_text(p + 1) == text, 'characters')
    end do
  end subroutine

  ! ---- several requests at once, some of them messages ----

  subroutine test_request_sets()
    T_REQUEST :: list(4)
    STATUSES(4)
    T_STATUS :: status
    integer, target, save :: in, out, got, sent, data(2)
    integer :: way, done, count, k, at, places(4), next, before
    logical :: over
    next = mod(rank + 1, n)
    before = mod(rank + n - 1, n)
    do way = 1, 8
      in = rank
      sent = rank
      data = 0
      if (rank == 0) data = [5, 6]
      call before_call()
      call MPI_Iallreduce(in, out, 1, MPI_INTEGER, MPI_SUM, comm, list(1), ierr)
      call MPI_Irecv(got, 1, MPI_INTEGER, before, 77, comm, list(2), ierr)
      call MPI_Ibcast(data, 2, MPI_INTEGER, 0, comm, list(3), ierr)
      call MPI_Isend(sent, 1, MPI_INTEGER, next, 77, comm, list(4), ierr)
      done = 0
      over = .false.
      select case (way)
      case (1)
        call MPI_Waitall(4, list, many, ierr)
        call expect(SOURCE_OF_ENTRY(2) == before .and. TAG_OF_ENTRY(2) == 77, 'MPI_Waitall: statuses')
      case (2)
        call MPI_Waitall(4, list, MPI_STATUSES_IGNORE, ierr)
      case (3)
        do while (.not. over)
          call MPI_Testall(4, list, over, many, ierr)
        end do
        call expect(SOURCE_OF_ENTRY(2) == before .and. TAG_OF_ENTRY(2) == 77, 'MPI_Testall: statuses')
      case (4)
        do while (done < 4)
          call MPI_Waitsome(4, list, count, places, many, ierr)
          do k = 1, count
            if (places(k) - base == 1) call expect(SOURCE_OF_ENTRY(k) == before .and. TAG_OF_ENTRY(k) == 77, 'MPI_Waitsome')
          end do
          done = done + count
        end do
      case (5)
        do while (done < 4)
          call MPI_Testsome(4, list, count, places, MPI_STATUSES_IGNORE, ierr)
          done = done + count
        end do
      case (6)
        do while (done < 4)
          call MPI_Waitany(4, list, at, status, ierr)
          if (at - base == 1) call expect(SOURCE_OF(status) == before .and. TAG_OF(status) == 77, 'MPI_Waitany: status')
          done = done + 1
        end do
      case (7)
        do while (done < 4)
          call MPI_Testany(4, list, at, over, status, ierr)
          if (over .and. at - base == 1) call expect(SOURCE_OF(status) == before, 'MPI_Testany: status')
          if (over) done = done + 1
        end do
      case default
        do k = 4, 1, -1
          call MPI_Wait(list(k), status, ierr)
          if (k == 2) call expect(SOURCE_OF(status) == before .and. TAG_OF(status) == 77, 'MPI_Wait: status')
        end do
      end select
      call after_call(c_allreduce, nonblocking, 2)
      made(c_allreduce) = made(c_allreduce) - 1
      made(c_bcast) = made(c_bcast) + 1
      call expect(all(list == MPI_REQUEST_NULL), 'requests are null at the end')
      call touch(data, data)
      call expect(out == n * (n - 1) / 2 .and. got == before .and. all(data == [5, 6]), 'several requests at once')
    end do
  end subroutine

  ! ---- communicators ----

  subroutine test_communicators()
    T_COMM :: made_of(4)
    T_GROUP :: group
    T_REQUEST :: request
    integer, target :: x(1), y(1), w(1)
    integer :: k, me, size_of, sum_of, p
    call MPI_Comm_dup(comm, made_of(1), ierr)
    call MPI_Comm_split(comm, mod(rank, 2), -rank, made_of(2), ierr)
    call MPI_Comm_group(comm, group, ierr)
    call MPI_Comm_create(comm, group, made_of(3), ierr)
    call MPI_Comm_idup(comm, made_of(4), request, ierr)
    call finish_request(request)
    do k = 1, 4
      call MPI_Comm_rank(made_of(k), me, ierr)
      call MPI_Comm_size(made_of(k), size_of, ierr)
      sum_of = 0
      do p = 0, n - 1
        if (k /= 2 .or. mod(p, 2) == mod(rank, 2)) sum_of = sum_of + p
      end do
      x = rank
      call before_call()
      call MPI_Allreduce(x, y, 1, MPI_INTEGER, MPI_SUM, made_of(k), ierr)
      call after_call(c_allreduce, blocking, 1)
      call expect(y(1) == sum_of, 'allreduce on a new communicator')
      if (me == size_of - 1) x = 100 + k
      call before_call()
      call MPI_Ibcast(x, 1, MPI_INTEGER, size_of - 1, made_of(k), request, ierr)
      call finish_request(request)
      call after_call(c_bcast, nonblocking, 1)
      call expect(x(1) == 100 + k, 'ibcast on a new communicator')
      call MPI_Comm_free(made_of(k), ierr)
    end do
    call MPI_Group_free(group, ierr)
  end subroutine

  ! ---- sections of arrays; MPICH makes derived types of them, with which it cannot reduce ----

#if IFACE == 3
  subroutine test_sections()
    integer, target, save :: a(6, 6), b(6, 6), wide(64, 8)
    integer :: i, form
    type(MPI_Request) :: request
    if (.not. MPI_SUBARRAYS_SUPPORTED) return
    do form = blocking, nonblocking
      a = reshape([(100 * rank + i, i=1, 36)], [6, 6])
      b = -1
      if (rank == 0) b(2:5:3, ::2) = a(2:5:3, ::2)
      call before_call()
      if (form == blocking) call MPI_Bcast(b(2:5:3, ::2), 6, MPI_INTEGER, 0, comm, ierr)
      if (form == nonblocking) call MPI_Ibcast(b(2:5:3, ::2), 6, MPI_INTEGER, 0, comm, request, ierr)
      if (form == nonblocking) call finish_request(request)
      call after_call(c_bcast, form, 1)
      call expect(all(b(2:5:3, 1) == [2, 5]) .and. all(b(2:5:3, 5) == [26, 29]), 'sections in a bcast')
      b(2:5:3, ::2) = -1
      call expect(all(b == -1), 'a bcast writes beside its section')

      wide = -1
      call before_call()
      if (form == blocking) call MPI_Allgather(a(3, ::2), 3, MPI_INTEGER, wide(1:3 * n, 4), 3, MPI_INTEGER, comm, ierr)
      if (form == nonblocking) &
        call MPI_Iallgather(a(3, ::2), 3, MPI_INTEGER, wide(1:3 * n, 4), 3, MPI_INTEGER, comm, request, ierr)
      if (form == nonblocking) call finish_request(request)
      call after_call(c_allgather, form, 1)
      do i = 0, n - 1
        call expect(all(wide(3 * i + 1:3 * i + 3, 4) == 100 * i + [3, 15, 27]), 'sections in an allgather')
      end do

      b = -1
      wide(:, 1) = [(100 + i, i=1, 64)]
      call before_call()
      if (form == blocking) call MPI_Scatter(wide(:, 1), 3, MPI_INTEGER, b(2:6:2, 3), 3, MPI_INTEGER, 0, comm, ierr)
      if (form == nonblocking) &
        call MPI_Iscatter(wide(:, 1), 3, MPI_INTEGER, b(2:6:2, 3), 3, MPI_INTEGER, 0, comm, request, ierr)
      if (form == nonblocking) call finish_request(request)
      call after_call(c_scatter, form, 1)
      call expect(all(b(2:6:2, 3) == 100 + 3 * rank + [1, 2, 3]), 'sections in a scatter')
      b(2:6:2, 3) = -1
      call expect(all(b == -1), 'a scatter writes beside its section')
    end do
  end subroutine
#endif
end module
