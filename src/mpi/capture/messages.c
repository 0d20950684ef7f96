/* SPDX-License-Identifier: Apache-2.0 */
/* Point-to-point messages and probes. */
#include "mpi/capture/inside.h"

/* Messages that a matched probe has found and that are not received yet. For each, number is
 * the source, comm and offset are the number and the size of its communicator. */
static struct wf_cap_requests probed;

static uint64_t handle_of(MPI_Message message)
{
    return message == MPI_MESSAGE_NULL ? 0 : (uint64_t)(uintptr_t)message;
}

/* Convert ranks and tags of MPI to those of ops. */
static uint32_t peer_of(int peer, const struct wf_cap_comm *comm)
{
    if (peer == MPI_PROC_NULL) {
        return WF_PROC_NULL;
    }
    return peer == MPI_ANY_SOURCE ? WF_ANY_SOURCE : (uint32_t)peer + comm->offset;
}

static int32_t tag_of(int tag)
{
    return tag == MPI_ANY_TAG ? WF_ANY_TAG : tag;
}

uint64_t wf_cap_bytes(MPI_Count count, MPI_Datatype type)
{
    int size = 0;

    if (count <= 0 || PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0) {
        return 0;
    }
    return (uint64_t)count * (uint64_t)size;
}

static bool make(struct wf_op *op, const struct wf_cap_comm **comm,
                 const struct wf_cap_message *message)
{
    const struct wf_cap_comm *found = wf_cap_comms_find(message->comm);

    if (found == NULL) {
        return false;
    }
    op->comm = found->number;
    op->peer = peer_of(message->peer, found);
    op->tag = tag_of(message->tag);
    op->bytes = wf_cap_bytes(message->count, message->type);
    /* The tag of a receive from MPI_PROC_NULL has no meaning. */
    if (op->peer == WF_PROC_NULL && op->tag == WF_ANY_TAG) {
        op->tag = 0;
    }
    *comm = found;
    return true;
}

static bool is_open(const struct wf_op *op)
{
    return op->peer == WF_ANY_SOURCE || (op->tag == WF_ANY_TAG && op->peer != WF_PROC_NULL);
}

static void set_match(struct wf_op *op, const MPI_Status *status,
                      const struct wf_cap_comm *comm)
{
    op->recorded = true;
    op->matched_peer = peer_of(status->MPI_SOURCE, comm);
    op->matched_tag = status->MPI_TAG;
}

void wf_cap_on_send(struct wf_cap_call *call, enum wf_op_kind kind,
                    const struct wf_cap_message *message, const MPI_Request *request)
{
    const struct wf_cap_comm *comm = NULL;
    struct wf_op op = {.kind = kind};
    struct wf_cap_request entry = {.staged = WF_NOT_STAGED};

    if (!make(&op, &comm, message)) {
        entry.kind = WF_REQUEST_SILENT;
        (void)(request != NULL && wf_cap_new_request(request, &entry));
        return;
    }
    if (request != NULL) {
        if (!wf_cap_new_request(request, &entry)) {
            return;
        }
        op.request = entry.number;
    }
    wf_cap_emit(&op, comm->size);
}

void wf_cap_on_persistent(struct wf_cap_call *call, enum wf_op_kind kind,
                          const struct wf_cap_message *message, const MPI_Request *request)
{
    const struct wf_cap_comm *comm = NULL;
    struct wf_op op = {.kind = kind};
    struct wf_cap_request entry = {.staged = WF_NOT_STAGED, .kind = WF_REQUEST_PERSISTENT};

    bool known = make(&op, &comm, message);
    entry.kind = known ? WF_REQUEST_PERSISTENT : WF_REQUEST_SILENT;
    if (wf_cap_new_request(request, &entry) && known) {
        op.request = entry.number;
        wf_cap_emit(&op, comm->size);
    }
}

void wf_cap_on_recv(struct wf_cap_call *call, const struct wf_cap_message *message,
                    const MPI_Status *status)
{
    const struct wf_cap_comm *comm = NULL;
    struct wf_op op = {.kind = WF_OP_RECV};

    if (!make(&op, &comm, message)) {
        return;
    }
    if (is_open(&op)) {
        set_match(&op, status, comm);
    }
    wf_cap_emit(&op, comm->size);
}

void wf_cap_on_irecv(struct wf_cap_call *call, const struct wf_cap_message *message,
                     const MPI_Request *request)
{
    const struct wf_cap_comm *comm = NULL;
    struct wf_op op = {.kind = WF_OP_IRECV};
    struct wf_cap_request entry = {.staged = WF_NOT_STAGED};

    bool known = make(&op, &comm, message);
    if (!known) {
        entry.kind = WF_REQUEST_SILENT;
        (void)wf_cap_new_request(request, &entry);
        return;
    }
    entry.offset = comm->offset;
    entry.handle = wf_cap_request_handle(*request);
    if (entry.handle == 0 || !wf_cap_number_take(wf_cap_requests(), &entry.number)) {
        return;
    }
    op.request = entry.number;
    if (is_open(&op)) {
        entry.staged = wf_cap_emit_open(&op, comm->size);
        wf_cap.n_open += entry.staged != WF_NOT_STAGED ? 1 : 0;
    } else {
        wf_cap_emit(&op, comm->size);
    }
    entry.op = wf_cap_ops_count();
    if (!wf_cap_requests_put(wf_cap_requests(), &entry)) {
        wf_cap_give_up("out of memory");
    }
}

void wf_cap_on_sendrecv(struct wf_cap_call *call, const struct wf_cap_message *sent,
                        const struct wf_cap_message *received, const MPI_Status *status)
{
    const struct wf_cap_comm *comm = NULL;
    struct wf_op op = {.kind = WF_OP_SENDRECV}, other = {.kind = WF_OP_RECV};

    if (!make(&op, &comm, sent) || !make(&other, &comm, received)) {
        return;
    }
    op.recv_peer = other.peer;
    op.recv_tag = other.tag;
    op.recv_bytes = other.bytes;
    if (is_open(&other)) {
        set_match(&op, status, comm);
    }
    wf_cap_emit(&op, comm->size);
}

/* MPI returns one request for both messages. It is recorded as the request of the receive; the
 * send is recorded as detached (its request is freed at once). */
void wf_cap_on_isendrecv(struct wf_cap_call *call, const struct wf_cap_message *sent,
                         const struct wf_cap_message *received, const MPI_Request *request)
{
    const struct wf_cap_comm *comm = NULL;
    struct wf_op op = {.kind = WF_OP_ISEND};

    wf_cap_on_irecv(call, received, request);
    if (make(&op, &comm, sent) && wf_cap_number_take(wf_cap_requests(), &op.request)) {
        wf_cap_emit(&op, comm->size);
        op.kind = WF_OP_REQUEST_FREE;
        wf_cap_emit(&op, 0);
        wf_cap_number_give(wf_cap_requests(), op.request);
    }
}

/* ---- probes ---- */

static bool probe(enum wf_op_kind kind, const struct wf_cap_message *asked, bool found,
                  const MPI_Status *status)
{
    const struct wf_cap_comm *comm = NULL;
    struct wf_op op = {.kind = kind};

    if (!make(&op, &comm, asked)) {
        return false;
    }
    op.recorded = true;
    op.outcome = found ? 1 : 0;
    if (found) {
        set_match(&op, status, comm);
        op.matched_tag = status->MPI_TAG < 0 ? WF_ANY_TAG : status->MPI_TAG;
    }
    wf_cap_emit(&op, comm->size);
    return true;
}

void wf_cap_on_probe(struct wf_cap_call *call, int source, int tag, MPI_Comm comm,
                     const MPI_Status *status)
{
    (void)probe(WF_OP_PROBE, MESSAGE(0, MPI_BYTE, source, tag, comm), true, status);
}

void wf_cap_on_iprobe(struct wf_cap_call *call, const struct wf_cap_message *asked,
                      const int *flag, const MPI_Status *status)
{
    (void)probe(WF_OP_IPROBE, asked, *flag != 0, status);
}

static void remember(const struct wf_cap_message *asked, const MPI_Message *message,
                     const MPI_Status *status)
{
    const struct wf_cap_comm *comm = wf_cap_comms_find(asked->comm);
    const struct wf_cap_request entry = {.handle = handle_of(*message),
                                         .number = peer_of(status->MPI_SOURCE, comm),
                                         .tag = status->MPI_TAG < 0 ? 0 : status->MPI_TAG,
                                         .comm = comm->number,
                                         .offset = comm->size};

    if (entry.handle != 0 && !wf_cap_requests_put(&probed, &entry)) {
        wf_cap_give_up("out of memory");
    }
}

void wf_cap_on_mprobe(struct wf_cap_call *call, const struct wf_cap_message *asked,
                      const MPI_Message *message, const MPI_Status *status)
{
    if (probe(WF_OP_PROBE, asked, true, status)) {
        remember(asked, message, status);
    }
}

void wf_cap_on_improbe(struct wf_cap_call *call, const struct wf_cap_message *asked,
                       const int *flag, const MPI_Message *message, const MPI_Status *status)
{
    if (probe(WF_OP_IPROBE, asked, *flag != 0, status) && *flag != 0) {
        remember(asked, message, status);
    }
}

void wf_cap_on_keep_message(struct wf_cap_call *call, const MPI_Message *message)
{
    call->handles = call->small;
    call->small[0] = handle_of(*message);
}

static void receive(struct wf_cap_call *call, MPI_Count count, MPI_Datatype type,
                    const MPI_Request *request)
{
    struct wf_op op = {.kind = request != NULL ? WF_OP_IRECV : WF_OP_RECV};
    struct wf_cap_request message, entry = {.staged = WF_NOT_STAGED};

    bool known = call->small[0] != 0 && wf_cap_requests_take(&probed, call->small[0], &message);
    entry.kind = known ? WF_REQUEST_PLAIN : WF_REQUEST_SILENT;
    if ((request != NULL && !wf_cap_new_request(request, &entry)) || !known) {
        return;
    }
    op.request = entry.number;
    op.peer = message.number;
    op.tag = message.tag;
    op.comm = message.comm;
    op.bytes = wf_cap_bytes(count, type);
    wf_cap_emit(&op, message.offset);
}

void wf_cap_on_mrecv(struct wf_cap_call *call, MPI_Count count, MPI_Datatype type)
{
    receive(call, count, type, NULL);
}

void wf_cap_on_imrecv(struct wf_cap_call *call, MPI_Count count, MPI_Datatype type,
                      const MPI_Request *request)
{
    receive(call, count, type, request);
}
