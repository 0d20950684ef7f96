/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the library itself. */
#include "mpi/lib/p2p/internal_messages.h"

#include "mpi/lib/interprocess.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/request.h"

#include <stdlib.h>
#include <string.h>

/* 0, 1, 2, ...: the members of MPI_COMM_WORLD. All ranks share the list; the first one that
 * needs it allocates it. */
static const uint32_t *identity(void)
{
    uint32_t *list = __atomic_load_n(&wl.identity, __ATOMIC_ACQUIRE);

    if (list == NULL) {
        uint32_t *created = wl_malloc(wl.n_ranks * sizeof(uint32_t));
        for (uint32_t i = 0; i < wl.n_ranks; i++) {
            created[i] = i;
        }
        if (__atomic_compare_exchange_n(&wl.identity, &list, created, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            return created;
        }
        free(created);
    }
    return list;
}

/* It is created with the first message. */
uint32_t wl_internal_number(struct wl_rank *rank, const struct wl_view *view)
{
    uint32_t *number = &rank->world_internal;

    if (view->number != WF_COMM_WORLD) {
        int handle = wl_handle(WL_COMM, view->number / 2 - 1 + WL_OBJECT_FIRST);
        struct wl_view *own = wl_table_get(&rank->comms, WL_COMM, handle);
        number = &own->internal_number;
    }
    if (*number == 0) {
        *number = view->number + 1;
        const struct wf_port_comm simulated = {
            *number, WL_SIMULATED_ID(view->comm) + 1, view->comm->size, view->rank,
            view->comm->members != NULL ? view->comm->members : identity()};
        wl.port->comm(rank->self, &simulated);
    }
    return *number;
}

void wl_internal_send(struct wl_rank *rank, const struct wl_view *view, uint32_t to, int tag,
                      struct wl_bytes bytes)
{
    struct wl_message *message = wl_message_new(bytes.n);
    const struct wf_op op = {.kind = WF_OP_SEND,
                             .peer = to,
                             .tag = tag,
                             .comm = wl_internal_number(rank, view),
                             .bytes = bytes.n};

    message->context = WL_INTERNAL_CONTEXT(view->comm);
    message->source = rank->self->rank;
    message->sender = view->rank;
    message->tag = tag;
    if (bytes.n > 0) {
        memcpy(message->bytes, bytes.from, bytes.n);
    }
    wl_message_send(wl_member(view->comm, to), message);
    wl_post(rank, &op);
}

void wl_internal_recv(struct wl_rank *rank, const struct wl_view *view, uint32_t from, int tag,
                      struct wl_buffer buffer)
{
    struct wl_recv recv = {
        .stream = {WL_INTERNAL_CONTEXT(view->comm), wl_member(view->comm, from), tag},
        .number = WF_REQUEST_MAX,
        .buffer = buffer.to,
        .count = buffer.n,
        .type = wl_type_of(rank, MPI_BYTE)};
    const struct wf_op op = {.kind = WF_OP_RECV,
                             .peer = from,
                             .tag = tag,
                             .comm = wl_internal_number(rank, view),
                             .bytes = buffer.n};

    wl_recv_post(rank, &recv);
    (void)wl_call(rank, &op);
    (void)wl_recv_complete(rank, &recv, MPI_STATUS_IGNORE);
}

uint32_t wl_internal_recv_any(struct wl_rank *rank, const struct wl_view *view, int tag)
{
    struct wl_recv recv = {.stream = {.context = WL_INTERNAL_CONTEXT(view->comm), .tag = tag},
                           .any_source = true,
                           .number = WF_REQUEST_MAX,
                           .type = wl_type_of(rank, MPI_BYTE)};
    const struct wf_op op = {.kind = WF_OP_RECV,
                             .peer = WF_ANY_SOURCE,
                             .tag = tag,
                             .comm = wl_internal_number(rank, view)};

    wl_recv_post(rank, &recv);
    (void)wl_call(rank, &op);
    (void)wl_recv_complete(rank, &recv, MPI_STATUS_IGNORE);
    return recv.stream.source;
}

bool wl_internal_probe(struct wl_rank *rank, const struct wl_view *view, uint32_t from, int tag)
{
    const struct wf_op op = {
        .kind = WF_OP_IPROBE, .peer = from, .tag = tag, .comm = wl_internal_number(rank, view)};

    return wl_call(rank, &op)->found;
}
