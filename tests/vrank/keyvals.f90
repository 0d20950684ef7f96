! SPDX-License-Identifier: Apache-2.0
! Attributes in Fortran: keyvals with functions of the program's own, and those of MPI.
program keyvals
  use mpi
  implicit none
  external copy_it, delete_it
  integer :: ierror, rank, key, plain, copied, again, type
  integer(kind=MPI_ADDRESS_KIND) :: extra, value
  logical :: there
  integer :: calls(2)
  common /counted/ calls

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  calls = 0
  extra = 1000
  call MPI_Comm_create_keyval(copy_it, delete_it, key, extra, ierror)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, plain, extra, ierror)
  value = 7
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value, ierror)
  value = -5
  call MPI_Comm_set_attr(MPI_COMM_WORLD, plain, value, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, copied, ierror)
  call MPI_Comm_get_attr(copied, key, value, there, ierror)
  if (rank == 0) print '(a,l2,i8)', 'own copy ', there, value
  call MPI_Comm_get_attr(copied, plain, value, there, ierror)
  if (rank == 0) print '(a,l2,i8)', 'plain copy ', there, value
  call MPI_Comm_delete_attr(copied, plain, ierror)
  call MPI_Comm_get_attr(copied, plain, value, there, ierror)
  if (rank == 0) print '(a,l2)', 'deleted ', there
  call MPI_Comm_free(copied, ierror)
  if (rank == 0) print '(a,2i4)', 'calls ', calls
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, there, ierror)
  if (rank == 0) print '(a,2l2)', 'tags ', there, value > 32766
  call MPI_Type_contiguous(3, MPI_INTEGER, type, ierror)
  call MPI_Type_create_keyval(copy_it, delete_it, key, extra, ierror)
  value = 20
  call MPI_Type_set_attr(type, key, value, ierror)
  call MPI_Type_dup(type, again, ierror)
  call MPI_Type_get_attr(again, key, value, there, ierror)
  if (rank == 0) print '(a,l2,i8)', 'of a type ', there, value
  call MPI_Type_free(again, ierror)
  call MPI_Type_free(type, ierror)
  if (rank == 0) print '(a,2i4)', 'calls ', calls
  call MPI_Finalize(ierror)
end program keyvals

subroutine copy_it(object, key, extra, value_in, value_out, flag, ierror)
  use mpi
  implicit none
  integer :: object, key, ierror
  integer(kind=MPI_ADDRESS_KIND) :: extra, value_in, value_out
  logical :: flag
  integer :: calls(2)
  common /counted/ calls

  calls(1) = calls(1) + 1
  value_out = value_in + extra
  flag = .true.
  ierror = MPI_SUCCESS
end subroutine copy_it

subroutine delete_it(object, key, value, extra, ierror)
  use mpi
  implicit none
  integer :: object, key, ierror
  integer(kind=MPI_ADDRESS_KIND) :: extra, value
  integer :: calls(2)
  common /counted/ calls

  calls(2) = calls(2) + 1
  ierror = MPI_SUCCESS
end subroutine delete_it
