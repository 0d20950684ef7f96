/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What connects processes: a table of functions in a shared library, one for each MPI, that
 * engine/hosts/comm.c loads when an MPI launcher started this process. Without a launcher no MPI is
 * loaded. The functions do what those of engine/hosts/comm.h of the same names do.
 *
 * A library defines one symbol, WF_COMM_SYMBOL, and includes nothing of weft but base/.
 */

#include "engine/hosts/comm.h"

struct wf_comm_ops {
    const char *version; /* WEFT_VERSION of weft that the library was built with */
    const char *library; /* "MPICH 4.0.2" */

    /* Initialises MPI and sets *out, with all members. */
    enum wf_status (*open)(struct wf_comm **out, struct wf_err *err);
    void (*close)(struct wf_comm *comm);
    void (*exchange)(struct wf_comm *comm, const struct wf_buf *out, struct wf_buf *in);
    void (*post)(struct wf_comm *comm, uint32_t to, const void *bytes, size_t size);
    bool (*poll)(struct wf_comm *comm, struct wf_buf *in);
    int64_t (*in_flight)(struct wf_comm *comm, int64_t also_add);
    void (*reduce)(struct wf_comm *comm, enum wf_comm_op op, int64_t *values, size_t n);
    void (*collect)(struct wf_comm *comm, const void *bytes, size_t size,
                    void (*take)(void *arg, const void *bytes), void *arg);
    void (*share)(struct wf_comm *comm, void *bytes, size_t size);
};

#define WF_COMM_SYMBOL "wf_comm_ops_of_this_library"

/* The beginning of what a library knows about its processes. */
struct wf_comm {
    const struct wf_comm_ops *ops;
    uint32_t rank, size;
    uint32_t local_size;  /* processes on this host */
    uint32_t local_cores; /* that these may use */
    unsigned wait_limit_s;
    wf_comm_tell_fn *tell;
    void *tell_arg;
};
