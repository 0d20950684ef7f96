/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/internal_messages.h"

#include "mpilib/communicator_registry.h"
#include "mpilib/interprocess.h"
#include "mpilib/memory.h"
#include "mpilib/request.h"

#include <stdlib.h>
#include <string.h>

/* The simulation has a second communicator for such messages, once there is one. */
static const uint32_t *identity(void)
{
    uint32_t *list = __atomic_load_n(&wl.identity, __ATOMIC_ACQUIRE);

    if (list == NULL) {
        uint32_t *made = wl_malloc(wl.n_ranks * sizeof(uint32_t));
        for (uint32_t i = 0; i < wl.n_ranks; i++) {
            made[i] = i;
        }
        if (__atomic_compare_exchange_n(&wl.identity, &list, made, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            return made;
        }
        free(made);
    }
    return list;
}

static uint32_t hidden_number(struct wl_rank *rank, const struct wl_view *view)
{
    uint32_t *number = &rank->world_hidden;

    if (view->number != WF_COMM_WORLD) {
        int handle = wl_handle(WL_COMM, view->number / 2 - 1 + WL_OBJECT_FIRST);
        struct wl_view *own = wl_table_get(&rank->comms, WL_COMM, handle);
        number = &own->hidden;
    }
    if (*number == 0) {
        *number = view->number + 1;
        const struct wf_port_comm known = {
            *number, WL_SIMULATED(view->comm) + 1, view->comm->size, view->rank,
            view->comm->members != NULL ? view->comm->members : identity()};
        wl.port->comm(rank->self, &known);
    }
    return *number;
}

void wl_hidden_send(struct wl_rank *rank, const struct wl_view *view, uint32_t to, int tag,
                    struct wl_bytes what)
{
    struct wl_message *message = wl_message_new(what.n);
    const struct wf_op op = {.kind = WF_OP_SEND,
                             .peer = to,
                             .tag = tag,
                             .comm = hidden_number(rank, view),
                             .bytes = what.n};

    message->context = WL_HIDDEN_CONTEXT(view->comm);
    message->source = rank->self->rank;
    message->sender = view->rank;
    message->tag = tag;
    if (what.n > 0) {
        memcpy(message->bytes, what.from, what.n);
    }
    wl_message_send(wl_member(view->comm, to), message);
    wl_post(rank, &op);
}

void wl_hidden_recv(struct wl_rank *rank, const struct wl_view *view, uint32_t from, int tag,
                    struct wl_room room)
{
    struct wl_recv recv = {
        .stream = {WL_HIDDEN_CONTEXT(view->comm), wl_member(view->comm, from), tag},
        .number = WF_REQUEST_MAX,
        .buffer = room.to,
        .count = room.n,
        .type = wl_type_of(rank, MPI_BYTE, "receive")};
    const struct wf_op op = {.kind = WF_OP_RECV,
                             .peer = from,
                             .tag = tag,
                             .comm = hidden_number(rank, view),
                             .bytes = room.n};

    wl_recv_post(rank, &recv);
    (void)wl_call(rank, &op);
    (void)wl_recv_consume(rank, &recv, MPI_STATUS_IGNORE);
}

bool wl_hidden_there(struct wl_rank *rank, const struct wl_view *view, uint32_t from, int tag)
{
    const struct wf_op op = {
        .kind = WF_OP_IPROBE, .peer = from, .tag = tag, .comm = hidden_number(rank, view)};

    return wl_call(rank, &op)->found;
}

static uint32_t member_index(const struct wl_rank *rank, const struct wl_comm *comm,
                             uint32_t program_rank)
{
    for (uint32_t i = 0; i < comm->size; i++) {
        if (wl_member(comm, i) == program_rank) {
            return i;
        }
    }
    wl_fatal(rank, "communicator", "rank %u of the group is no member of it", program_rank);
}

/* The first one hears from all what they have seen, and tells them the number of the new one.
 */
MPI_Comm wl_comm_agree(struct wl_rank *rank, const struct wl_view *view,
                       const struct wl_agreement *what)
{
    uint64_t id;
    uint32_t highest = rank->highest_id;

    if (what->place != 0) {
        uint32_t leader = member_index(rank, view->comm, what->members[0]);
        wl_hidden_send(rank, view, leader, what->tag,
                       (struct wl_bytes){&highest, sizeof(highest)});
        wl_hidden_recv(rank, view, leader, what->tag, (struct wl_room){&id, sizeof(id)});
    } else {
        uint32_t *index = wl_malloc(what->n * sizeof(uint32_t));
        for (uint32_t i = 1; i < what->n; i++) {
            uint32_t theirs;
            index[i] = member_index(rank, view->comm, what->members[i]);
            wl_hidden_recv(rank, view, index[i], what->tag,
                           (struct wl_room){&theirs, sizeof(theirs)});
            highest = theirs > highest ? theirs : highest;
        }
        id = (uint64_t)highest + 1;
        for (uint32_t i = 1; i < what->n; i++) {
            wl_hidden_send(rank, view, index[i], what->tag, (struct wl_bytes){&id, sizeof(id)});
        }
        free(index);
    }
    struct wl_comm *comm = wl_comm_meet((uint32_t)id, what->n, what->members);
    return wl_comm_join(rank, &(struct wl_view){.comm = comm, .rank = what->place});
}
