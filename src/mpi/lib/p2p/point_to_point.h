/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Sends and receives (MPI-3.1, 3): the steps that all their functions share. */

#include "mpi/lib/p2p/request.h"

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

/* Puts a message into the receiver's queue and fills in the op. The data is packed into the
 * message, or it is lent: then sets *loan, and the caller ends the loan when the send is
 * complete (message_loan.h). With a null `loan` it is always packed. */
int wl_send_message(struct wl_rank *rank, const struct wl_send_args *args, struct wf_op *op,
                    bool *proc_null, struct wl_message **loan);
/* Fills in which messages match: of a receive or a probe. */
int wl_recv_find_stream(struct wl_rank *rank, const struct wl_recv_args *args,
                        struct wl_recv *recv, struct wf_op *op, bool *proc_null);
/* Likewise, and where the data goes. */
int wl_recv_prepare(struct wl_rank *rank, const struct wl_recv_args *args, struct wl_recv *recv,
                    struct wf_op *op, bool *proc_null);

/* Of --check, after these: the buffer is in use until *uses is released; of a receive with null,
 * until the call returns. Without --check they do nothing. */
struct wl_use;
void wl_send_check(struct wl_rank *rank, const struct wl_send_args *args, struct wl_use **uses);
void wl_recv_check(struct wl_rank *rank, const struct wl_recv *recv, struct wl_use **uses);
