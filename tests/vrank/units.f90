! SPDX-License-Identifier: Apache-2.0
! Files and internal files in Fortran: each rank has its own units, also in the run-time library.
program units
  use mpi
  implicit none
  integer :: ierror, rank, size, i, own, more(4), number
  character(len=60) :: text, line
  character(len=10) :: texts(3)
  logical :: there

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  open(newunit=own, status='scratch')
  write(text, '(a,i0)') 'rank ', rank
  if (rank == 0) then
    do i = 1, 4
      open(newunit=more(i), status='scratch')
    end do
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierror)

  ! One number for a unit of every rank. A line is begun by all before any ends it.
  open(10, status='scratch')
  write(10, '(a)', advance='no') trim(text)
  write(own, '(i0)') 100 + rank
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  write(10, '(a,i0)') ' of ', size
  inquire(11, opened=there)
  if (rank == 1) open(11, status='scratch')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  rewind(10)
  rewind(own)
  read(10, '(a)') line
  read(own, *) number
  if (there .or. number /= 100 + rank) line = 'another rank''s unit'
  write(texts, '(i10)') rank, number, number + 1
  read(texts(3), *) number
  call tell(line, number)
  if (rank == 0) then
    do i = 1, 4
      close(more(i))
    end do
  end if
  write(text, *) rank, 'the end, with units open'
  call MPI_Finalize(ierror)
  if (rank == 0) write(*, '(a)') trim(adjustl(text))

contains

  ! In the order of ranks.
  subroutine tell(line, number)
    character(len=60) :: line, other
    integer :: number, k, status(MPI_STATUS_SIZE), got
    if (rank > 0) then
      call MPI_Send(line, 60, MPI_CHARACTER, 0, 1, MPI_COMM_WORLD, ierror)
      call MPI_Send(number, 1, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, ierror)
    else
      print '(a,i6)', trim(line), number
      do k = 1, size - 1
        call MPI_Recv(other, 60, MPI_CHARACTER, k, 1, MPI_COMM_WORLD, status, ierror)
        call MPI_Recv(got, 1, MPI_INTEGER, k, 2, MPI_COMM_WORLD, status, ierror)
        print '(a,i6)', trim(other), got
      end do
    end if
  end subroutine
end program
