! SPDX-License-Identifier: Apache-2.0
! The module `mpi`: what mpif.h has, and functions that need an interface.
module mpi
  implicit none
  include 'mpif.h'

  interface
    integer(MPI_ADDRESS_KIND) function MPI_Aint_add(base, disp)
      import :: MPI_ADDRESS_KIND
      integer(MPI_ADDRESS_KIND), intent(in) :: base, disp
    end function
    integer(MPI_ADDRESS_KIND) function MPI_Aint_diff(addr1, addr2)
      import :: MPI_ADDRESS_KIND
      integer(MPI_ADDRESS_KIND), intent(in) :: addr1, addr2
    end function
  end interface

  interface MPI_Sizeof
    subroutine mpi_sizeof_f08(x, size, ierror) bind(C, name="mpi_sizeof_f08_")
      type(*), dimension(..) :: x
      integer :: size
      integer, optional :: ierror
    end subroutine
  end interface
end module mpi
