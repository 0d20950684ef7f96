/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/collective.h"

#include "mpi/internal.h"
#include "mpi/match.h"

enum wf_called wf_mpi_collective(const struct wf_caller *who, enum wf_coll_kind kind,
                                 uint32_t comm, uint64_t bytes)
{
    struct wf_rank *rank = who->rank;
    uint16_t algorithm = wf_coll_choose(kind, who->mpi->n_ranks, bytes);

    rank->coll_algorithm = (uint16_t)(algorithm + 1);
    rank->coll_comm = comm;
    rank->coll_bytes = bytes;
    rank->coll_step = 0;
    rank->coll_count++;
    return wf_mpi_collective_go(who);
}

/* Sends and receives what the step says. The send comes first, because it may have to be made
 * again at a later time; the order is of no consequence, since posting takes no time. */
static enum wf_called make_step(const struct wf_caller *who, const struct wf_coll_step *step)
{
    struct wf_rank *rank = who->rank;
    uint32_t context = wf_match_context(rank->coll_comm, true);
    struct wf_peer peer = {.tag = (int32_t)(rank->coll_count & INT32_MAX),
                           .comm = rank->coll_comm,
                           .bytes = step->bytes};

    if (step->send_to != WF_COLL_NOBODY) {
        peer.rank = step->send_to;
        if (wf_mpi_send_in(who, &peer, context) == WF_CALLED_AGAIN) {
            return WF_CALLED_AGAIN;
        }
    }
    if (step->recv_from == WF_COLL_NOBODY) {
        return WF_CALLED_DONE;
    }
    peer.rank = step->recv_from;
    wf_mpi_irecv_in(who, &peer, context, WF_MPI_REQUEST_COLL);
    return wf_mpi_wait(who, WF_MPI_REQUEST_COLL, 1);
}

enum wf_called wf_mpi_collective_go(const struct wf_caller *who)
{
    struct wf_rank *rank = who->rank;
    const struct wf_coll_ops *ops = wf_coll_table()[rank->coll_algorithm - 1];
    const struct wf_coll_place place = {who->number, who->mpi->n_ranks, rank->coll_bytes};
    struct wf_coll_step step;

    while (ops->step(&place, rank->coll_step, &step)) {
        enum wf_called called = make_step(who, &step);
        if (called != WF_CALLED_AGAIN) {
            rank->coll_step++;
        }
        if (called != WF_CALLED_DONE) {
            return WF_CALLED_BLOCKED;
        }
    }
    rank->coll_algorithm = 0;
    return WF_CALLED_DONE;
}
