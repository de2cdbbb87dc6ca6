! random.F90: random collectives, random [SEED [CASES [ONLY]]]. Each case is a collective with a
! type, counts, a root, a communicator and a form, all from the seed, which is printed. What a rank has
! is a formula of case, rank and place, so every rank knows what it must get, to the last byte of its
! buffer. Several nonblocking cases are in flight at once. ONLY runs that one case.
#include "interface.inc"
module random_cases
  USE_MPI
  use support
  use iso_c_binding
  implicit none
  MPI_HEADER

  enum, bind(c)
    enumerator :: t_int = 1, t_int8, t_real, t_double, t_complex, t_dcomplex, t_logical, t_2int, t_2real, t_2double, &
      t_map
  end enum
  integer, parameter :: ntypes = 11, width(ntypes) = [4, 8, 4, 8, 8, 16, 4, 8, 8, 16, 8]
  integer, parameter :: nops = 12, modulus = 10007
  enum, bind(c)
    enumerator :: o_sum = 1, o_max, o_min, o_prod, o_band, o_bxor, o_land, o_lor, o_lxor, o_minloc, o_maxloc, o_map
  end enum
  integer, parameter :: room = 1200000, nslots = 4, ncomms = 4

  type element ! a value of any type as two small integers
    integer :: x, y
  end type
  type slot
    integer(1), allocatable :: sbuf(:), rbuf(:), expected(:)
    integer, allocatable :: scounts(:), sdispls(:), rcounts(:), rdispls(:)
    T_DATATYPE, allocatable :: types(:)
    T_REQUEST :: request
    integer :: coll, ty, bytes, id = 0
  end type

  type(slot), target :: slots(nslots)
  T_COMM :: comms(ncomms)
  T_DATATYPE :: kinds(ntypes)
  T_OP :: ops(nops)
  integer(i8) :: seed
  integer :: draws, ierr

  ! The case at hand.
  T_COMM :: comm
  integer :: id, coll, ty, op, root, rank, n, form, base
  logical :: in_place
  logical :: careful       ! the host may serve alltoallw, for which see interfaces.F90: without Skein, or early
  logical :: only_blocking ! calls with arrays: what the host errs in by itself

contains

  ! The next random number of the case, 0 .. below - 1, equal on all ranks.
  integer function draw(below)
    integer, intent(in) :: below
    draws = draws + 1
    draw = mod(hash(seed, id, draws), below)
  end function

  ! What rank p of the communicator has at place i.
  pure type(element) function given(p, i)
    integer, intent(in) :: p, i
    integer :: h
    h = hash(seed + 977 * id, p, i)
    select case (ty)
    case (t_logical)
      given = element(mod(h, 2), 0)
    case (t_complex, t_dcomplex)
      given = element(mod(h, 7) - 3, mod(h / 7, 7) - 3)
    case (t_2int, t_2real, t_2double)
      given = element(mod(h, 5), mod(h / 5, 1000))
    case (t_map)
      given = element(1 + mod(h, 50), mod(h / 50, 50))
    case default
      given = element(mod(h, 9) - 4, 0)
    end select
  end function

  pure function bytes_of(e) result(b)
    type(element), intent(in) :: e
    integer(1) :: b(width(ty))
    select case (ty)
    case (t_int)
      b = transfer(int(e%x, 4), b)
    case (t_int8)
      b = transfer(int(e%x, 8), b)
    case (t_real)
      b = transfer(real(e%x, 4), b)
    case (t_double)
      b = transfer(real(e%x, 8), b)
    case (t_complex)
      b = transfer(cmplx(e%x, e%y, 4), b)
    case (t_dcomplex)
      b = transfer(cmplx(e%x, e%y, 8), b)
    case (t_logical)
      b = transfer(e%x == 1, b)
    case (t_2real)
      b = transfer([real(e%x, 4), real(e%y, 4)], b)
    case (t_2double)
      b = transfer([real(e%x, 8), real(e%y, 8)], b)
    case default
      b = transfer([e%x, e%y], b)
    end select
  end function

  subroutine put(buffer, at, e)
    integer(1), intent(inout) :: buffer(:)
    integer, intent(in) :: at ! element, from 0
    type(element), intent(in) :: e
    buffer(at * width(ty) + 1:(at + 1) * width(ty)) = bytes_of(e)
  end subroutine

  ! The definition of every operation; a is of the earlier ranks.
  pure type(element) function combined(a, b)
    type(element), intent(in) :: a, b
    combined = a
    select case (op)
    case (o_sum)
      combined = element(a%x + b%x, a%y + b%y)
    case (o_prod)
      combined = element(a%x * b%x - a%y * b%y, a%x * b%y + a%y * b%x)
    case (o_max)
      combined%x = max(a%x, b%x)
    case (o_min)
      combined%x = min(a%x, b%x)
    case (o_band)
      combined%x = iand(a%x, b%x)
    case (o_bxor)
      combined%x = ieor(a%x, b%x)
    case (o_land)
      combined%x = a%x * b%x
    case (o_lor)
      combined%x = max(a%x, b%x)
    case (o_lxor)
      combined%x = mod(a%x + b%x, 2)
    case (o_minloc)
      if (b%x < a%x .or. (b%x == a%x .and. b%y < a%y)) combined = b
    case (o_maxloc)
      if (b%x > a%x .or. (b%x == a%x .and. b%y < a%y)) combined = b
    case default
      combined = element(mod(a%x * b%x, modulus), mod(a%x * b%y + a%y, modulus))
    end select
  end function

  type(element) function reduced(last, i)
    integer, intent(in) :: last, i
    integer :: p
    reduced = given(0, i)
    do p = 1, last
      reduced = combined(reduced, given(p, i))
    end do
  end function

#if IFACE == 3
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
  subroutine compose(invec, inoutvec, len, datatype)
    integer :: len, datatype, invec(2, len), inoutvec(2, len)
    call compose_all(invec, inoutvec, len)
  end subroutine
#endif

  subroutine compose_all(a, b, len)
    integer, intent(in) :: len, a(2, len)
    integer, intent(inout) :: b(2, len)
    integer :: i
    do i = 1, len
      b(:, i) = [mod(a(1, i) * b(1, i), modulus), mod(a(1, i) * b(2, i) + a(2, i), modulus)]
    end do
  end subroutine

  subroutine prepare()
    integer :: me, k
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    comms(1) = MPI_COMM_WORLD
    call MPI_Comm_dup(MPI_COMM_WORLD, comms(2), ierr)
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -me, comms(3), ierr)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(me, 2), me, comms(4), ierr)
    call MPI_Type_contiguous(2, MPI_INTEGER, kinds(t_map), ierr)
    call MPI_Type_commit(kinds(t_map), ierr)
    kinds(1:10) = [MPI_INTEGER, MPI_INTEGER8, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, &
      MPI_LOGICAL, MPI_2INTEGER, MPI_2REAL, MPI_2DOUBLE_PRECISION]
    ops(1:11) = [MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD, MPI_BAND, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MINLOC, &
      MPI_MAXLOC]
    call MPI_Op_create(compose, .false., ops(o_map), ierr)
    do k = 1, nslots
      allocate (slots(k)%sbuf(room), slots(k)%rbuf(room), slots(k)%expected(room))
      allocate (slots(k)%scounts(64), slots(k)%sdispls(64), slots(k)%rcounts(64), slots(k)%rdispls(64), &
        slots(k)%types(64))
    end do
  end subroutine

  subroutine release()
    integer :: k
    do k = 2, ncomms
      call MPI_Comm_free(comms(k), ierr)
    end do
    call MPI_Type_free(kinds(t_map), ierr)
    call MPI_Op_free(ops(o_map), ierr)
  end subroutine

  ! An operation for the type of the case.
  subroutine choose_op()
    select case (ty)
    case (t_int, t_int8)
      op = o_sum + draw(6)
    case (t_real, t_double)
      op = o_sum + draw(4)
    case (t_complex, t_dcomplex)
      op = merge(o_sum, o_prod, draw(2) == 0)
    case (t_logical)
      op = o_land + draw(3)
    case (t_map)
      op = o_map
    case default
      op = o_minloc + draw(2)
    end select
  end subroutine

  ! Mostly short, seldom long.
  integer function draw_count()
    select case (draw(10))
    case (0)
      draw_count = 0
    case (1:6)
      draw_count = 1 + draw(20)
    case (7:8)
      draw_count = 1 + draw(600)
    case default
      draw_count = 1 + draw(room / (20 * 64))
    end select
  end function

  integer function length(a, b) ! of the message from a to b, for the v forms
    integer, intent(in) :: a, b
    length = mod(hash(seed, id + 5 * a, 31 * b), base + 1)
  end function

  ! Start, or do, the case `which` in a slot.
  subroutine run_case(which, k)
    integer, intent(in) :: which, k
    id = which
    draws = 0
    comm = comms(1 + draw(ncomms))
    call MPI_Comm_rank(comm, rank, ierr)
    call MPI_Comm_size(comm, n, ierr)
    coll = 1 + draw(c_exscan)
    ty = 1 + draw(ntypes)
    call choose_op()
    base = draw_count()
    root = mod(draw(997), n)
    form = blocking + draw(2)
    if (coll == c_alltoallw .and. careful .or. only_blocking .and. has_arrays(coll)) form = blocking
    in_place = draw(4) == 0
    slots(k)%coll = coll
    slots(k)%ty = ty
    slots(k)%id = id
    call fill(slots(k))
    call issue(slots(k), slots(k)%sbuf, slots(k)%rbuf)
    made(coll) = made(coll) + 1
    if (form == blocking) call compare(slots(k))
  end subroutine

  pure logical function has_arrays(coll)
    integer, intent(in) :: coll
    has_arrays = any(coll == [c_scatterv, c_gatherv, c_allgatherv, c_alltoallv, c_alltoallw, c_reduce_scatter])
  end function

  ! Where the blocks of the v forms stand: after each other, with a gap.
  subroutine spread(counts, displs)
    integer, intent(in) :: counts(:)
    integer, intent(out) :: displs(:)
    integer :: p, at
    at = 0
    do p = 1, n
      displs(p) = at
      at = at + counts(p) + mod(p, 2)
    end do
  end subroutine

  ! Counts and displacements, what is sent, and what must be in the receive buffer at the end.
  subroutine fill(c)
    type(slot), intent(inout) :: c
    integer :: p, i, at, m, me
    me = rank
    m = base
    do p = 0, n - 1
      select case (coll)
      case (c_alltoallv, c_alltoallw)
        c%scounts(p + 1) = merge(length(min(me, p), max(me, p)), length(me, p), in_place)
        c%rcounts(p + 1) = merge(length(min(me, p), max(me, p)), length(p, me), in_place)
      case default
        c%scounts(p + 1) = length(p, 0)
        c%rcounts(p + 1) = length(p, 0)
      end select
    end do
    call spread(c%scounts, c%sdispls)
    call spread(c%rcounts, c%rdispls)
    c%types(1:n) = kinds(ty)
    c%bytes = min(room, width(ty) * (n * (m + 2) + 4))
    c%sbuf(1:c%bytes) = 17
    c%rbuf(1:c%bytes) = 99
    c%expected(1:c%bytes) = 99
    select case (coll)
    case (c_bcast)
      do i = 0, m - 1
        call put(c%expected, i, given(root, i))
        if (me == root) call put(c%rbuf, i, given(root, i))
      end do
    case (c_scatter)
      do i = 0, n * m - 1
        if (me == root) call put(c%sbuf, i, given(root, i))
      end do
      do i = 0, m - 1
        if (.not. in_place .or. me /= root) call put(c%expected, i, given(root, me * m + i))
      end do
    case (c_scatterv)
      do p = 0, n - 1
        do i = 0, c%scounts(p + 1) - 1
          at = c%sdispls(p + 1) + i
          if (me == root) call put(c%sbuf, at, given(root, at))
          if (p == me .and. (.not. in_place .or. me /= root)) call put(c%expected, i, given(root, at))
        end do
      end do
    case (c_gather, c_allgather)
      do i = 0, m - 1
        call put(c%sbuf, i, given(me, i))
        do p = 0, n - 1
          if (coll == c_gather .and. me /= root) cycle
          call put(c%expected, p * m + i, given(p, i))
          if (in_place .and. p == me) call put(c%rbuf, p * m + i, given(p, i))
        end do
      end do
    case (c_gatherv, c_allgatherv)
      do p = 0, n - 1
        do i = 0, c%rcounts(p + 1) - 1
          if (p == me) call put(c%sbuf, i, given(me, i))
          if (coll == c_gatherv .and. me /= root) cycle
          call put(c%expected, c%rdispls(p + 1) + i, given(p, i))
          if (in_place .and. p == me) call put(c%rbuf, c%rdispls(p + 1) + i, given(p, i))
        end do
      end do
    case (c_alltoall)
      do p = 0, n - 1
        do i = 0, m - 1
          call put(c%sbuf, p * m + i, given(me, p * m + i))
          if (in_place) call put(c%rbuf, p * m + i, given(me, p * m + i))
          call put(c%expected, p * m + i, given(p, me * m + i))
        end do
      end do
    case (c_alltoallv, c_alltoallw)
      do p = 0, n - 1
        do i = 0, c%scounts(p + 1) - 1
          call put(c%sbuf, c%sdispls(p + 1) + i, given(me, p * room + i))
          if (in_place) call put(c%rbuf, c%sdispls(p + 1) + i, given(me, p * room + i))
        end do
        do i = 0, c%rcounts(p + 1) - 1
          call put(c%expected, c%rdispls(p + 1) + i, given(p, me * room + i))
        end do
      end do
      if (coll == c_alltoallw) c%sdispls = c%sdispls * width(ty)
      if (coll == c_alltoallw) c%rdispls = c%rdispls * width(ty)
    case (c_reduce, c_allreduce, c_scan, c_exscan)
      do i = 0, m - 1
        call put(c%sbuf, i, given(me, i))
        if (in_place .and. (coll /= c_reduce .or. me == root)) call put(c%rbuf, i, given(me, i))
        if (coll == c_scan) call put(c%expected, i, reduced(me, i))
        if (coll == c_exscan .and. me > 0) call put(c%expected, i, reduced(me - 1, i))
        if (coll == c_allreduce .or. (coll == c_reduce .and. me == root)) call put(c%expected, i, reduced(n - 1, i))
      end do
    case (c_reduce_scatter, c_reduce_scatter_block)
      at = 0
      do p = 0, n - 1
        if (coll == c_reduce_scatter_block) c%rcounts(p + 1) = m
        do i = 0, c%rcounts(p + 1) - 1
          call put(c%sbuf, at, given(me, at))
          if (in_place) call put(c%rbuf, at, given(me, at))
          if (p == me) call put(c%expected, i, reduced(n - 1, at))
          at = at + 1
        end do
      end do
      if (in_place) c%bytes = c%rcounts(me + 1) * width(ty) ! the rest of the buffer is the library's
    end select
    if (coll == c_exscan .and. me == 0) c%bytes = 0
    if (coll == c_alltoallw .and. in_place) c%sdispls = c%rdispls
  end subroutine

#include "random_issue.inc"

  ! Which zero a product gives depends on the order.
  subroutine clear_signs_of_zeros(c)
    type(slot), intent(inout) :: c
    integer :: i, w
    w = merge(4, 8, c%ty == t_real .or. c%ty == t_complex)
    do i = 1, c%bytes - w + 1, w
      if (w == 4) then
        if (transfer(c%rbuf(i:i + 3), 1.0_4) == 0) c%rbuf(i:i + 3) = 0
      else
        if (transfer(c%rbuf(i:i + 7), 1.0_8) == 0) c%rbuf(i:i + 7) = 0
      end if
    end do
  end subroutine

  subroutine compare(c)
    type(slot), intent(inout) :: c
    integer :: i
    character(len=200) :: text
    if (any(c%ty == [t_real, t_double, t_complex, t_dcomplex])) call clear_signs_of_zeros(c)
    do i = 1, c%bytes
      if (c%rbuf(i) == c%expected(i)) cycle
      write (text, '(a, " in case ", i0, ": byte ", i0, " of ", i0, " is ", i0, ", not ", i0)') &
        trim(coll_name(c%coll)), c%id, i, c%bytes, c%rbuf(i), c%expected(i)
      call fail(trim(text))
      exit
    end do
    c%id = 0
  end subroutine
end module

program random
  USE_MPI
  use support
  use random_cases, only: seed, careful, only_blocking, slots, nslots, prepare, release, run_case, compare
  implicit none
  MPI_HEADER
  integer :: ierr, there, i, k
  integer(i8) :: served, host, served_after, host_after, cases, only
  character(8) :: find

  program_name = 'random (' // INTERFACE // ')'
  call MPI_Init(ierr)
  call watch(300)
  call MPI_Comm_rank(MPI_COMM_WORLD, world_rank, ierr)
  call system_clock(seed)
  seed = argument(1, seed)
  cases = argument(2, 100_i8)
  only = argument(3, 0_i8)
  call MPI_Bcast(seed, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD, ierr)
  if (world_rank == 0) write (*, '("seed ", i0, ", ", i0, " cases")') seed, cases
  call prepare()
  there = skein_seen(served, host)
  call get_environment_variable('SKEIN_FIND', find)
  careful = there == 0 .or. find /= '0'
  ! In place its alltoallw waits for a rank whose counts are all 0; after a reduce_scatter it frees the counts.
  only_blocking = host_serves_arrays() /= 0
  if (only_blocking .and. world_rank == 0) write (*, '(a)') 'left out: nonblocking calls with arrays: the host ' // &
    'serves them, and errs or hangs in some'
  do i = 1, int(cases)
    if (only > 0 .and. i /= only) cycle
    k = 1 + mod(i, nslots)
    if (slots(k)%id /= 0) call complete(k)
    call run_case(i, k)
  end do
  do k = 1, nslots
    if (slots(k)%id /= 0) call complete(k)
  end do
  there = skein_seen(served_after, host_after)
  call expect(there == 0 .or. served_after + host_after - served - host == sum(made), &
    'Skein did not see each call exactly once')
  call release()
  call MPI_Finalize(ierr)
  call finish_program()

contains

  integer(i8) function argument(i, otherwise)
    integer, intent(in) :: i
    integer(i8), intent(in) :: otherwise
    character(len=32) :: text
    argument = otherwise
    if (command_argument_count() < i) return
    call get_command_argument(i, text)
    read (text, *) argument
  end function

  subroutine complete(k)
    integer, intent(in) :: k
    call MPI_Wait(slots(k)%request, MPI_STATUS_IGNORE, ierr)
    call compare(slots(k))
  end subroutine
end program
