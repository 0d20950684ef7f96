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
/* The schedule may fix the source of one of any source (checker/orders.h). */
void wl_recv_fix_source(struct wl_rank *rank, const struct wl_recv_args *args, int32_t source,
                        struct wl_recv *recv, struct wf_op *op);
/* Likewise, and where the data goes. */
int wl_recv_prepare(struct wl_rank *rank, const struct wl_recv_args *args, struct wl_recv *recv,
                    struct wf_op *op, bool *proc_null);

/* Of --check, after these: the buffer is in use until *uses is released; of a receive with null,
 * until the call returns. Without --check they do nothing. */
struct wl_use;
void wl_send_check(struct wl_rank *rank, const struct wl_send_args *args, struct wl_use **uses);
void wl_recv_check(struct wl_rank *rank, const struct wl_recv *recv, struct wl_use **uses);

/* The functions of MPI, in all send modes: `kind` is WF_OP_SEND or the like, of those that return a
 * request WF_OP_ISEND or the like. */
int wl_send(struct wl_rank *rank, const struct wl_send_args *args, enum wf_op_kind kind);
int wl_isend(struct wl_rank *rank, const struct wl_send_args *args, enum wf_op_kind kind,
             MPI_Request *handle);
int wl_send_init(struct wl_rank *rank, const struct wl_send_args *args, enum wf_op_kind kind,
                 MPI_Request *handle);
int wl_recv_init(struct wl_rank *rank, const struct wl_recv_args *args, MPI_Request *handle);
/* A send and a receive at once; from and to the same buffer too. */
int wl_sendrecv(struct wl_rank *rank, const struct wl_send_args *out,
                const struct wl_recv_args *in, MPI_Status *status);
int wl_isendrecv(struct wl_rank *rank, const struct wl_send_args *out,
                 const struct wl_recv_args *in, MPI_Request *handle);
/* Looks for a message, with WF_OP_PROBE until there is one. With a null `message`, the message is
 * not reserved. */
int wl_probe(struct wl_rank *rank, const struct wl_recv_args *args, enum wf_op_kind kind,
             int *flag, MPI_Message *message, MPI_Status *status);
/* MPI_Waitsome() and MPI_Testsome(). */
int wl_complete_some(struct wl_rank *rank, int count, MPI_Request *requests, int *outcount,
                     int *indices, MPI_Status *statuses, enum wf_op_kind kind);
