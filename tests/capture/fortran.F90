! SPDX-License-Identifier: Apache-2.0
! Calls from Fortran, through whichever interface is chosen: USE_F08, USE_MPI, or mpif.h.
#if defined(USE_F08)
#define REQUEST type(MPI_Request)
#define COMM type(MPI_Comm)
#define WINDOW type(MPI_Win)
#define MESSAGE type(MPI_Message)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#define SOURCE(name) name%MPI_SOURCE
#else
#define REQUEST integer
#define COMM integer
#define WINDOW integer
#define MESSAGE integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define SOURCE(name) name(MPI_SOURCE)
#endif

program fortran
#if defined(USE_F08)
  use mpi_f08
  implicit none
#elif defined(USE_MPI)
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer :: rank, size, left, right, ierr, i, n, place
  integer :: out(64), in(64), counts(64), places(64), indices(8)
  logical :: flag
  REQUEST :: requests(8), one
  COMM :: copy, half
  WINDOW :: window
  MESSAGE :: found
  STATUS(seen)
  STATUSES(all_seen, 8)
  integer(kind=MPI_ADDRESS_KIND) :: bytes, at

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  out = rank

  call MPI_Sendrecv(out, 4, MPI_INTEGER, right, 1, in, 4, MPI_INTEGER, left, 1, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  if (in(1) /= left) call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
  call MPI_Isend(out, 4, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, one, ierr)
  call MPI_Recv(in, 4, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &
                MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(one, MPI_STATUS_IGNORE, ierr)

  call MPI_Pcontrol(2)
  call post()
  call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, ierr)
  call MPI_Pcontrol(-2)
  call post()
  do i = 1, 8
    call MPI_Waitany(8, requests, place, MPI_STATUS_IGNORE, ierr)
  end do
  call post()
  i = 0
  do while (i < 8)
    call MPI_Waitsome(8, requests, n, indices, all_seen, ierr)
    i = i + n
  end do
  call post()
  i = 0
  do while (i < 8)
    call MPI_Testany(8, requests, place, flag, seen, ierr)
    if (flag) i = i + 1
  end do
  call post()
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(8, requests, flag, MPI_STATUSES_IGNORE, ierr)
  end do

  call MPI_Isend(out, 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, one, ierr)
  call MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, seen, ierr)
  call MPI_Recv(in, 1, MPI_INTEGER, SOURCE(seen), 5, MPI_COMM_WORLD, seen, ierr)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(one, flag, seen, ierr)
  end do
  call MPI_Isend(out, 1, MPI_INTEGER, right, 6, MPI_COMM_WORLD, one, ierr)
  call MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, found, seen, ierr)
  call MPI_Mrecv(in, 1, MPI_INTEGER, found, seen, ierr)
  call MPI_Wait(one, seen, ierr)

  call MPI_Send_init(out, 1, MPI_INTEGER, right, 7, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Recv_init(in, 1, MPI_INTEGER, left, 7, MPI_COMM_WORLD, requests(2), ierr)
  do i = 1, 2
    call MPI_Startall(2, requests, ierr)
    call MPI_Waitall(2, requests, all_seen, ierr)
  end do
  call MPI_Request_free(requests(1), ierr)
  call MPI_Request_free(requests(2), ierr)

  do i = 1, size
    counts(i) = mod(i, 3) + 1
    places(i) = 4 * (i - 1)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Bcast(in, 3, MPI_INTEGER, size - 1, MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Reduce(out, in, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  call MPI_Gatherv(out, counts(rank + 1), MPI_INTEGER, in, counts, places, MPI_INTEGER, 0, &
                   MPI_COMM_WORLD, ierr)
  call MPI_Alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call MPI_Iallreduce(out, in, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, one, ierr)
  call MPI_Wait(one, MPI_STATUS_IGNORE, ierr)

  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
  call MPI_Comm_split(copy, mod(rank, 2), rank, half, ierr)
  call MPI_Scan(out, in, 1, MPI_INTEGER, MPI_SUM, half, ierr)
  call MPI_Comm_free(half, ierr)
  call MPI_Comm_free(copy, ierr)

  bytes = 256
  at = 0
  call MPI_Win_create(in, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierr)
  call MPI_Win_fence(0, window, ierr)
  call MPI_Put(out, 1, MPI_INTEGER, right, at, 1, MPI_INTEGER, window, ierr)
  call MPI_Win_fence(0, window, ierr)
  call MPI_Win_free(window, ierr)
  if (rank == 0) print '(a, i0, a)', 'all ', size, ' ranks are right'
  call MPI_Finalize(ierr)

contains
  subroutine post()
    integer :: k
    do k = 1, 4
      call MPI_Irecv(in(k), 1, MPI_INTEGER, merge(MPI_ANY_SOURCE, left, mod(k, 2) == 0), &
                     20 + k, MPI_COMM_WORLD, requests(k), ierr)
    end do
    do k = 1, 4
      call MPI_Isend(out(k), 1, MPI_INTEGER, right, 20 + k, MPI_COMM_WORLD, requests(4 + k), ierr)
    end do
  end subroutine post
end program fortran
