/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators as objects. */
#include "mpi/lib/comm/communicator.h"
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/coll/exchange.h"
#include "mpi/lib/comm/properties.h"
#include "mpi/lib/comm/registry.h"
#include "mpi/lib/memory.h"

#include <stdlib.h>

struct wl_comm *wl_comm_new(uint32_t id, uint32_t size, const uint32_t *members)
{
    struct wl_comm *comm = wl_calloc(1, sizeof(*comm));

    *comm = (struct wl_comm){
        .id = id, .size = size, .members = members, .n_local = size, .refs = size};
    (void)pthread_mutex_init(&comm->lock, NULL);
    if (id > 0) { /* the processes of MPI_COMM_WORLD are known when ranks run */
        wl_comm_find_processes(comm);
    }
    return comm;
}

void wl_comm_release(struct wl_comm *comm)
{
    if (comm != NULL && __atomic_sub_fetch(&comm->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        wl_comm_unregister(comm);
        wl_exchanges_free(comm);
        (void)pthread_mutex_destroy(&comm->lock);
        free((void *)(uintptr_t)comm->members);
        free(comm->shared);
        free(comm->processes);
        free(comm);
    }
}

MPI_Comm wl_comm_join(struct wl_rank *rank, const struct wl_view *what)
{
    struct wl_view *view = wl_calloc(1, sizeof(*view));
    MPI_Comm handle = wl_table_add(&rank->comms, WL_COMM, view);
    struct wl_comm *comm = what->comm;

    wl_check_created(rank, handle);
    if (comm->id < WL_NONBLOCKING_ID && comm->id > rank->highest_id) {
        rank->highest_id = comm->id;
    }
    *view = *what;
    view->number = 2 * (wl_handle_place(handle) - WL_OBJECT_FIRST) + 2;
    view->internal_number = 0;
    view->own_sequence = 0;
    view->own_properties = NULL;
    if (!view->inter) {
        view->size = view->n_peers = comm->size;
    }
    const struct wf_port_comm simulated = {view->number, WL_SIMULATED_ID(comm), comm->size,
                                           view->rank, comm->members};
    wl.port->comm(rank->self, &simulated);
    return handle;
}

/* MPI_COMM_SELF is created when the rank first uses it: most ranks never do. */
static struct wl_view *self_view(struct wl_rank *rank)
{
    if (rank->comm_self == 0) {
        uint32_t *member = wl_malloc(sizeof(*member));
        *member = rank->self->rank;
        rank->comm_self = wl_comm_join(
            rank, &(struct wl_view){.comm = wl_comm_new(rank->highest_id + 1, 1, member)});
    }
    return wl_table_get(&rank->comms, WL_COMM, rank->comm_self);
}

struct wl_view wl_comm_of(struct wl_rank *rank, MPI_Comm handle)
{
    if (handle == WL_COMM_ALL || (handle == MPI_COMM_WORLD && rank->comm_world == 0)) {
        return (struct wl_view){.comm = wl.world,
                                .number = WF_COMM_WORLD,
                                .rank = rank->self->rank,
                                .size = wl.n_ranks,
                                .n_peers = wl.n_ranks,
                                .sequence = &rank->world_sequence,
                                .properties = &rank->world_properties};
    }
    struct wl_view *view =
        handle == MPI_COMM_SELF
            ? self_view(rank)
            : wl_table_get(&rank->comms, WL_COMM,
                           handle == MPI_COMM_WORLD ? rank->comm_world : handle);
    if (view == NULL) {
        wl_fatal(rank, "there is no communicator 0x%x", (unsigned)handle);
    }
    struct wl_view out = *view;
    out.sequence = &view->own_sequence;
    out.properties = &view->own_properties;
    return out;
}

int wl_MPI_Comm_rank(struct wl_rank *own, MPI_Comm comm, int *rank)
{
    struct wl_view view = wl_comm_of(own, comm);

    *rank = (int)wl_own_rank(&view);
    return MPI_SUCCESS;
}

int wl_MPI_Comm_size(struct wl_rank *own, MPI_Comm comm, int *size)
{
    *size = (int)wl_comm_of(own, comm).size;
    return MPI_SUCCESS;
}

void wl_view_free(struct wl_rank *rank, struct wl_view *view)
{
    wl.port->comm_drop(rank->self, view->number);
    if (view->internal_number != 0) {
        wl.port->comm_drop(rank->self, view->internal_number);
    }
    wl_comm_release(view->comm);
    wl_properties_free(view->own_properties);
    free(view);
}
