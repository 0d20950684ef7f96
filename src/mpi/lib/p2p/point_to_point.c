/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives. Probes are in probe.c, persistent requests in request_persistent.c. */
#include "mpi/lib/p2p/point_to_point.h"

#include "mpi/lib/checker/checker.h"
#include "mpi/lib/checker/orders.h"
#include "mpi/lib/comm/registry.h"
#include "mpi/lib/errors.h"
#include "mpi/lib/interprocess.h"
#include "mpi/lib/p2p/message_loan.h"
#include "mpi/lib/p2p/payload.h"

#include <string.h>

/* Programs give no type for no elements. */
static const struct wl_type *type_of(const struct wl_rank *rank, MPI_Datatype type,
                                     MPI_Count count)
{
    return wl_type_of(rank, count == 0 && type == MPI_DATATYPE_NULL ? MPI_BYTE : type);
}

/* ---- sends ---- */

/* The message of a send: with its data, or with the program's buffer if it can be lent. */
static struct wl_message *message_of(struct wl_rank *rank, const struct wl_send_args *args,
                                     uint32_t to, bool may_lend)
{
    const struct wl_type *type = type_of(rank, args->type, args->count);
    size_t count = (size_t)args->count, bytes = count * type->size;

    if (may_lend && wl_loan_is_possible(rank, type, args->buffer, count)) {
        return wl_loan_new(args->buffer, bytes, to);
    }
    bool wanted = wl_payload_wanted(bytes);
    size_t ends = 2 * wl_payload_end();
    bool has_ends = !wanted && bytes > ends;
    struct wl_message *message = wl_message_new(wanted ? bytes : has_ends ? ends : 0);
    message->whole = bytes;
    if (wanted) {
        wl_pack(type, args->buffer, count, message->bytes);
    } else if (has_ends) {
        wl_payload_take_ends(type, args->buffer, count, message->bytes);
    }
    return message;
}

int wl_send_message(struct wl_rank *rank, const struct wl_send_args *args, struct wf_op *op,
                    bool *proc_null, struct wl_message **loan)
{
    struct wl_view view = wl_comm_of(rank, args->comm);

    *proc_null = args->to == MPI_PROC_NULL;
    if (*proc_null) {
        return MPI_SUCCESS;
    }
    if (args->to < 0 || (uint32_t)args->to >= view.n_peers) {
        return wl_error(rank, args->comm, MPI_ERR_RANK,
                        "there is no rank %d in a communicator of %u ranks", args->to,
                        view.n_peers);
    }
    if (args->tag < 0 || args->count < 0) {
        return wl_error(rank, args->comm, args->tag < 0 ? MPI_ERR_TAG : MPI_ERR_COUNT,
                        "%td elements with tag %d", args->count, args->tag);
    }
    op->peer = view.peers + (uint32_t)args->to;
    op->tag = args->tag;
    op->comm = view.number;
    uint32_t to = wl_member(view.comm, op->peer);
    struct wl_message *message = message_of(rank, args, to, loan != NULL);
    message->context = WL_CONTEXT(view.comm);
    message->source = rank->self->rank;
    message->sender = wl_own_rank(&view);
    message->tag = args->tag;
    op->bytes = message->whole;
    rank->n_sent++;
    rank->n_sent_bytes += message->whole;
    bool lent = message->holders > 1;
    if (wl_checks()) {
        message->sent =
            wl_check_sent(rank, type_of(rank, args->type, args->count), (size_t)args->count);
        message->sent->order = wl_orders() ? wl_order_sent(rank, to, message) : NULL;
    }
    wl_message_send(to, message);
    if (lent && loan != NULL && wl_is_local(to)) {
        *loan = message;
    } else if (lent) {
        wl_loan_end(&message);
    }
    return MPI_SUCCESS;
}

static struct wl_buffer_use send_use(const struct wl_rank *rank,
                                     const struct wl_send_args *args)
{
    return (struct wl_buffer_use){args->buffer, (size_t)args->count,
                                  type_of(rank, args->type, args->count), .writes = false};
}

void wl_send_check(struct wl_rank *rank, const struct wl_send_args *args, struct wl_use **uses)
{
    if (wl_checks() && args->to != MPI_PROC_NULL) {
        const struct wl_buffer_use what = send_use(rank, args);
        wl_check_hold(rank, &what, uses);
    }
}

void wl_recv_check(struct wl_rank *rank, const struct wl_recv *recv, struct wl_use **uses)
{
    const struct wl_buffer_use what = {recv->buffer, recv->count, recv->type, .writes = true};

    if (wl_checks() && uses != NULL) {
        wl_check_hold(rank, &what, uses);
    } else if (wl_checks()) {
        wl_check_use(rank, &what);
    }
}

int wl_send(struct wl_rank *rank, const struct wl_send_args *args, enum wf_op_kind kind)
{
    struct wf_op op = {.kind = kind};
    struct wl_message *loan = NULL;
    bool proc_null;
    int code = wl_send_message(rank, args, &op, &proc_null, &loan);

    if (wl_checks() && code == MPI_SUCCESS && !proc_null) {
        const struct wl_buffer_use what = send_use(rank, args);
        wl_check_use(rank, &what);
    }
    if (loan != NULL) { /* until then the receive is probably posted */
        (void)wl_call(rank, &op);
        wl_loan_end(&loan);
    } else if (code == MPI_SUCCESS && !proc_null) {
        wl_post(rank, &op);
    }
    return code;
}

int wl_isend(struct wl_rank *rank, const struct wl_send_args *args, enum wf_op_kind kind,
             MPI_Request *handle)
{
    struct wf_op op = {.kind = kind};
    struct wl_message *loan = NULL;
    bool proc_null;
    int code = wl_send_message(rank, args, &op, &proc_null, &loan);

    if (code == MPI_SUCCESS) {
        struct wl_request *request = wl_request_new(rank, WL_REQUEST_SEND, handle);
        request->proc_null = proc_null;
        request->loan = loan;
        op.request = request->number;
        if (!proc_null) {
            if (kind != WF_OP_IBSEND) { /* whose data has been copied */
                wl_send_check(rank, args, &request->uses);
            }
            wl_post(rank, &op);
        }
    }
    return code;
}

/* A simulated buffered send never waits for memory: the program's buffer is only remembered. */
int wl_MPI_Buffer_attach(struct wl_rank *rank, void *buffer, MPI_Count size)
{
    if (rank->bsend_buffer != NULL) {
        wl_fatal(rank, "a buffer is attached already; detach it first");
    }
    rank->bsend_buffer = buffer;
    rank->bsend_bytes = size;
    return MPI_SUCCESS;
}

int wl_MPI_Buffer_detach(struct wl_rank *rank, void *buffer, MPI_Count *size)
{
    *(void **)buffer = rank->bsend_buffer;
    *size = rank->bsend_bytes;
    rank->bsend_buffer = NULL;
    rank->bsend_bytes = 0;
    return MPI_SUCCESS;
}

/* ---- receives ---- */

int wl_recv_find_stream(struct wl_rank *rank, const struct wl_recv_args *args,
                        struct wl_recv *recv, struct wf_op *op, bool *proc_null)
{
    struct wl_view view = wl_comm_of(rank, args->comm);

    *proc_null = args->from == MPI_PROC_NULL;
    if (*proc_null) {
        return MPI_SUCCESS;
    }
    recv->any_source = args->from == MPI_ANY_SOURCE;
    recv->any_tag = args->tag == MPI_ANY_TAG;
    if (!recv->any_source && (args->from < 0 || (uint32_t)args->from >= view.n_peers)) {
        return wl_error(rank, args->comm, MPI_ERR_RANK,
                        "there is no rank %d in a communicator of %u ranks", args->from,
                        view.n_peers);
    }
    if ((args->tag < 0 && !recv->any_tag) || args->count < 0) {
        return wl_error(rank, args->comm, args->count < 0 ? MPI_ERR_COUNT : MPI_ERR_TAG,
                        "%td elements with tag %d", args->count, args->tag);
    }
    op->peer = recv->any_source ? WF_ANY_SOURCE : view.peers + (uint32_t)args->from;
    op->tag = recv->any_tag ? WF_ANY_TAG : args->tag;
    op->comm = view.number;
    recv->comm = args->comm;
    recv->stream = (struct wl_stream){
        .context = WL_CONTEXT(view.comm),
        .source = recv->any_source ? 0 : wl_member(view.comm, op->peer),
        .tag = args->tag,
    };
    return MPI_SUCCESS;
}

void wl_recv_fix_source(struct wl_rank *rank, const struct wl_recv_args *args, int32_t source,
                        struct wl_recv *recv, struct wf_op *op)
{
    struct wl_view view = wl_comm_of(rank, args->comm);

    if (source >= 0 && (uint32_t)source >= view.n_peers) {
        wl_fatal(rank, "the schedule names rank %d of a communicator of %u", source,
                 view.n_peers);
    }
    if (source >= 0) {
        recv->any_source = false;
        op->peer = view.peers + (uint32_t)source;
        recv->stream.source = wl_member(view.comm, op->peer);
    }
}

int wl_recv_prepare(struct wl_rank *rank, const struct wl_recv_args *args, struct wl_recv *recv,
                    struct wf_op *op, bool *proc_null)
{
    int code = wl_recv_find_stream(rank, args, recv, op, proc_null);

    if (code != MPI_SUCCESS || *proc_null) {
        return code;
    }
    if (wl_orders() && recv->any_source) {
        wl_recv_fix_source(rank, args,
                           wl_order_source(rank, WF_DECISION_RECEIVE, recv, &recv->decision),
                           recv, op);
    }
    recv->posted = wl_caller_of(rank);
    recv->type = type_of(rank, args->type, args->count);
    wl_type_hold(recv->type);
    recv->buffer = args->buffer;
    recv->count = (size_t)args->count;
    recv->number = WF_REQUEST_MAX;
    recv->lands = wl_loan_is_possible(rank, recv->type, recv->buffer, recv->count);
    /* If errors return, the program learns of a message that is too long by its error code: the
     * simulation must not end it. */
    op->bytes =
        wl_errors_return(rank, args->comm) ? UINT64_MAX / 2 : recv->count * recv->type->size;
    return MPI_SUCCESS;
}

int wl_MPI_Recv(struct wl_rank *rank, void *buf, MPI_Count count, MPI_Datatype datatype,
                int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    const struct wl_recv_args args = {buf, count, datatype, source, tag, comm};
    struct wf_op op = {.kind = WF_OP_RECV};
    struct wl_recv recv = {.next = NULL};
    bool proc_null;
    int code = wl_recv_prepare(rank, &args, &recv, &op, &proc_null);

    if (proc_null) {
        wl_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    } else if (code == MPI_SUCCESS) {
        wl_recv_check(rank, &recv, NULL);
        wl_recv_post(rank, &recv);
        (void)wl_call(rank, &op);
        code = wl_recv_complete(rank, &recv, status);
    }
    return code;
}

int wl_MPI_Irecv(struct wl_rank *rank, void *buf, MPI_Count count, MPI_Datatype datatype,
                 int source, int tag, MPI_Comm comm, MPI_Request *handle)
{
    const struct wl_recv_args args = {buf, count, datatype, source, tag, comm};
    struct wf_op op = {.kind = WF_OP_IRECV};
    struct wl_recv recv = {.next = NULL};
    bool proc_null;
    int code = wl_recv_prepare(rank, &args, &recv, &op, &proc_null);

    if (code == MPI_SUCCESS) {
        struct wl_request *request = wl_request_new(rank, WL_REQUEST_RECV, handle);
        request->proc_null = proc_null;
        request->recv = recv;
        request->recv.number = request->number;
        op.request = request->number;
        if (!proc_null) {
            wl_recv_check(rank, &request->recv, &request->uses);
            wl_recv_post(rank, &request->recv);
            wl_post(rank, &op);
        }
    }
    return code;
}

/* The buffers of both directions must not overlap, unless one replaces the other. */
static void check_both(struct wl_rank *rank, const struct wl_send_args *out,
                       const struct wl_recv *in)
{
    struct wl_use *uses = NULL;

    bool replaces = strncmp(rank->function, "MPI_Sendrecv_replace", 20) == 0;
    if (wl_checks() && out->to != MPI_PROC_NULL && !replaces) {
        struct wl_buffer_use what = send_use(rank, out);
        what.brief = true;
        wl_check_hold(rank, &what, &uses);
    }
    wl_recv_check(rank, in, NULL);
    wl_check_forget(rank, &uses);
}

/* Data of one buffer is packed before the receive can overwrite it. */
int wl_sendrecv(struct wl_rank *rank, const struct wl_send_args *out,
                const struct wl_recv_args *in, MPI_Status *status)
{
    struct wl_message *loan = NULL;
    struct wf_op op = {.kind = WF_OP_SENDRECV}, asked = {.kind = WF_OP_RECV};
    struct wl_recv recv = {.next = NULL};
    bool to_null, from_null;
    int code = wl_recv_prepare(rank, in, &recv, &asked, &from_null);

    if (code == MPI_SUCCESS) {
        code =
            wl_send_message(rank, out, &op, &to_null, out->buffer != in->buffer ? &loan : NULL);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    op.comm = wl_comm_of(rank, in->comm).number;
    op.peer = to_null ? WF_PROC_NULL : op.peer;
    op.recv_peer = from_null ? WF_PROC_NULL : asked.peer;
    op.recv_tag = asked.tag;
    op.recv_bytes = asked.bytes;
    if (from_null) {
        wl_post(rank, &op);
        wl_loan_end(&loan);
        wl_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        return MPI_SUCCESS;
    }
    check_both(rank, out, &recv);
    wl_recv_post(rank, &recv);
    (void)wl_call(rank, &op);
    wl_loan_end(&loan);
    return wl_recv_complete(rank, &recv, status);
}
