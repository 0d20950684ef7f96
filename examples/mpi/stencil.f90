! SPDX-License-Identifier: Apache-2.0
! Heat on a plate, as in stencil.c: Jacobi's method on a grid that is spread over ranks.
! usage: stencil [steps]
program stencil
  use mpi
  implicit none
  integer, parameter :: n = 16
  double precision :: now(0:n+1, 0:n+1), next(0:n+1, 0:n+1), change, most, corner, warmest
  integer :: rank, ranks, grid, row_type, ierr, step, steps, i, k
  integer :: dims(2), place(2), up, down, left, right, requests(8)
  logical :: periods(2)
  character(len=12) :: word

  steps = 50
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read(word, *) steps
  end if
  call mpi_init(ierr)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierr)
  dims = 0
  periods = .false.
  call mpi_dims_create(ranks, 2, dims, ierr)
  call mpi_cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierr)
  call mpi_comm_rank(grid, rank, ierr)
  call mpi_cart_coords(grid, rank, 2, place, ierr)
  call mpi_cart_shift(grid, 0, 1, up, down, ierr)
  call mpi_cart_shift(grid, 1, 1, left, right, ierr)
  call mpi_type_vector(n, 1, n + 2, MPI_DOUBLE_PRECISION, row_type, ierr)
  call mpi_type_commit(row_type, ierr)

  now = 0
  next = 0
  if (place(1) == 0) then   ! the upper edge of the whole plate is hot
    now(0, :) = 100
    next(0, :) = 100
  end if
  do step = 1, steps
    call exchange()
    change = 0
    do k = 1, n
      do i = 1, n
        next(i, k) = 0.25d0 * (now(i-1, k) + now(i+1, k) + now(i, k-1) + now(i, k+1))
        change = max(change, abs(next(i, k) - now(i, k)))
      end do
    end do
    now(1:n, 1:n) = next(1:n, 1:n)
    call mpi_allreduce(change, most, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid, ierr)
  end do
  corner = now(n, n)
  call mpi_reduce(corner, warmest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, grid, ierr)
  if (rank == 0) then
    write(*, '(i0,a,i0,a,i0,a)') dims(1), ' x ', dims(2), ' ranks, ', steps, ' steps'
    write(*, '(a,f14.9,f14.9,f14.9)') 'change, corner, point:', most, warmest, now(1, 1)
  end if
  call mpi_type_free(row_type, ierr)
  call mpi_finalize(ierr)

contains

  ! Columns follow each other in memory here, rows do not.
  subroutine exchange()
    call mpi_irecv(now(0, 1), 1, row_type, up, 0, grid, requests(1), ierr)
    call mpi_irecv(now(n+1, 1), 1, row_type, down, 1, grid, requests(2), ierr)
    call mpi_irecv(now(1, 0), n, MPI_DOUBLE_PRECISION, left, 2, grid, requests(3), ierr)
    call mpi_irecv(now(1, n+1), n, MPI_DOUBLE_PRECISION, right, 3, grid, requests(4), ierr)
    call mpi_isend(now(n, 1), 1, row_type, down, 0, grid, requests(5), ierr)
    call mpi_isend(now(1, 1), 1, row_type, up, 1, grid, requests(6), ierr)
    call mpi_isend(now(1, n), n, MPI_DOUBLE_PRECISION, right, 2, grid, requests(7), ierr)
    call mpi_isend(now(1, 1), n, MPI_DOUBLE_PRECISION, left, 3, grid, requests(8), ierr)
    call mpi_waitall(8, requests, MPI_STATUSES_IGNORE, ierr)
  end subroutine exchange
end program stencil
