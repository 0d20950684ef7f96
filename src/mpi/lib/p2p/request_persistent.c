/* SPDX-License-Identifier: Apache-2.0 */
/* Persistent requests (MPI-4.0, 3.9 and 6.13), and how requests are freed and cancelled. */
#include "mpi/lib/coll/collective.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/point_to_point.h"
#include "mpi/lib/p2p/request_compound.h"

#include <stdlib.h>

/* What MPI_Start() starts. Of a collective it is request->own. */
struct wl_persistent {
    enum wf_op_kind kind;
    struct wl_send_args send; /* of a send... */
    struct wl_recv_args recv; /* ...or of a receive */
};

static MPI_Datatype *type_of(const struct wl_request *request)
{
    struct wl_persistent *persistent = request->persistent;

    return request->kind == WL_REQUEST_SEND ? &persistent->send.type : &persistent->recv.type;
}

struct wl_request *wl_persistent_new(struct wl_rank *rank, enum wl_request_kind kind,
                                     MPI_Request *handle)
{
    struct wl_request *request = wl_request_new(rank, kind, handle);

    request->active = false;
    request->persistent = wl_calloc(1, sizeof(*request->persistent));
    return request;
}

static int init(struct wl_rank *rank, const struct wl_persistent *what,
                enum wl_request_kind kind, MPI_Request *handle)
{
    struct wl_request *request = wl_persistent_new(rank, kind, handle);

    *request->persistent = *what;
    /* The request has a handle of its own: the program may free its datatype now. */
    MPI_Datatype *type = type_of(request);
    *type = wl_type_handle(rank, wl_type_of(rank, *type));
    return MPI_SUCCESS;
}

int wl_send_init(struct wl_rank *rank, const struct wl_send_args *args, enum wf_op_kind kind,
                 MPI_Request *handle)
{
    return init(rank, &(struct wl_persistent){.kind = kind, .send = *args}, WL_REQUEST_SEND,
                handle);
}

int wl_recv_init(struct wl_rank *rank, const struct wl_recv_args *args, MPI_Request *handle)
{
    return init(rank, &(struct wl_persistent){.kind = WF_OP_IRECV, .recv = *args},
                WL_REQUEST_RECV, handle);
}

static int start_message(struct wl_rank *rank, struct wl_request *request)
{
    const struct wl_persistent *persistent = request->persistent;
    int code;

    struct wf_op op = {.kind = persistent->kind, .request = request->number};
    if (request->kind == WL_REQUEST_SEND) {
        code =
            wl_send_message(rank, &persistent->send, &op, &request->proc_null, &request->loan);
    } else {
        request->recv = (struct wl_recv){.next = NULL};
        code =
            wl_recv_prepare(rank, &persistent->recv, &request->recv, &op, &request->proc_null);
        request->recv.number = request->number;
    }
    request->active = code == MPI_SUCCESS;
    if (request->active && !request->proc_null) {
        if (request->kind == WL_REQUEST_RECV) {
            wl_recv_check(rank, &request->recv, &request->uses);
            wl_recv_post(rank, &request->recv);
        } else if (persistent->kind != WF_OP_IBSEND) {
            wl_send_check(rank, &persistent->send, &request->uses);
        }
        wl_post(rank, &op);
    }
    return code;
}

int wl_MPI_Start(struct wl_rank *rank, MPI_Request *handle)
{
    struct wl_request *request = wl_request_of(rank, *handle);

    if (request->persistent == NULL || request->active) {
        wl_fatal(rank, "the request is %s",
                 request->active ? "started already" : "not a persistent one");
    }
    if (request->kind == WL_REQUEST_COLL || request->kind == WL_REQUEST_COMPOUND) {
        if (request->kind == WL_REQUEST_COLL) {
            wl_collective_start(request);
        } else if (!request->proc_null) {
            request->compound->start(rank, request);
        }
        request->active = true;
        return MPI_SUCCESS;
    }
    return start_message(rank, request);
}

int wl_MPI_Startall(struct wl_rank *rank, int count, MPI_Request *requests)
{
    int code = MPI_SUCCESS;

    for (int i = 0; i < count && code == MPI_SUCCESS; i++) {
        code = wl_MPI_Start(rank, &requests[i]);
    }
    return code;
}

/* ---- freeing and cancelling ---- */

void wl_persistent_free(struct wl_rank *rank, struct wl_request *request)
{
    if (request->persistent != NULL) {
        if (request->kind == WL_REQUEST_COLL) {
            wl_collective_free(request);
        } else if (request->kind != WL_REQUEST_COMPOUND) {
            wl_type_release(wl_table_take(&rank->types, WL_TYPE, *type_of(request)));
        }
        free(request->persistent);
    }
}

/* A send may complete without its request. What brings data must be there when the data comes:
 * the rank waits for it. */
int wl_MPI_Request_free(struct wl_rank *rank, MPI_Request *handle)
{
    const struct wl_request *request = wl_request_of(rank, *handle);
    bool pending = request->active && !request->proc_null;

    if (pending && (request->kind == WL_REQUEST_RECV || request->kind == WL_REQUEST_COLL ||
                    request->kind == WL_REQUEST_COMPOUND)) {
        MPI_Request copy = *handle;
        int code = wl_MPI_Wait(rank, &copy, MPI_STATUS_IGNORE);
        if (copy == MPI_REQUEST_NULL) {
            *handle = MPI_REQUEST_NULL;
            return code;
        }
    } else if (pending && request->kind == WL_REQUEST_SEND) {
        const struct wf_op op = {.kind = WF_OP_REQUEST_FREE, .request = request->number};
        wl_post(rank, &op);
    }
    wl_request_free(rank, handle);
    return MPI_SUCCESS;
}

/* A receive is cancelled if the simulation has no message for it yet; a send never is. */
int wl_MPI_Cancel(struct wl_rank *rank, MPI_Request *handle)
{
    struct wl_request *request = wl_request_of(rank, *handle);

    if (request->kind == WL_REQUEST_GENERALIZED) {
        return wl_grequest_cancel(request);
    }
    if (request->active && !request->proc_null && request->kind == WL_REQUEST_RECV) {
        const struct wf_op op = {.kind = WF_OP_CANCEL, .request = request->number};
        if (wl_call(rank, &op)->found) {
            wl_recv_cancel(rank, &request->recv);
            request->proc_null = true;
            request->cancelled = true;
        }
    }
    return MPI_SUCCESS;
}
