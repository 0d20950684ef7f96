! SPDX-License-Identifier: Apache-2.0
! OpenMP in Fortran: results do not depend on the number of threads.
program openmp
    use mpi
    use omp_lib
    implicit none
    integer :: code, rank, provided, i, k, counted, order, wrong
    integer(8) :: total, tasks
    integer(omp_nest_lock_kind) :: lock
    double precision :: a(200, 50), largest, begin

    call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, code)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    if (provided /= MPI_THREAD_FUNNELED) print *, 'provided', provided
    begin = omp_get_wtime()
    total = 0
    counted = 0
    order = 0
    wrong = 0
    tasks = 0
    call omp_init_nest_lock(lock)
    !$omp parallel do collapse(2) schedule(dynamic, 5) reduction(+: total)
    do k = 1, 50
        do i = 1, 200
            a(i, k) = dble(i) * k
            total = total + i
        end do
    end do
    !$omp parallel workshare
    a = a + 1d0
    !$omp end parallel workshare
    !$omp parallel do ordered
    do i = 1, 20
        !$omp ordered
        order = order + 1
        if (order /= i) wrong = wrong + 1
        !$omp end ordered
    end do
    !$omp parallel
    call omp_set_nest_lock(lock)
    counted = counted + 1
    call omp_unset_nest_lock(lock)
    !$omp barrier
    !$omp single
    do i = 1, 10
        !$omp task firstprivate(i)
        !$omp atomic
        tasks = tasks + i
        !$omp end task
    end do
    !$omp end single
    !$omp end parallel
    call omp_destroy_nest_lock(lock)
    largest = maxval(a)
    call MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, code)
    if (total /= 1005000 .or. tasks /= 55 .or. wrong /= 0) print *, 'wrong', total, tasks, wrong
    if (counted /= omp_get_max_threads()) print *, 'threads', counted
    if (abs(omp_get_wtime() - begin) > 1d0) print *, 'time', omp_get_wtime() - begin
    if (rank == 0) print '(a, f8.1)', 'largest', largest
    call MPI_Finalize(code)
end program openmp
