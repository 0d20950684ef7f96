/* SPDX-License-Identifier: Apache-2.0 */
/* Probes. Some keep what they find, for one receive: in the simulation that is a receive of
 * what the probe has found, which nothing else can get any more. */
#include "mpilib/memory.h"
#include "mpilib/point_to_point.h"

/* Posts the receive of what was found. Where the data goes is known later. */
static MPI_Message keep(struct wl_rank *rank, const struct wl_recv *asked,
                        const struct wl_stream *stream, const struct wf_op *probe,
                        const struct wl_message *found)
{
    struct wl_request *request = wl_calloc(1, sizeof(*request));
    struct wf_op op = {
        .kind = WF_OP_IRECV, .tag = found->tag, .comm = probe->comm, .bytes = found->whole};
    struct wl_view view = wl_comm_of(rank, asked->comm, "MPI_Mprobe");

    op.peer = view.peers + found->sender;
    request->kind = WL_REQUEST_RECV;
    request->number = wl_number_new(rank);
    request->active = true;
    request->recv =
        (struct wl_recv){.stream = *stream, .number = request->number, .comm = asked->comm};
    op.request = request->number;
    wl_recv_post(rank, &request->recv);
    wl_post(rank, &op);
    return wl_table_add(&rank->messages, WL_MESSAGE, request);
}

/* With a null `message` nothing is kept. */
static int probe(const struct wl_receiving *what, enum wf_op_kind kind, int *flag,
                 MPI_Message *message, MPI_Status *status)
{
    struct wl_rank *rank = wl_enter();
    struct wf_op op = {.kind = kind};
    struct wl_recv asked = {.next = NULL};
    bool nobody;
    int code = wl_find_stream(rank, what, &asked, &op, &nobody);

    MPI_Message kept = MPI_MESSAGE_NO_PROC;

    *flag = 1;
    if (nobody) {
        wl_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    } else if (code == MPI_SUCCESS) {
        const struct wf_port_answer *answer = wl_call(rank, &op);
        *flag = kind == WF_OP_PROBE || answer->found;
        kept = MPI_MESSAGE_NULL;
        if (*flag) {
            struct wl_stream stream;
            const struct wl_message *found = wl_probed(rank, &asked, answer, &stream);
            wl_status_set(status, (int)found->sender, found->tag, found->whole);
            kept = message != NULL ? keep(rank, &asked, &stream, &op, found) : kept;
        }
    }
    if (message != NULL) {
        *message = kept;
    }
    wl_leave(rank);
    return code;
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    const struct wl_receiving what = {
        .from = source, .tag = tag, .comm = comm, .function = "MPI_Probe"};
    int flag;

    return probe(&what, WF_OP_PROBE, &flag, NULL, status);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    const struct wl_receiving what = {
        .from = source, .tag = tag, .comm = comm, .function = "MPI_Iprobe"};

    return probe(&what, WF_OP_IPROBE, flag, NULL, status);
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    const struct wl_receiving what = {
        .from = source, .tag = tag, .comm = comm, .function = "MPI_Mprobe"};
    int flag;

    return probe(&what, WF_OP_PROBE, &flag, message, status);
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                MPI_Status *status)
{
    const struct wl_receiving what = {
        .from = source, .tag = tag, .comm = comm, .function = "MPI_Improbe"};

    return probe(&what, WF_OP_IPROBE, flag, message, status);
}

int MPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
               MPI_Request *handle)
{
    struct wl_rank *rank = wl_enter();
    struct wl_request *request;

    if (*message == MPI_MESSAGE_NO_PROC) {
        request = wl_request_new(rank, WL_REQUEST_RECV, handle);
        request->active = true;
        request->nobody = true;
    } else {
        request = wl_table_take(&rank->messages, WL_MESSAGE, *message);
        if (request == NULL) {
            wl_fatal(rank, "MPI_Mrecv", "there is no message 0x%x", (unsigned)*message);
        }
        request->recv.buffer = buf;
        request->recv.count = (size_t)count;
        request->recv.type = wl_type_of(rank, datatype, "MPI_Mrecv");
        wl_type_hold(request->recv.type);
        *handle = wl_table_add(&rank->requests, WL_REQUEST, request);
    }
    *message = MPI_MESSAGE_NULL;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
              MPI_Status *status)
{
    MPI_Request request;
    int code = MPI_Imrecv(buf, count, datatype, message, &request);

    return code == MPI_SUCCESS ? MPI_Wait(&request, status) : code;
}

/* ---- buffered sends ---- */

/* Sends never wait for room here; the program's buffer is only kept for it. */
int MPI_Buffer_attach(void *buffer, int size)
{
    struct wl_rank *rank = wl_enter();

    if (rank->bsend_buffer != NULL) {
        wl_fatal(rank, "MPI_Buffer_attach", "there is a buffer already");
    }
    rank->bsend_buffer = buffer;
    rank->bsend_bytes = size;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Buffer_detach(void *buffer, int *size)
{
    struct wl_rank *rank = wl_enter();

    *(void **)buffer = rank->bsend_buffer;
    *size = rank->bsend_bytes;
    rank->bsend_buffer = NULL;
    rank->bsend_bytes = 0;
    wl_leave(rank);
    return MPI_SUCCESS;
}
