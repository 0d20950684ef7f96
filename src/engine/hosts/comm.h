/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The operating-system processes of one parallel run, connected by the MPI whose launcher
 * started them: see comm_ops.h. Only one thread of a process may call anything here.
 *
 * A process that waits yields its core and soon sleeps, so that runs with more processes than cores
 * make progress.
 */

#include "base/buf.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct wf_comm;

/* Joins the other processes if an MPI launcher started this one, else sets *out to null: a run
 * of one process never loads MPI. MPI libraries may set handlers of signals; the caller sets
 * its own afterwards. */
enum wf_status wf_comm_open(struct wf_comm **out, struct wf_err *err);
void wf_comm_close(struct wf_comm *comm); /* null is allowed */
/* The MPI libraries that this build has support for, or "none". */
const char *wf_comm_library(void);

/* A null comm is a run of one process. */
uint32_t wf_comm_rank(const struct wf_comm *comm);
uint32_t wf_comm_size(const struct wf_comm *comm);
/* The processes that run on the same host as this one, itself included. */
uint32_t wf_comm_local_size(const struct wf_comm *comm);
/* The cores of this host that each of them has; at least 1. */
uint32_t wf_comm_local_cores(const struct wf_comm *comm);

/* A process that has waited for long. `from` is the process that it waits for, on `host`; or the number
 * of processes, and null, if it waits for all others. */
struct wf_comm_wait {
    uint32_t process, from;
    const char *host;
    unsigned seconds;
};

typedef void wf_comm_tell_fn(void *arg, const struct wf_comm_wait *wait);

/* From now on `tell` is called, by the thread that waits, after 5 seconds, whenever it has taken twice as
 * long, and after limit_s seconds (0: no limit): another process, or the network to it, may be gone. */
void wf_comm_tell_waits(struct wf_comm *comm, unsigned limit_s, wf_comm_tell_fn *tell,
                        void *arg);

/* Sends out[p] to each other process p and receives in[p] from it. All processes call it. */
void wf_comm_exchange(struct wf_comm *comm, const struct wf_buf *out, struct wf_buf *in);

/* Sends a copy of the bytes; the receiver gets them by wf_comm_poll(). Messages between two
 * processes arrive in order. */
void wf_comm_post(struct wf_comm *comm, uint32_t to, const void *bytes, size_t size);
/* Receives one message that has arrived; false if there is none. */
bool wf_comm_poll(struct wf_comm *comm, struct wf_buf *in);
/* The number of messages posted and not yet received, plus the sum of `also_add`. All processes
 * call it, after they have posted. */
int64_t wf_comm_in_flight(struct wf_comm *comm, int64_t also_add);

enum wf_comm_op { WF_COMM_MIN, WF_COMM_MAX, WF_COMM_SUM };

/* Combines values[i] over all processes; all get the result. All processes call it. */
void wf_comm_reduce(struct wf_comm *comm, enum wf_comm_op op, int64_t *values, size_t n);
/* Passes the `size` bytes of every other process, in order, to `take` of process 0. */
void wf_comm_collect(struct wf_comm *comm, const void *bytes, size_t size,
                     void (*take)(void *arg, const void *bytes), void *arg);
/* Copies the bytes of process 0 to all. */
void wf_comm_share(struct wf_comm *comm, void *bytes, size_t size);
