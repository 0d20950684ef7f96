/* SPDX-License-Identifier: Apache-2.0 */
/* Sends, receives and probes. */
#include "vrank/lib/memory.h"
#include "vrank/lib/request.h"

#include <stdlib.h>

/* ---- sends ---- */

struct sending {
    const void *buffer;
    int count;
    MPI_Datatype type;
    int to, tag;
    MPI_Comm comm;
    const char *function;
};

/* Puts the data where its receiver will find it, and fills in the op. False if it goes
 * nowhere. */
static bool hand_over(struct wl_rank *rank, const struct sending *what, struct wf_op *op)
{
    struct wl_view view = wl_comm_of(rank, what->comm, what->function);
    const struct wl_type *type = wl_type_of(rank, what->type, what->function);

    if (what->to == MPI_PROC_NULL) {
        return false;
    }
    if (what->to < 0 || (uint32_t)what->to >= view.comm->size || what->tag < 0 ||
        what->count < 0) {
        wl_fatal(rank, what->function, "%d elements to rank %d of %u with tag %d", what->count,
                 what->to, view.comm->size, what->tag);
    }
    struct wl_message *message = wl_message_new((size_t)what->count * type->size);
    message->context = WL_CONTEXT(view.comm);
    message->source = rank->self->rank;
    message->sender = view.rank;
    message->tag = what->tag;
    wl_pack(type, what->buffer, (size_t)what->count, message->bytes);
    op->peer = (uint32_t)what->to;
    op->tag = what->tag;
    op->comm = view.number;
    op->bytes = message->size;
    wl_mailbox_put(wl.boxes, wl_member(view.comm, (uint32_t)what->to), message);
    return true;
}

static int send(const struct sending *what, enum wf_op_kind kind)
{
    struct wl_rank *rank = wl_enter();
    struct wf_op op = {.kind = kind};

    if (hand_over(rank, what, &op)) {
        wl_post(rank, &op);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

static int isend(const struct sending *what, enum wf_op_kind kind, MPI_Request *handle)
{
    struct wl_rank *rank = wl_enter();
    struct wf_op op = {.kind = kind};
    struct wl_request *request = wl_request_new(rank, WL_REQUEST_SEND, handle);

    request->active = true;
    request->nobody = !hand_over(rank, what, &op);
    if (!request->nobody) {
        op.request = request->number;
        wl_post(rank, &op);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* The blocking modes and their immediate twins. */
#define SENDS(name, iname, kind)                                                              \
    int MPI_##name(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,      \
                   MPI_Comm comm)                                                             \
    {                                                                                         \
        return send(&(struct sending){buf, count, datatype, dest, tag, comm, "MPI_" #name},   \
                    WF_OP_##kind);                                                            \
    }                                                                                         \
    int MPI_##iname(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,     \
                    MPI_Comm comm, MPI_Request *request)                                      \
    {                                                                                         \
        return isend(&(struct sending){buf, count, datatype, dest, tag, comm, "MPI_" #iname}, \
                     WF_OP_I##kind, request);                                                 \
    }

SENDS(Send, Isend, SEND)
SENDS(Ssend, Issend, SSEND)
SENDS(Bsend, Ibsend, BSEND)
SENDS(Rsend, Irsend, RSEND)

/* ---- receives ---- */

struct receiving {
    void *buffer;
    int count;
    MPI_Datatype type;
    int from, tag;
    MPI_Comm comm;
    const char *function;
};

static uint32_t peer_of(int from)
{
    return from == MPI_ANY_SOURCE ? WF_ANY_SOURCE : (uint32_t)from;
}

/* Fills in where messages come from; false if from nobody. */
static bool make_stream(struct wl_rank *rank, const struct receiving *what,
                        struct wl_recv *recv, struct wf_op *op)
{
    struct wl_view view = wl_comm_of(rank, what->comm, what->function);

    if (what->from == MPI_PROC_NULL) {
        return false;
    }
    if ((what->from != MPI_ANY_SOURCE &&
         (what->from < 0 || (uint32_t)what->from >= view.comm->size)) ||
        (what->tag < 0 && what->tag != MPI_ANY_TAG) || what->count < 0) {
        wl_fatal(rank, what->function, "%d elements from rank %d of %u with tag %d",
                 what->count, what->from, view.comm->size, what->tag);
    }
    recv->open_source = what->from == MPI_ANY_SOURCE;
    recv->open_tag = what->tag == MPI_ANY_TAG;
    recv->stream = (struct wl_stream){
        .context = WL_CONTEXT(view.comm),
        .source = recv->open_source ? 0 : wl_member(view.comm, (uint32_t)what->from),
        .tag = what->tag,
    };
    op->peer = peer_of(what->from);
    op->tag = recv->open_tag ? WF_ANY_TAG : what->tag;
    op->comm = view.number;
    return true;
}

static bool make_recv(struct wl_rank *rank, const struct receiving *what, struct wl_recv *recv,
                      struct wf_op *op)
{
    recv->type = wl_type_of(rank, what->type, what->function);
    wl_type_hold(recv->type);
    recv->buffer = what->buffer;
    recv->count = (size_t)what->count;
    recv->number = WF_REQUEST_MAX;
    if (!make_stream(rank, what, recv, op)) {
        return false;
    }
    op->bytes = recv->count * recv->type->size;
    return true;
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    const struct receiving what = {buf, count, datatype, source, tag, comm, "MPI_Recv"};
    struct wl_rank *rank = wl_enter();
    struct wf_op op = {.kind = WF_OP_RECV};
    struct wl_recv recv = {.next = NULL};

    if (make_recv(rank, &what, &recv, &op)) {
        wl_recv_post(rank, &recv);
        (void)wl_call(rank, &op);
        wl_recv_consume(rank, &recv, status);
    } else {
        wl_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request *handle)
{
    const struct receiving what = {buf, count, datatype, source, tag, comm, "MPI_Irecv"};
    struct wl_rank *rank = wl_enter();
    struct wf_op op = {.kind = WF_OP_IRECV};
    struct wl_request *request = wl_request_new(rank, WL_REQUEST_RECV, handle);

    request->active = true;
    request->nobody = !make_recv(rank, &what, &request->recv, &op);
    if (!request->nobody) {
        request->recv.number = request->number;
        op.request = request->number;
        wl_recv_post(rank, &request->recv);
        wl_post(rank, &op);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                 int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source,
                 int recvtag, MPI_Comm comm, MPI_Status *status)
{
    static const char name[] = "MPI_Sendrecv";
    const struct sending out = {sendbuf, sendcount, sendtype, dest, sendtag, comm, name};
    const struct receiving in = {recvbuf, recvcount, recvtype, source, recvtag, comm, name};
    struct wl_rank *rank = wl_enter();
    struct wf_op op = {.kind = WF_OP_SENDRECV}, asked = {.kind = WF_OP_RECV};
    struct wl_recv recv = {.next = NULL};
    bool receives = make_recv(rank, &in, &recv, &asked);

    op.comm = wl_comm_of(rank, comm, name).number;
    if (!hand_over(rank, &out, &op)) {
        op.peer = WF_PROC_NULL;
    }
    op.recv_peer = receives ? asked.peer : WF_PROC_NULL;
    op.recv_tag = asked.tag;
    op.recv_bytes = asked.bytes;
    if (receives) {
        wl_recv_post(rank, &recv);
        (void)wl_call(rank, &op);
        wl_recv_consume(rank, &recv, status);
    } else {
        wl_post(rank, &op);
        wl_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* ---- probes ---- */

/* What a probe has found: of what was left open, the simulation knows. */
static void describe(struct wl_rank *rank, const struct wl_recv *asked,
                     const struct wf_vr_answer *answer, MPI_Status *status)
{
    struct wl_stream stream = asked->stream;

    if (asked->open_source || asked->open_tag) {
        stream.source = answer->source;
        stream.tag = answer->tag;
    }
    const struct wl_message *message =
        wl_mailbox_look(wl.boxes, rank->self->rank, &stream, wl_recv_before(rank, &stream));
    if (message == NULL) {
        wl_fatal(rank, "probe", "the message from rank %u with tag %d is not there",
                 stream.source, stream.tag);
    }
    wl_status_set(status, (int)message->sender, message->tag, message->size);
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    const struct receiving what = {
        .from = source, .tag = tag, .comm = comm, .function = "MPI_Probe"};
    struct wl_rank *rank = wl_enter();
    struct wf_op op = {.kind = WF_OP_PROBE};
    struct wl_recv asked = {.next = NULL};

    if (make_stream(rank, &what, &asked, &op)) {
        describe(rank, &asked, wl_call(rank, &op), status);
    } else {
        wl_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    const struct receiving what = {
        .from = source, .tag = tag, .comm = comm, .function = "MPI_Iprobe"};
    struct wl_rank *rank = wl_enter();
    struct wf_op op = {.kind = WF_OP_IPROBE};
    struct wl_recv asked = {.next = NULL};

    if (make_stream(rank, &what, &asked, &op)) {
        const struct wf_vr_answer *answer = wl_call(rank, &op);
        *flag = answer->found;
        if (answer->found) {
            describe(rank, &asked, answer, status);
        }
    } else {
        *flag = 1;
        wl_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    struct wl_rank *rank = wl_enter();
    size_t size = wl_type_of(rank, datatype, "MPI_Get_count")->size;
    size_t bytes = (size_t)wl_status_bytes(status);

    *count = size == 0           ? (bytes == 0 ? 0 : MPI_UNDEFINED)
             : bytes % size == 0 ? (int)(bytes / size)
                                 : MPI_UNDEFINED;
    wl_leave(rank);
    return MPI_SUCCESS;
}
