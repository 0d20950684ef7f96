! SPDX-License-Identifier: Apache-2.0
! Two errors that weft run --check must find, in lines 11 and 12.
program faulty_use
  use mpi
  implicit none
  integer :: ierr, rank, n, request, sent(4), got(4)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  sent = rank
  call MPI_Isend(sent, 4, MPI_INTEGER, mod(rank + 1, n), 3, MPI_COMM_WORLD, request, ierr)
  call MPI_Recv(got, 4, MPI_REAL, mod(rank + n - 1, n), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call MPI_Finalize(ierr)
end program
