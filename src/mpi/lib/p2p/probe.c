/* SPDX-License-Identifier: Apache-2.0 */
/* Probes, and receives of messages that a matched probe has found (MPI-3.1, 3.8). A matched
 * probe posts, in the simulation, a receive of exactly the message it has found: no other
 * receive can get the message then. */
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/checker/orders.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/point_to_point.h"

/* The message that a probe has found. Sets *stream to where it was found. */
static const struct wl_message *find_message(struct wl_rank *rank, const struct wl_recv *asked,
                                             const struct wf_port_answer *answer,
                                             struct wl_stream *stream)
{
    *stream = asked->stream;
    if (asked->any_source || asked->any_tag) {
        stream->source = answer->source;
        stream->tag = answer->tag;
    }
    const struct wl_message *message = wl_message_queue_peek(
        wl.queues, rank->self->rank, stream, wl_recv_count_before(rank, stream));
    if (message == NULL) {
        wl_fatal(rank,
                 "the message from rank %u with tag %d has not arrived; please report this",
                 stream->source, stream->tag);
    }
    return message;
}

/* Posts the receive of a message that was found. Its buffer is known later. */
static MPI_Message reserve(struct wl_rank *rank, const struct wl_recv *asked,
                           const struct wl_stream *stream, const struct wf_op *probe,
                           const struct wl_message *found)
{
    struct wl_request *request = wl_calloc(1, sizeof(*request));
    struct wl_view view = wl_comm_of(rank, asked->comm);

    request->kind = WL_REQUEST_RECV;
    request->number = wl_number_new(rank);
    request->active = true;
    request->recv =
        (struct wl_recv){.stream = *stream, .number = request->number, .comm = asked->comm};
    const struct wf_op op = {.kind = WF_OP_IRECV,
                             .peer = view.peers + found->sender,
                             .tag = found->tag,
                             .comm = probe->comm,
                             .bytes = found->whole,
                             .request = request->number};
    wl_recv_post(rank, &request->recv);
    wl_post(rank, &op);
    return wl_table_add(&rank->messages, WL_MESSAGE, request);
}

int wl_probe(struct wl_rank *rank, const struct wl_recv_args *args, enum wf_op_kind kind,
             int *flag, MPI_Message *message, MPI_Status *status)
{
    static const struct wf_port_answer nothing = {.found = false};
    struct wf_op op = {.kind = kind};
    struct wl_recv asked = {.next = NULL};
    bool proc_null;
    int code = wl_recv_find_stream(rank, args, &asked, &op, &proc_null);
    MPI_Message reserved = MPI_MESSAGE_NO_PROC;

    *flag = 1;
    if (proc_null) {
        wl_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    } else if (code == MPI_SUCCESS) {
        struct wl_order_decision *decision = NULL;
        int32_t fixed = WF_DECISION_FREE;
        if (wl_orders() && (asked.any_source || kind != WF_OP_PROBE)) {
            bool blocks = kind == WF_OP_PROBE;
            fixed = wl_order_source(rank, blocks ? WF_DECISION_PROBE : WF_DECISION_LOOK, &asked,
                                    &decision);
            wl_recv_fix_source(rank, args, fixed, &asked, &op);
            op.kind = kind = fixed >= 0 ? WF_OP_PROBE : kind;
        }
        const struct wf_port_answer *answer =
            fixed != WF_DECISION_NOTHING ? wl_call(rank, &op) : &nothing;
        *flag = kind == WF_OP_PROBE || answer->found;
        reserved = MPI_MESSAGE_NULL;
        int32_t source = WF_DECISION_NOTHING;
        if (*flag) {
            struct wl_stream stream;
            const struct wl_message *found = find_message(rank, &asked, answer, &stream);
            wl_status_set(status, (int)found->sender, found->tag, found->whole);
            source = (int32_t)found->sender;
            reserved = message != NULL ? reserve(rank, &asked, &stream, &op, found) : reserved;
        }
        if (decision != NULL) {
            wl_order_decided(rank, decision, source);
        }
    }
    if (message != NULL) {
        *message = reserved;
    }
    return code;
}

int wl_MPI_Imrecv(struct wl_rank *rank, void *buf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Message *message, MPI_Request *handle)
{
    if (*message == MPI_MESSAGE_NO_PROC) {
        wl_request_new(rank, WL_REQUEST_RECV, handle)->proc_null = true;
    } else {
        struct wl_request *request = wl_table_take(&rank->messages, WL_MESSAGE, *message);
        if (request == NULL) {
            wl_fatal(rank, "there is no message 0x%x", (unsigned)*message);
        }
        request->recv.buffer = buf;
        request->recv.count = (size_t)count;
        request->recv.type = wl_type_of(rank, datatype);
        wl_type_hold(request->recv.type);
        request->posted = request->recv.posted = wl_caller_of(rank);
        wl_recv_check(rank, &request->recv, &request->uses);
        *handle = wl_table_add(&rank->requests, WL_REQUEST, request);
    }
    *message = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

int wl_MPI_Mrecv(struct wl_rank *rank, void *buf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Message *message, MPI_Status *status)
{
    MPI_Request request;
    int code = wl_MPI_Imrecv(rank, buf, count, datatype, message, &request);

    return code == MPI_SUCCESS ? wl_MPI_Wait(rank, &request, status) : code;
}
