/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Independent pieces of work, such as the points of a study or the runs of a prediction with error
 * bars, in parallel on a number of threads. */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* How points are run. All pointers must stay valid until the run has ended. */
struct wf_points_host {
    size_t jobs;                       /* points that run in parallel; at least 1 */
    size_t cores;                      /* for all of them; 0: those of the machine */
    const volatile sig_atomic_t *stop; /* not 0: start no further point; may be null */
    /* As in struct wf_sim_host; may be null. */
    void (*running)(void *arg, bool running);
    void *running_arg;
    /* Called at the start and after each point, by one thread at a time. May be null. */
    void (*progress)(void *arg, size_t done, size_t total);
    void *progress_arg;
};

/*
 * Calls run(arg, i) once for each i below `n`, from several threads, in increasing order of i.
 * `run` returns whether the point was completed. `done` points count as completed before the
 * first call, for the progress only. Returns false if `host->stop` ended the run early.
 */
bool wf_points_run(const struct wf_points_host *host, size_t n, size_t done,
                   bool (*run)(void *arg, size_t point), void *arg);

/* The threads that each of `n` points may use: points that run side by side share the cores. At least
 * one. */
size_t wf_points_threads(const struct wf_points_host *host, size_t n);
