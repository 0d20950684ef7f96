/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Sends and receives (MPI-3.1, 3): the steps that all their functions share. */

#include "mpilib/request.h"

/* The arguments of a send or a receive. */
struct wl_send_args {
    const void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    int to, tag;
    MPI_Comm comm;
};

struct wl_recv_args {
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    int from, tag;
    MPI_Comm comm;
};

/* All of these set *proc_null if the other side is MPI_PROC_NULL, and then do nothing else.
 * They return MPI_SUCCESS or an error for the program. */

/* Packs the data into a message, puts it into the receiver's queue and fills in the op. */
int wl_send_message(struct wl_rank *rank, const struct wl_send_args *args, struct wf_op *op,
                    bool *proc_null);
/* Fills in which messages match: of a receive or a probe. */
int wl_recv_find_stream(struct wl_rank *rank, const struct wl_recv_args *args,
                        struct wl_recv *recv, struct wf_op *op, bool *proc_null);
/* Likewise, and where the data goes. */
int wl_recv_prepare(struct wl_rank *rank, const struct wl_recv_args *args, struct wl_recv *recv,
                    struct wf_op *op, bool *proc_null);
