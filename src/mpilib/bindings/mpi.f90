! SPDX-License-Identifier: Apache-2.0
! The module `mpi`: what mpif.h has.
module mpi
  implicit none
  include 'mpif.h'
end module mpi
