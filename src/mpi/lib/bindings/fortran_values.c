/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/lib/bindings/fortran.h"

#include <string.h>

/* The common blocks of mpif.h. Only their addresses mean something. */
_Alignas(32) int weft_mpi_bottom_, weft_mpi_in_place_, weft_mpi_unweighted_,
    weft_mpi_weights_empty_, weft_mpi_errcodes_ignore_;
_Alignas(32) int weft_mpi_status_ignore_[MPI_F_STATUS_SIZE],
    weft_mpi_statuses_ignore_[MPI_F_STATUS_SIZE];
_Alignas(32) char weft_mpi_argv_null_, weft_mpi_argvs_null_;

char *wl_f_text(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    while (length > 0 && text[0] == ' ') {
        text++;
        length--;
    }
    char *copy = calloc(length + 1, 1);
    if (copy != NULL && length > 0) {
        memcpy(copy, text, length);
    }
    return copy;
}

void wl_f_fill(char *to, size_t length, const char *text)
{
    size_t n = strlen(text);

    n = n < length ? n : length;
    /* A text of Fortran has no NUL at its end. */
    memcpy(to, text, n); // NOLINT(bugprone-not-null-terminated-result)
    memset(to + n, ' ', length - n);
}

void *wl_f_place(void *buffer)
{
    return buffer == &weft_mpi_bottom_     ? MPI_BOTTOM
           : buffer == &weft_mpi_in_place_ ? MPI_IN_PLACE
                                           : buffer;
}

MPI_Status *wl_f_status(MPI_Status *status)
{
    const void *given = status;

    return given == weft_mpi_status_ignore_ || given == weft_mpi_statuses_ignore_
               ? MPI_STATUS_IGNORE
               : status;
}

int *wl_f_weights(int *weights)
{
    return weights == &weft_mpi_unweighted_      ? MPI_UNWEIGHTED
           : weights == &weft_mpi_weights_empty_ ? MPI_WEIGHTS_EMPTY
                                                 : weights;
}

void wl_f_count_one(int *index)
{
    *index += *index != MPI_UNDEFINED;
}

void wl_f_count_all(int n, int *indices)
{
    for (int i = 0; i < n; i++) {
        indices[i]++;
    }
}
