! SPDX-License-Identifier: Apache-2.0
! The module mpi_f08: handles, optional ierror, subarrays, keywords, callbacks, large counts.
module operations
  use mpi_f08
  implicit none
contains
  subroutine add(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = a + b
    if (datatype /= MPI_INTEGER) b = -1
  end subroutine

  subroutine copy_attribute(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, &
      flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in + extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
end module

program main
  use mpi_f08
  use operations
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: rank, nprocs, left, right, n, i, total, keyval, ierr, wrong, coords(1), cell
  integer :: grid(4, 6), other(4, 6), line(6), got(3)
  integer(kind=MPI_COUNT_KIND) :: wide, large
  integer(kind=MPI_ADDRESS_KIND) :: value, bytes
  integer, pointer :: shared(:)
  logical :: flag, periods(1)
  type(MPI_Comm) :: copy, ring
  type(MPI_Status) :: status, both(2)
  type(MPI_Request) :: requests(2)
  type(MPI_Datatype) :: column
  type(MPI_Op) :: own
  type(MPI_Win) :: win
  type(MPI_Info) :: info
  type(c_ptr) :: base
  character(len=MPI_MAX_OBJECT_NAME) :: name

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  wrong = merge(0, 1, ierr == MPI_SUCCESS)
  left = modulo(rank - 1, nprocs)
  right = modulo(rank + 1, nprocs)

  ! A row of a matrix is not contiguous.
  grid = reshape([(100 * rank + i, i = 1, 24)], [4, 6])
  other = -1
  call MPI_Sendrecv(grid(2, :), 6, MPI_INTEGER, right, 7, other(3, :), 6, MPI_INTEGER, left, 7, &
      MPI_COMM_WORLD, status)
  call MPI_Get_count(status, MPI_INTEGER, n)
  if (n /= 6 .or. status%MPI_SOURCE /= left .or. status%MPI_TAG /= 7) wrong = wrong + 1
  do i = 1, 6
    if (other(3, i) /= 100 * left + 4 * (i - 1) + 2) wrong = wrong + 1
  end do
  if (any(other(1, :) /= -1) .or. any(other(4, :) /= -1)) wrong = wrong + 1
  ! Nonblocking, every other element of every other column, of which only some are sent.
  other = -1
  call MPI_Irecv(other(1:4:2, 1:6:2), 5, MPI_INTEGER, left, 8, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(grid(1:4:2, 1:6:2), 5, MPI_INTEGER, right, tag=8, comm=MPI_COMM_WORLD, &
      request=requests(2))
  call MPI_Waitall(2, requests, both)
  if (any(requests /= MPI_REQUEST_NULL)) wrong = wrong + 1
  if (other(3, 3) /= 100 * left + 11 .or. other(1, 5) /= 100 * left + 17) wrong = wrong + 1
  if (other(3, 5) /= -1 .or. other(2, 1) /= -1) wrong = wrong + 1

  ! Reductions, in place and with an operation of the program.
  total = rank
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (total /= nprocs * (nprocs - 1) / 2) wrong = wrong + 1
  call MPI_Op_create(add, .true., own)
  call MPI_Reduce(rank, total, 1, MPI_INTEGER, own, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. total /= nprocs * (nprocs - 1) / 2) wrong = wrong + 1
  call MPI_Op_free(own)
  if (own /= MPI_OP_NULL) wrong = wrong + 1

  ! Large counts are overloads.
  wide = 6
  line = rank
  call MPI_Bcast(line, wide, MPI_INTEGER, 0, MPI_COMM_WORLD)
  if (any(line /= 0)) wrong = wrong + 1
  call MPI_Type_vector(wide, 1_MPI_COUNT_KIND, 4_MPI_COUNT_KIND, MPI_INTEGER, column)
  call MPI_Type_commit(column)
  call MPI_Type_size(column, large)
  if (large /= 24) wrong = wrong + 1
  call MPI_Type_free(column)

  ! Attributes, names, infos.
  call MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, keyval, 5_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, 37_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy)
  call MPI_Comm_get_attr(copy, keyval, value, flag)
  if (.not. flag .or. value /= 42) wrong = wrong + 1
  call MPI_Comm_set_name(copy, "a copy")
  call MPI_Comm_get_name(copy, name, n)
  if (n /= 6 .or. name /= "a copy") wrong = wrong + 1
  call MPI_Comm_free(copy)
  if (copy /= MPI_COMM_NULL) wrong = wrong + 1
  call MPI_Comm_free_keyval(keyval)
  call MPI_Info_create(info)
  call MPI_Info_set(info, "key", "value")
  call MPI_Info_get(info, "key", 10, name, flag)
  if (.not. flag .or. name /= "value") wrong = wrong + 1
  call MPI_Info_free(info)

  ! Topologies: logical arguments.
  periods = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [nprocs], periods, .false., ring)
  call MPI_Cart_get(ring, 1, line, periods, coords)
  if (.not. periods(1) .or. coords(1) /= rank) wrong = wrong + 1
  call MPI_Comm_free(ring)

  ! Windows.
  call MPI_Win_allocate(int(4 * 3, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, shared, [3])
  shared = [rank, rank + 1, rank + 2]
  call MPI_Win_fence(0, win)
  call MPI_Get(got, 3, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 3, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  if (any(got /= [right, right + 1, right + 2])) wrong = wrong + 1
  call MPI_Win_free(win)
  call MPI_Get_address(grid, bytes)
  if (MPI_Aint_diff(MPI_Aint_add(bytes, 8_MPI_ADDRESS_KIND), bytes) /= 8) wrong = wrong + 1

  cell = rank
  call MPI_Sendrecv_replace(cell, 1, MPI_INTEGER, right, 1, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  if (cell /= left) wrong = wrong + 1
  if (MPI_Wtime() < 0) wrong = wrong + 1
  call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0) print '(i0, a)', total, " wrong"
  call MPI_Finalize()
end program
