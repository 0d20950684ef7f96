/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are started again and again, and the end of requests. */
#include "mpilib/memory.h"
#include "mpilib/point_to_point.h"
#include "mpilib/request_generalized.h"

#include <stdlib.h>

struct wl_again {
    enum wf_op_kind kind; /* of what a start is */
    struct wl_sending out;
    struct wl_receiving in;
};

static MPI_Datatype *type_of(enum wl_request_kind kind, struct wl_again *again)
{
    return kind == WL_REQUEST_SEND ? &again->out.type : &again->in.type;
}

static int make(const struct wl_again *what, enum wl_request_kind kind, MPI_Request *handle)
{
    struct wl_rank *rank = wl_enter();
    struct wl_request *request = wl_request_new(rank, kind, handle);

    request->persistent = true;
    request->again = wl_malloc(sizeof(*request->again));
    *request->again = *what;
    /* A handle of its own: the program may free its type now. */
    MPI_Datatype *type = type_of(kind, request->again);
    *type = wl_type_handle(
        rank, wl_type_of(rank, *type,
                         kind == WL_REQUEST_SEND ? what->out.function : what->in.function));
    wl_leave(rank);
    return MPI_SUCCESS;
}

#define SEND_INIT(name, op)                                                                   \
    int MPI_##name(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,      \
                   MPI_Comm comm, MPI_Request *request)                                       \
    {                                                                                         \
        return make(                                                                          \
            &(struct wl_again){.kind = WF_OP_##op,                                            \
                               .out = {buf, count, datatype, dest, tag, comm, "MPI_" #name}}, \
            WL_REQUEST_SEND, request);                                                        \
    }

SEND_INIT(Send_init, ISEND)
SEND_INIT(Ssend_init, ISSEND)
SEND_INIT(Bsend_init, IBSEND)
SEND_INIT(Rsend_init, IRSEND)

int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return make(
        &(struct wl_again){.kind = WF_OP_IRECV,
                           .in = {buf, count, datatype, source, tag, comm, "MPI_Recv_init"}},
        WL_REQUEST_RECV, request);
}

int wl_request_start(struct wl_rank *rank, struct wl_request *request)
{
    struct wf_op op = {.kind = request->again->kind, .request = request->number};
    int code;

    if (request->kind == WL_REQUEST_SEND) {
        code = wl_hand_over(rank, &request->again->out, &op, &request->nobody);
    } else {
        request->recv = (struct wl_recv){.next = NULL};
        code = wl_make_recv(rank, &request->again->in, &request->recv, &op, &request->nobody);
        request->recv.number = request->number;
    }
    request->active = code == MPI_SUCCESS;
    if (request->active && !request->nobody) {
        if (request->kind == WL_REQUEST_RECV) {
            wl_recv_post(rank, &request->recv);
        }
        wl_post(rank, &op);
    }
    return code;
}

static int start(struct wl_rank *rank, MPI_Request handle, const char *function)
{
    struct wl_request *request = wl_request_of(rank, handle, function);

    if (!request->persistent || request->active) {
        wl_fatal(rank, function, "the request is %s",
                 request->active ? "started already" : "not a persistent one");
    }
    return wl_request_start(rank, request);
}

int MPI_Start(MPI_Request *request)
{
    struct wl_rank *rank = wl_enter();
    int code = start(rank, *request, "MPI_Start");

    wl_leave(rank);
    return code;
}

int MPI_Startall(int count, MPI_Request *requests)
{
    struct wl_rank *rank = wl_enter();
    int code = MPI_SUCCESS;

    for (int i = 0; i < count && code == MPI_SUCCESS; i++) {
        code = start(rank, requests[i], "MPI_Startall");
    }
    wl_leave(rank);
    return code;
}

/* ---- the end ---- */

void wl_again_free(struct wl_rank *rank, enum wl_request_kind kind, struct wl_again *again)
{
    if (again != NULL) {
        wl_type_release(wl_table_take(&rank->types, WL_TYPE, *type_of(kind, again)));
        free(again);
    }
}

/* A send may be forgotten. What brings data has to be there when it comes: that is waited for.
 */
int MPI_Request_free(MPI_Request *handle)
{
    struct wl_rank *rank = wl_enter();
    struct wl_request *request = wl_request_of(rank, *handle, "MPI_Request_free");
    bool under_way = request->active && !request->nobody;

    if (under_way && (request->kind == WL_REQUEST_RECV || request->kind == WL_REQUEST_COLL)) {
        MPI_Request copy = *handle;
        int code = MPI_Wait(&copy, MPI_STATUS_IGNORE);
        if (copy == MPI_REQUEST_NULL) {
            *handle = MPI_REQUEST_NULL;
            wl_leave(rank);
            return code;
        }
    } else if (under_way && request->kind == WL_REQUEST_SEND) {
        const struct wf_op op = {.kind = WF_OP_REQUEST_FREE, .request = request->number};
        wl_post(rank, &op);
    }
    wl_request_drop(rank, handle);
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* A receive is cancelled if the simulation finds it without a message; a send never is. */
int MPI_Cancel(MPI_Request *handle)
{
    struct wl_rank *rank = wl_enter();
    struct wl_request *request = wl_request_of(rank, *handle, "MPI_Cancel");
    int code = MPI_SUCCESS;

    if (request->kind == WL_REQUEST_GENERAL) {
        code = wl_grequest_cancel(request);
    } else if (request->active && !request->nobody && request->kind == WL_REQUEST_RECV) {
        const struct wf_op op = {.kind = WF_OP_CANCEL, .request = request->number};
        if (wl_call(rank, &op)->found) {
            wl_recv_withdraw(rank, &request->recv);
            request->nobody = true;
            request->cancelled = true;
        }
    }
    wl_leave(rank);
    return code;
}
