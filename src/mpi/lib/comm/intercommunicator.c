/* SPDX-License-Identifier: Apache-2.0 */
/* Intercommunicators (MPI-3.1, 6.6). */
#include "mpi/lib/comm/intercommunicator.h"

#include "mpi/lib/comm/registry.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/internal_messages.h"

#include <stdlib.h>
#include <string.h>

/* What a leader tells the members of its group. The members of both groups follow, unless there
 * are none (`size` is 0): then there will be no communicator, and `id` is an error class. */
struct offer {
    uint64_t id; /* of the communicator of both groups */
    uint32_t first, size, peers, n_peers;
};

/* What the leaders tell each other. The members of their group follow. */
struct side {
    uint32_t n, highest;
};

static struct side collect_ids(struct wl_rank *rank, const struct wl_view *local, int tag)
{
    struct side side = {local->comm->size, rank->highest_id};

    for (uint32_t i = 0; i < side.n; i++) {
        uint32_t theirs = 0;
        if (i != local->rank) {
            wl_internal_recv(rank, local, i, tag, (struct wl_buffer){&theirs, sizeof(theirs)});
        }
        side.highest = theirs > side.highest ? theirs : side.highest;
    }
    return side;
}

static uint32_t *list_members(const struct wl_comm *comm)
{
    uint32_t *list = wl_malloc(comm->size * sizeof(uint32_t));

    for (uint32_t i = 0; i < comm->size; i++) {
        list[i] = wl_member(comm, i);
    }
    return list;
}

static void tell_members(struct wl_rank *rank, const struct wl_view *local, int tag,
                         const struct offer *offer, const uint32_t *members)
{
    size_t n = (size_t)offer->size + offer->n_peers;

    for (uint32_t i = 0; i < offer->size; i++) {
        if (i != local->rank) {
            wl_internal_send(rank, local, i, tag, (struct wl_bytes){offer, sizeof(*offer)});
            wl_internal_send(rank, local, i, tag,
                             (struct wl_bytes){members, n * sizeof(uint32_t)});
        }
    }
}

/* The leader's part. The leader with the lower rank chooses the id; its group is the first.
 * Sets *both to the members of both groups, allocated. */
static struct offer lead(struct wl_rank *rank, const struct wl_view *local,
                         const struct wl_view *peer, uint32_t other, int tag, uint32_t **both)
{
    struct side own = collect_ids(rank, local, tag), theirs;
    uint32_t *members = list_members(local->comm);

    wl_internal_send(rank, peer, other, tag, (struct wl_bytes){&own, sizeof(own)});
    wl_internal_send(rank, peer, other, tag,
                     (struct wl_bytes){members, own.n * sizeof(uint32_t)});
    wl_internal_recv(rank, peer, other, tag, (struct wl_buffer){&theirs, sizeof(theirs)});
    uint32_t *remote = wl_malloc(theirs.n * sizeof(uint32_t));
    wl_internal_recv(rank, peer, other, tag,
                     (struct wl_buffer){remote, theirs.n * sizeof(uint32_t)});

    bool chooses = rank->self->rank < wl_member(peer->comm, other);
    struct offer offer = {.first = chooses ? 0 : theirs.n,
                          .size = own.n,
                          .peers = chooses ? own.n : 0,
                          .n_peers = theirs.n};
    *both = wl_malloc(((size_t)own.n + theirs.n) * sizeof(uint32_t));
    memcpy(*both + offer.first, members, own.n * sizeof(uint32_t));
    memcpy(*both + offer.peers, remote, theirs.n * sizeof(uint32_t));
    free(members);
    free(remote);
    if (chooses) {
        uint32_t highest = own.highest > theirs.highest ? own.highest : theirs.highest;
        offer.id = wl_comm_choose_id(rank, highest);
        wl_internal_send(rank, peer, other, tag,
                         (struct wl_bytes){&offer.id, sizeof(offer.id)});
    } else {
        wl_internal_recv(rank, peer, other, tag,
                         (struct wl_buffer){&offer.id, sizeof(offer.id)});
    }
    tell_members(rank, local, tag, &offer, *both);
    return offer;
}

void wl_intercomm_refuse(struct wl_rank *rank, MPI_Comm local_comm, int tag, int code)
{
    struct wl_view local = wl_comm_of(rank, local_comm);
    const struct offer none = {.id = (uint64_t)code};

    (void)collect_ids(rank, &local, tag);
    for (uint32_t i = 0; i < local.size; i++) {
        if (i != local.rank) {
            wl_internal_send(rank, &local, i, tag, (struct wl_bytes){&none, sizeof(none)});
        }
    }
}

int wl_MPI_Intercomm_create(struct wl_rank *rank, MPI_Comm local_comm, int local_leader,
                            MPI_Comm peer_comm, int remote_leader, int tag, MPI_Comm *newcomm)
{
    struct wl_view local = wl_comm_of(rank, local_comm);
    struct offer offer;
    uint32_t *members;

    if (local_leader < 0 || (uint32_t)local_leader >= local.size || local.inter) {
        wl_fatal(rank, "there is no leader %d in a group of %u ranks", local_leader,
                 local.size);
    }
    if ((uint32_t)local_leader == local.rank) {
        struct wl_view peer = wl_comm_of(rank, peer_comm);
        if (remote_leader < 0 || (uint32_t)remote_leader >= peer.n_peers) {
            wl_fatal(rank, "there is no leader %d in a group of %u ranks", remote_leader,
                     peer.n_peers);
        }
        offer = lead(rank, &local, &peer, peer.peers + (uint32_t)remote_leader, tag, &members);
    } else {
        wl_internal_send(rank, &local, (uint32_t)local_leader, tag,
                         (struct wl_bytes){&rank->highest_id, sizeof(rank->highest_id)});
        wl_internal_recv(rank, &local, (uint32_t)local_leader, tag,
                         (struct wl_buffer){&offer, sizeof(offer)});
        if (offer.size == 0) {
            *newcomm = MPI_COMM_NULL;
            return (int)offer.id;
        }
        size_t n = (size_t)offer.size + offer.n_peers;
        members = wl_malloc(n * sizeof(uint32_t));
        wl_internal_recv(rank, &local, (uint32_t)local_leader, tag,
                         (struct wl_buffer){members, n * sizeof(uint32_t)});
    }
    struct wl_comm *comm =
        wl_comm_find_or_new((uint32_t)offer.id, offer.size + offer.n_peers, members);
    *newcomm = wl_comm_join(rank, &(struct wl_view){.comm = comm,
                                                    .rank = offer.first + local.rank,
                                                    .first = offer.first,
                                                    .size = offer.size,
                                                    .peers = offer.peers,
                                                    .n_peers = offer.n_peers,
                                                    .inter = true});
    return MPI_SUCCESS;
}

int wl_MPI_Intercomm_merge(struct wl_rank *rank, MPI_Comm intercomm, int high,
                           MPI_Comm *newcomm)
{
    struct wl_view view = wl_comm_of(rank, intercomm);

    if (!view.inter) {
        wl_fatal(rank, "the communicator is not an intercommunicator");
    }
    *newcomm = wl_comm_split(rank, &view, &(struct wl_split_args){.color = 0, .key = high != 0},
                             WF_OP_COMM_CREATE);
    return MPI_SUCCESS;
}

int wl_MPI_Comm_remote_size(struct wl_rank *rank, MPI_Comm comm, int *size)
{
    struct wl_view view = wl_comm_of(rank, comm);

    if (!view.inter) {
        wl_fatal(rank, "the communicator is not an intercommunicator");
    }
    *size = (int)view.n_peers;
    return MPI_SUCCESS;
}
