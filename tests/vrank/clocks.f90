! SPDX-License-Identifier: Apache-2.0
! The clocks of Fortran tell the simulated time.
program clocks
    use mpi
    implicit none
    integer :: code, rank, date(8)
    integer(8) :: count, rate
    real :: processor
    double precision :: now

    call MPI_Init(code)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    call sleep(2)
    now = MPI_Wtime()
    call system_clock(count, rate)
    call cpu_time(processor)
    call date_and_time(values=date)
    if (abs(dble(count) / dble(rate) - now) > 2d-6) print *, 'system_clock', count, rate, now
    if (processor > 1e-3) print *, 'cpu_time', processor
    if (date(1) /= 2000 .or. date(7) /= 2) print *, 'date_and_time', date
    call MPI_Barrier(MPI_COMM_WORLD, code)
    if (rank == 0) print '(a)', 'done'
    call MPI_Finalize(code)
end program clocks
