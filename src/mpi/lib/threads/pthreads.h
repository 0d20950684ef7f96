/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the replacements of POSIX threads (pthreads.c) and of their locks (pthread_locks.c) share. */

#include "mpi/lib/threads/openmp.h"

/* The rank that calls; null in a thread that is no rank. */
static inline struct wl_rank *wl_pthread_rank(void)
{
    struct wf_port_rank *self = wl.port != NULL ? wl.port->self() : NULL;

    return self != NULL ? self->lib : NULL;
}

/* Whether the calling thread is the only one of its rank, or no rank's. */
static inline bool wl_pthread_is_alone(void)
{
    const struct wl_rank *rank = wl_pthread_rank();

    return rank == NULL || rank->omp == NULL || !rank->omp->active;
}

/* Ends the run with these words. */
static inline _Noreturn void wl_pthread_fail(const char *words)
{
    const struct wl_omp_thread *thread = wl_omp_begin(NULL);

    wl_fatal(thread->omp->rank, "%s", words);
}

/* Lets the other threads of the rank go on; returns 0. */
int wl_pthread_yield(void);
