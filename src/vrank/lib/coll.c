/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives, as data. What they cost is the simulation's business. */
#include "vrank/lib/meeting.h"
#include "vrank/lib/memory.h"
#include "vrank/lib/reduce.h"

#include <stdlib.h>
#include <string.h>

/* What a rank packs of its buffer. */
static struct wl_part pack(const struct wl_type *type, const void *buffer, size_t count)
{
    struct wl_part part = {.size = count * type->size};

    if (part.size > 0) {
        part.bytes = wl_malloc(part.size);
        wl_pack(type, buffer, count, part.bytes);
    }
    return part;
}

/* ---- without data ---- */

int MPI_Barrier(MPI_Comm comm)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Barrier");
    const struct wf_op op = {.kind = WF_OP_BARRIER, .comm = view.number};

    wl_post(rank, &op);
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* ---- one to all ---- */

static void check_root(const struct wl_rank *rank, const struct wl_view *view, int root,
                       const char *function)
{
    if (root < 0 || (uint32_t)root >= view->comm->size) {
        wl_fatal(rank, function, "there is no root %d in a communicator of %u", root,
                 view->comm->size);
    }
}

int MPI_Bcast(void *buf, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Bcast");
    const struct wl_type *type = wl_type_of(rank, datatype, "MPI_Bcast");
    struct wl_meeting *meeting = wl_meeting_come(view.comm, (*view.sequence)++);
    const struct wf_op op = {.kind = WF_OP_BCAST,
                             .comm = view.number,
                             .root = (uint32_t)root,
                             .bytes = (size_t)count * type->size};

    check_root(rank, &view, root, "MPI_Bcast");
    if ((uint32_t)root == view.rank) {
        wl_meeting_bring_for_all(view.comm, meeting, pack(type, buf, (size_t)count));
        wl_post(rank, &op);
    } else {
        (void)wl_call(rank, &op);
        struct wl_part part = wl_meeting_for_all(view.comm, meeting);
        wl_unpack_bytes(type, part.bytes, part.size < op.bytes ? part.size : op.bytes, buf);
    }
    wl_meeting_leave(view.comm, meeting);
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* ---- reductions ---- */

struct reducing {
    struct wl_rank *rank;
    struct wl_comm *comm;
    struct wl_meeting *meeting;
    struct wl_reduction what;
};

/* In the order of ranks, so that it does not depend on who is first, nor on anything else. */
static struct wl_part reduce_all(void *arg)
{
    const struct reducing *it = arg;
    uint32_t i = it->comm->size - 1;
    struct wl_part last = wl_meeting_part(it->comm, it->meeting, i);
    struct wl_part result = {.bytes = wl_malloc(last.size), .size = last.size};

    if (last.size > 0) {
        memcpy(result.bytes, last.bytes, last.size);
    }
    while (i-- > 0 && last.size > 0) {
        wl_reduce(it->rank, &it->what, wl_meeting_part(it->comm, it->meeting, i).bytes,
                  result.bytes);
    }
    return result;
}

static struct reducing begin_reduction(struct wl_rank *rank, struct wl_view *view,
                                       const struct wl_reduction *what, const void *buffer)
{
    struct reducing it = {.rank = rank,
                          .comm = view->comm,
                          .meeting = wl_meeting_come(view->comm, (*view->sequence)++),
                          .what = *what};

    wl_meeting_bring(view->comm, it.meeting, view->rank, pack(what->type, buffer, what->count));
    return it;
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Allreduce");
    const struct wl_reduction what = {wl_op_of(rank, op, "MPI_Allreduce"),
                                      wl_type_of(rank, datatype, "MPI_Allreduce"), datatype,
                                      (size_t)count};
    struct reducing it =
        begin_reduction(rank, &view, &what, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
    const struct wf_op call = {
        .kind = WF_OP_ALLREDUCE, .comm = view.number, .bytes = what.count * what.type->size};

    (void)wl_call(rank, &call);
    struct wl_part result = wl_meeting_compute(view.comm, it.meeting, reduce_all, &it);
    wl_unpack(what.type, result.bytes, what.count, recvbuf);
    wl_meeting_leave(view.comm, it.meeting);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               int root, MPI_Comm comm)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Reduce");
    const struct wl_reduction what = {wl_op_of(rank, op, "MPI_Reduce"),
                                      wl_type_of(rank, datatype, "MPI_Reduce"), datatype,
                                      (size_t)count};
    struct reducing it =
        begin_reduction(rank, &view, &what, sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf);
    const struct wf_op call = {.kind = WF_OP_REDUCE,
                               .comm = view.number,
                               .root = (uint32_t)root,
                               .bytes = what.count * what.type->size};

    check_root(rank, &view, root, "MPI_Reduce");
    if ((uint32_t)root == view.rank) {
        (void)wl_call(rank, &call);
        struct wl_part result = wl_meeting_compute(view.comm, it.meeting, reduce_all, &it);
        wl_unpack(what.type, result.bytes, what.count, recvbuf);
    } else {
        wl_post(rank, &call);
    }
    wl_meeting_leave(view.comm, it.meeting);
    wl_leave(rank);
    return MPI_SUCCESS;
}
