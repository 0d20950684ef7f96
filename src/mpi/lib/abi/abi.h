/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The binary interface of another MPI (MPICH, Open MPI), for programs and libraries that were
 * compiled with its mpi.h. Each function converts its arguments, calls the function of libweftmpi
 * and converts the results. Files that include this header are compiled once for each of these
 * MPIs, with its mpi.h.
 */

#ifdef WA_MPICH /* sentinels that are variables of the library */
#define MPI_UNWEIGHTED    weft_mpich_MPI_UNWEIGHTED
#define MPI_WEIGHTS_EMPTY weft_mpich_MPI_WEIGHTS_EMPTY
#endif
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define WEFT_IN_PLACE      ((void *)-1)
#define WEFT_UNWEIGHTED    ((int *)-2)
#define WEFT_WEIGHTS_EMPTY ((int *)-3)

/* A predefined object of an MPI whose handles are addresses: it holds weft's handle. */
struct wa_object {
    int handle;
    int reserved[15];
};

#include "abi_values.h"
#include "abi_weft.h"

/* The program's place from which it called; reports name it. */
void weft_mpi_called_from(const void *site);

/* weft's MPI_Status. */
struct wa_status {
    int source, tag, error, cancelled;
    unsigned bytes[2]; /* the lower half first */
};

#ifdef OPEN_MPI
static inline void wa_status_read(const MPI_Status *from, struct wa_status *to)
{
    to->cancelled = from->_cancelled;
    to->bytes[0] = (unsigned)from->_ucount;
    to->bytes[1] = (unsigned)((uint64_t)from->_ucount >> 32);
}

static inline void wa_status_write(const struct wa_status *from, MPI_Status *to)
{
    to->_cancelled = from->cancelled;
    to->_ucount = (size_t)((uint64_t)from->bytes[1] << 32 | from->bytes[0]);
}
#else
static inline void wa_status_read(const MPI_Status *from, struct wa_status *to)
{
    to->cancelled = from->count_hi_and_cancelled & 1;
    to->bytes[0] = (unsigned)from->count_lo;
    to->bytes[1] = (unsigned)from->count_hi_and_cancelled >> 1;
}

static inline void wa_status_write(const struct wa_status *from, MPI_Status *to)
{
    to->count_lo = (int)from->bytes[0];
    to->count_hi_and_cancelled = (int)(from->bytes[1] << 1 | (from->cancelled != 0));
}
#endif

/* Converts a status. Returns what the library gets: null if the program ignores the status. */
static inline struct wa_status *wa_status_in(const MPI_Status *from, struct wa_status *to)
{
    if (from == MPI_STATUS_IGNORE) {
        return NULL;
    }
    to->source = wa_rank_in(from->MPI_SOURCE);
    to->tag = from->MPI_TAG;
    to->error = wa_code_in(from->MPI_ERROR);
    wa_status_read(from, to);
    return to;
}

static inline void wa_status_out(const struct wa_status *from, MPI_Status *to)
{
    if (from == NULL || to == MPI_STATUS_IGNORE) {
        return;
    }
    to->MPI_SOURCE = wa_rank_out(from->source);
    to->MPI_TAG = from->tag;
    to->MPI_ERROR = wa_code_out(from->error);
    wa_status_write(from, to);
}

/* How many statuses of a list of n the program wants. */
static inline int wa_status_n(const MPI_Status *statuses, int n)
{
    return statuses == MPI_STATUSES_IGNORE || n == WEFT_MPI_UNDEFINED ? 0 : n;
}

static inline void *wa_place_in(const void *buffer)
{
    return buffer == MPI_IN_PLACE ? WEFT_IN_PLACE : (void *)(uintptr_t)buffer;
}

static inline void *wa_weights_in(const int *weights)
{
    if (weights == MPI_UNWEIGHTED) {
        return WEFT_UNWEIGHTED;
    }
    return weights == MPI_WEIGHTS_EMPTY ? WEFT_WEIGHTS_EMPTY : (void *)(uintptr_t)weights;
}

/* The entries of a list with one for each rank that the caller sends to or receives from. */
int wa_peers(int comm, int neighbours, int sends);

/* NOLINTBEGIN(bugprone-macro-parentheses): types and declared names */
/* A list of n converted values; short ones are on the stack. */
#define WA_LIST(type, name, n) \
    type few_##name[64];       \
    type *name = (n) <= 64 ? few_##name : (type *)malloc((size_t)(n) * sizeof(type))
/* NOLINTEND(bugprone-macro-parentheses) */
#define WA_FREE(name)           \
    if ((name) != few_##name) { \
        free(name);             \
    }
#define WA_EACH(n) for (int i = 0, end = (n); i < end; i++)
