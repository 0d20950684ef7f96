/* SPDX-License-Identifier: Apache-2.0 */
/* Creating and freeing communicators, windows and one-sided operations. */
#include "mpi/capture/inside.h"

static struct {
    struct wf_cap_requests open; /* number: window; comm, offset: number, size of its comm */
    uint32_t next;
} windows;

static uint64_t window_handle(MPI_Win window)
{
    return (uint64_t)(uintptr_t)window;
}

/* ---- communicators ---- */

static void emit_new(enum wf_op_kind kind, const struct wf_cap_comm *parent,
                     const struct wf_cap_comm *made)
{
    struct wf_op op = {.kind = kind};

    if (parent != NULL) {
        op.comm = parent->number;
        op.new_comm = made != NULL ? made->number : parent->number;
        wf_cap_emit(&op, parent->size);
    }
}

void wf_cap_on_new_comm(struct wf_cap_call *call, enum wf_op_kind kind, MPI_Comm parent,
                        const MPI_Comm *comm)
{
    const struct wf_cap_comm *made = *comm != MPI_COMM_NULL ? wf_cap_comms_add(*comm) : NULL;

    emit_new(kind, wf_cap_comms_find(parent), made);
}

/* MPI says that the new handle must not be used before the request is complete, but MPICH and
 * Open MPI set it at once. If a library does not, the communicator stays unknown. */
void wf_cap_on_new_comm_later(struct wf_cap_call *call, MPI_Comm parent, const MPI_Comm *comm,
                              const MPI_Request *request)
{
    struct wf_cap_request entry = {.staged = WF_NOT_STAGED, .kind = WF_REQUEST_NEW_COMM};

    if (!wf_cap_new_request(request, &entry)) {
        return;
    }
    const struct wf_cap_comm *from = wf_cap_comms_find(parent);
    const struct wf_cap_comm *made =
        from != NULL && *comm != MPI_COMM_NULL ? wf_cap_comms_add_copy(*comm, from) : NULL;
    emit_new(WF_OP_COMM_DUP, from, made);
}

void wf_cap_on_new_comm_of_some(struct wf_cap_call *call, uint32_t name, const MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL) {
        (void)wf_cap_comms_add(*comm);
    }
    wf_cap_on_named(call, name);
}

void wf_cap_on_keep_comm(struct wf_cap_call *call, const MPI_Comm *comm)
{
    call->handles = call->small;
    call->small[0] = wf_cap_comm_handle(*comm);
}

void wf_cap_on_comm_free(struct wf_cap_call *call)
{
    uint32_t number = 0, size = 0;

    if (wf_cap_comms_remove(call->small[0], &number, &size)) {
        const struct wf_op op = {.kind = WF_OP_COMM_FREE, .comm = number};
        wf_cap_emit(&op, size);
    }
}

/* ---- windows ---- */

void wf_cap_on_new_window(struct wf_cap_call *call, MPI_Comm comm, const MPI_Win *window)
{
    const struct wf_cap_comm *found = wf_cap_comms_find(comm);
    struct wf_op op = {.kind = WF_OP_WIN_CREATE, .tag = (int32_t)windows.next};

    if (found == NULL) {
        return;
    }
    const struct wf_cap_request entry = {.handle = window_handle(*window),
                                         .number = windows.next++,
                                         .comm = found->number,
                                         .offset = found->size};
    if (!wf_cap_requests_put(&windows.open, &entry)) {
        wf_cap_give_up("out of memory");
    }
    op.comm = found->number;
    wf_cap_emit(&op, found->size);
}

void wf_cap_on_keep_window(struct wf_cap_call *call, const MPI_Win *window)
{
    call->handles = call->small;
    call->small[0] = window_handle(*window);
}

static void emit_epoch(enum wf_op_kind kind, const struct wf_cap_request *window)
{
    const struct wf_op op = {
        .kind = kind, .tag = (int32_t)window->number, .comm = window->comm};

    wf_cap_emit(&op, window->offset);
}

void wf_cap_on_window_free(struct wf_cap_call *call)
{
    struct wf_cap_request window;

    if (wf_cap_requests_take(&windows.open, call->small[0], &window)) {
        emit_epoch(WF_OP_WIN_FREE, &window);
    }
}

static void end_epoch(enum wf_op_kind kind, MPI_Win window)
{
    const struct wf_cap_request *found =
        wf_cap_requests_find(&windows.open, window_handle(window));

    if (found != NULL) {
        emit_epoch(kind, found);
    }
}

void wf_cap_on_fence(struct wf_cap_call *call, MPI_Win window)
{
    end_epoch(WF_OP_FENCE, window);
}

/* A flush completes all operations that the rank has begun on the window: flushes of one target
 * and of all targets are recorded alike. */
void wf_cap_on_flush(struct wf_cap_call *call, MPI_Win window)
{
    end_epoch(WF_OP_WIN_FLUSH, window);
}

void wf_cap_on_one_sided(struct wf_cap_call *call, enum wf_op_kind kind,
                         const struct wf_cap_data *data, int target, MPI_Win window)
{
    const struct wf_cap_request *found =
        wf_cap_requests_find(&windows.open, window_handle(window));
    struct wf_op op = {.kind = kind, .reduction = call->reduction};

    if (found != NULL) {
        op.peer = target == MPI_PROC_NULL ? WF_PROC_NULL : (uint32_t)target;
        op.bytes = wf_cap_bytes(data->count, data->type);
        op.tag = (int32_t)found->number;
        op.comm = found->comm;
        wf_cap_emit(&op, found->offset);
    }
}

/* The request is not recorded: the call that ends the epoch completes the operation. */
void wf_cap_on_one_sided_request(struct wf_cap_call *call, enum wf_op_kind kind,
                                 const struct wf_cap_data *data, int target, MPI_Win window,
                                 const MPI_Request *request)
{
    struct wf_cap_request entry = {.staged = WF_NOT_STAGED, .kind = WF_REQUEST_SILENT};

    wf_cap_on_one_sided(call, kind, data, target, window);
    (void)wf_cap_new_request(request, &entry);
}
