/* SPDX-License-Identifier: Apache-2.0 */
/* Sends, receives and probes. */
#include "mpilib/point_to_point.h"

#include "mpilib/errors.h"
#include "mpilib/interprocess.h"
#include "mpilib/payload.h"

/* ---- sends ---- */

int wl_hand_over(struct wl_rank *rank, const struct wl_sending *what, struct wf_op *op,
                 bool *nobody)
{
    struct wl_view view = wl_comm_of(rank, what->comm, what->function);
    const struct wl_type *type = wl_type_of(rank, what->type, what->function);

    *nobody = what->to == MPI_PROC_NULL;
    if (*nobody) {
        return MPI_SUCCESS;
    }
    if (what->to < 0 || (uint32_t)what->to >= view.n_peers) {
        return wl_error(rank, what->comm, MPI_ERR_RANK, what->function,
                        "there is no rank %d of %u", what->to, view.n_peers);
    }
    if (what->tag < 0 || what->count < 0) {
        return wl_error(rank, what->comm, what->tag < 0 ? MPI_ERR_TAG : MPI_ERR_COUNT,
                        what->function, "%d elements with tag %d", what->count, what->tag);
    }
    size_t bytes = (size_t)what->count * type->size;
    bool wanted = wl_data_wanted(bytes);
    struct wl_message *message = wl_message_new(wanted ? bytes : 0);
    message->whole = bytes;
    message->context = WL_CONTEXT(view.comm);
    message->source = rank->self->rank;
    message->sender = wl_own_rank(&view);
    message->tag = what->tag;
    if (wanted) {
        wl_pack(type, what->buffer, (size_t)what->count, message->bytes);
    }
    op->peer = view.peers + (uint32_t)what->to;
    op->tag = what->tag;
    op->comm = view.number;
    op->bytes = bytes;
    wl_message_send(wl_member(view.comm, op->peer), message);
    return MPI_SUCCESS;
}

static int send(const struct wl_sending *what, enum wf_op_kind kind)
{
    struct wl_rank *rank = wl_enter();
    struct wf_op op = {.kind = kind};
    bool nobody;
    int code = wl_hand_over(rank, what, &op, &nobody);

    if (code == MPI_SUCCESS && !nobody) {
        wl_post(rank, &op);
    }
    wl_leave(rank);
    return code;
}

static int isend(const struct wl_sending *what, enum wf_op_kind kind, MPI_Request *handle)
{
    struct wl_rank *rank = wl_enter();
    struct wf_op op = {.kind = kind};
    bool nobody;
    int code = wl_hand_over(rank, what, &op, &nobody);

    if (code == MPI_SUCCESS) {
        struct wl_request *request = wl_request_new(rank, WL_REQUEST_SEND, handle);
        request->active = true;
        request->nobody = nobody;
        op.request = request->number;
        if (!nobody) {
            wl_post(rank, &op);
        }
    }
    wl_leave(rank);
    return code;
}

/* The blocking modes and their immediate twins. */
#define SENDS(name, iname, kind)                                                               \
    int MPI_##name(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,       \
                   MPI_Comm comm)                                                              \
    {                                                                                          \
        return send(&(struct wl_sending){buf, count, datatype, dest, tag, comm, "MPI_" #name}, \
                    WF_OP_##kind);                                                             \
    }                                                                                          \
    int MPI_##iname(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,      \
                    MPI_Comm comm, MPI_Request *request)                                       \
    {                                                                                          \
        return isend(                                                                          \
            &(struct wl_sending){buf, count, datatype, dest, tag, comm, "MPI_" #iname},        \
            WF_OP_I##kind, request);                                                           \
    }

SENDS(Send, Isend, SEND)
SENDS(Ssend, Issend, SSEND)
SENDS(Bsend, Ibsend, BSEND)
SENDS(Rsend, Irsend, RSEND)

/* ---- receives ---- */

int wl_find_stream(struct wl_rank *rank, const struct wl_receiving *what, struct wl_recv *recv,
                   struct wf_op *op, bool *nobody)
{
    struct wl_view view = wl_comm_of(rank, what->comm, what->function);

    *nobody = what->from == MPI_PROC_NULL;
    if (*nobody) {
        return MPI_SUCCESS;
    }
    recv->open_source = what->from == MPI_ANY_SOURCE;
    recv->open_tag = what->tag == MPI_ANY_TAG;
    if (!recv->open_source && (what->from < 0 || (uint32_t)what->from >= view.n_peers)) {
        return wl_error(rank, what->comm, MPI_ERR_RANK, what->function,
                        "there is no rank %d of %u", what->from, view.n_peers);
    }
    if ((what->tag < 0 && !recv->open_tag) || what->count < 0) {
        return wl_error(rank, what->comm, what->count < 0 ? MPI_ERR_COUNT : MPI_ERR_TAG,
                        what->function, "%d elements with tag %d", what->count, what->tag);
    }
    op->peer = recv->open_source ? WF_ANY_SOURCE : view.peers + (uint32_t)what->from;
    op->tag = recv->open_tag ? WF_ANY_TAG : what->tag;
    op->comm = view.number;
    recv->comm = what->comm;
    recv->stream = (struct wl_stream){
        .context = WL_CONTEXT(view.comm),
        .source = recv->open_source ? 0 : wl_member(view.comm, op->peer),
        .tag = what->tag,
    };
    return MPI_SUCCESS;
}

int wl_make_recv(struct wl_rank *rank, const struct wl_receiving *what, struct wl_recv *recv,
                 struct wf_op *op, bool *nobody)
{
    int code = wl_find_stream(rank, what, recv, op, nobody);

    if (code != MPI_SUCCESS || *nobody) {
        return code;
    }
    recv->type = wl_type_of(rank, what->type, what->function);
    wl_type_hold(recv->type);
    recv->buffer = what->buffer;
    recv->count = (size_t)what->count;
    recv->number = WF_REQUEST_MAX;
    /* A program that wants to hear of messages that are too long does not fail by them. */
    op->bytes =
        wl_errors_return(rank, what->comm) ? UINT64_MAX / 2 : recv->count * recv->type->size;
    return MPI_SUCCESS;
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    const struct wl_receiving what = {buf, count, datatype, source, tag, comm, "MPI_Recv"};
    struct wl_rank *rank = wl_enter();
    struct wf_op op = {.kind = WF_OP_RECV};
    struct wl_recv recv = {.next = NULL};
    bool nobody;
    int code = wl_make_recv(rank, &what, &recv, &op, &nobody);

    if (nobody) {
        wl_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    } else if (code == MPI_SUCCESS) {
        wl_recv_post(rank, &recv);
        (void)wl_call(rank, &op);
        code = wl_recv_consume(rank, &recv, status);
    }
    wl_leave(rank);
    return code;
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request *handle)
{
    const struct wl_receiving what = {buf, count, datatype, source, tag, comm, "MPI_Irecv"};
    struct wl_rank *rank = wl_enter();
    struct wf_op op = {.kind = WF_OP_IRECV};
    struct wl_recv recv = {.next = NULL};
    bool nobody;
    int code = wl_make_recv(rank, &what, &recv, &op, &nobody);

    if (code == MPI_SUCCESS) {
        struct wl_request *request = wl_request_new(rank, WL_REQUEST_RECV, handle);
        request->active = true;
        request->nobody = nobody;
        request->recv = recv;
        request->recv.number = request->number;
        op.request = request->number;
        if (!nobody) {
            wl_recv_post(rank, &request->recv);
            wl_post(rank, &op);
        }
    }
    wl_leave(rank);
    return code;
}

/* Both at once; the data of the send is taken before the receive can overwrite it. */
static int sendrecv(const struct wl_sending *out, const struct wl_receiving *in,
                    MPI_Status *status)
{
    struct wl_rank *rank = wl_enter();
    struct wf_op op = {.kind = WF_OP_SENDRECV}, asked = {.kind = WF_OP_RECV};
    struct wl_recv recv = {.next = NULL};
    bool to_nobody, from_nobody;
    int code = wl_make_recv(rank, in, &recv, &asked, &from_nobody);

    if (code == MPI_SUCCESS) {
        code = wl_hand_over(rank, out, &op, &to_nobody);
    }
    if (code != MPI_SUCCESS) {
        wl_leave(rank);
        return code;
    }
    op.comm = wl_comm_of(rank, in->comm, in->function).number;
    op.peer = to_nobody ? WF_PROC_NULL : op.peer;
    op.recv_peer = from_nobody ? WF_PROC_NULL : asked.peer;
    op.recv_tag = asked.tag;
    op.recv_bytes = asked.bytes;
    if (!from_nobody) {
        wl_recv_post(rank, &recv);
        (void)wl_call(rank, &op);
        code = wl_recv_consume(rank, &recv, status);
    } else {
        wl_post(rank, &op);
        wl_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    }
    wl_leave(rank);
    return code;
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                 int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype, int source,
                 int recvtag, MPI_Comm comm, MPI_Status *status)
{
    static const char name[] = "MPI_Sendrecv";
    const struct wl_sending out = {sendbuf, sendcount, sendtype, dest, sendtag, comm, name};
    const struct wl_receiving in = {recvbuf, recvcount, recvtype, source, recvtag, comm, name};

    return sendrecv(&out, &in, status);
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                         int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    static const char name[] = "MPI_Sendrecv_replace";
    const struct wl_sending out = {buf, count, datatype, dest, sendtag, comm, name};
    const struct wl_receiving in = {buf, count, datatype, source, recvtag, comm, name};

    return sendrecv(&out, &in, status);
}

/* ---- probes ---- */

const struct wl_message *wl_probed(struct wl_rank *rank, const struct wl_recv *asked,
                                   const struct wf_port_answer *answer,
                                   struct wl_stream *stream)
{
    *stream = asked->stream;
    if (asked->open_source || asked->open_tag) {
        stream->source = answer->source;
        stream->tag = answer->tag;
    }
    const struct wl_message *message =
        wl_mailbox_look(wl.boxes, rank->self->rank, stream, wl_recv_before(rank, stream));
    if (message == NULL) {
        wl_fatal(rank, "probe", "the message from rank %u with tag %d is not there",
                 stream->source, stream->tag);
    }
    return message;
}
