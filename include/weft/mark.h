/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEFT_MARK_H
#define WEFT_MARK_H

/*
 * Regions and iterations of an MPI program, for `weft capture`:
 *
 *     weft_region_begin("solve");
 *     for (...) {
 *         weft_iteration_begin();
 *         ...
 *         weft_iteration_end();
 *     }
 *     weft_region_end("solve");
 *
 * There is no library to link: the marks are calls of MPI_Pcontrol with levels that mean
 * nothing to anybody else, and an MPI library ignores them. For C and C++.
 *
 * Programs in Fortran call MPI_Pcontrol(n) with n > 0 at the beginning of region "pcontrol n"
 * and MPI_Pcontrol(-n) at its end, or with 1474588931 and 1474588932 around an iteration.
 */

#include <mpi.h>

enum {
    WEFT_MARK_REGION_BEGIN = 0x57e47101,
    WEFT_MARK_REGION_END = 0x57e47102,
    WEFT_MARK_ITERATION_BEGIN = 0x57e47103,
    WEFT_MARK_ITERATION_END = 0x57e47104,
    WEFT_MARK_COMPUTE = 0x57e47105
};

static inline void weft_region_begin(const char *name)
{
    (void)MPI_Pcontrol(WEFT_MARK_REGION_BEGIN, name);
}

static inline void weft_region_end(const char *name)
{
    (void)MPI_Pcontrol(WEFT_MARK_REGION_END, name);
}

/* Tells how long the program computes here, for `weft run --compute model`. */
#define WEFT_COMPUTE(seconds) ((void)MPI_Pcontrol(WEFT_MARK_COMPUTE, (double)(seconds)))

static inline void weft_iteration_begin(void)
{
    (void)MPI_Pcontrol(WEFT_MARK_ITERATION_BEGIN);
}

static inline void weft_iteration_end(void)
{
    (void)MPI_Pcontrol(WEFT_MARK_ITERATION_END);
}

#endif
