/* SPDX-License-Identifier: Apache-2.0 */
/* New communicators of old ones. */
#include "mpilib/errors.h"
#include "mpilib/group.h"
#include "mpilib/internal_messages.h"
#include "mpilib/memory.h"
#include "mpilib/properties.h"
#include "mpilib/request.h"

#include <stdlib.h>
#include <string.h>

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Comm_split");

    if (color < 0 && color != MPI_UNDEFINED) {
        wl_fatal(rank, "MPI_Comm_split", "the colour %d is negative", color);
    }
    *newcomm = wl_comm_split(rank, &view,
                             &(struct wl_wish){.color = color, .key = key, .inter = view.inter},
                             WF_OP_COMM_SPLIT);
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* Each rank has a node of its own. */
int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
                        MPI_Comm *newcomm)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Comm_split_type");
    const struct wl_wish wish = {.color = split_type == MPI_UNDEFINED ? MPI_UNDEFINED
                                                                      : (int)rank->self->rank,
                                 .key = key,
                                 .inter = view.inter};

    (void)info;
    *newcomm = wl_comm_split(rank, &view, &wish, WF_OP_COMM_SPLIT);
    wl_leave(rank);
    return MPI_SUCCESS;
}

static struct wl_topology *copy_topology(const struct wl_topology *from)
{
    if (from == NULL) {
        return NULL;
    }
    struct wl_topology *to = wl_malloc(sizeof(*to));
    *to = *from;
    struct {
        int **list;
        int n;
    } lists[] = {
        {&to->dims, from->n},
        {&to->periods, from->n},
        {&to->coords, from->n},
        {&to->index, from->n},
        {&to->edges, from->index != NULL && from->n > 0 ? from->index[from->n - 1] : 0},
        {&to->sources, from->n_sources},
        {&to->destinations, from->n_destinations},
        {&to->source_weights, from->n_sources},
        {&to->destination_weights, from->n_destinations},
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (*lists[i].list != NULL) {
            size_t bytes = (size_t)lists[i].n * sizeof(int);
            *lists[i].list = memcpy(wl_malloc(bytes), *lists[i].list, bytes);
        }
    }
    return to;
}

/* What a copy takes over: what the program hangs on it first, which may fail. */
static int copy_extra(struct wl_rank *rank, MPI_Comm comm, const struct wl_view *view,
                      const char *function, struct wl_extra **copy)
{
    const struct wl_extra *old = *view->extra;

    *copy = NULL;
    if (old == NULL) {
        return MPI_SUCCESS;
    }
    int code = wl_attributes_copy(rank, comm, view->extra, copy);
    if (code != MPI_SUCCESS) {
        wl_extra_free(*copy);
        return wl_error(rank, comm, code, function, "an attribute could not be copied: %d",
                        code);
    }
    struct wl_extra *own = wl_extra_of(copy);
    own->errhandler = old->errhandler;
    own->topology = copy_topology(old->topology);
    return MPI_SUCCESS;
}

static void give_extra(struct wl_rank *rank, MPI_Comm made, struct wl_extra *extra)
{
    struct wl_view *own = wl_table_get(&rank->comms, WL_COMM, made);

    own->own_extra = extra;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Comm_dup");
    const struct wl_wish wish = {.color = 0, .inter = view.inter};
    struct wl_extra *extra;
    int code = copy_extra(rank, comm, &view, "MPI_Comm_dup", &extra);

    *newcomm = MPI_COMM_NULL;
    if (code == MPI_SUCCESS) {
        *newcomm = wl_comm_split(rank, &view, &wish, WF_OP_COMM_DUP);
        give_extra(rank, *newcomm, extra);
    }
    wl_leave(rank);
    return code;
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    (void)info;
    return MPI_Comm_dup(comm, newcomm);
}

/* A copy that the program does not wait for yet. */
struct later {
    struct wl_view parent;
    struct wl_meeting *meeting;
    struct wl_extra *extra;
    MPI_Comm *made;
};

static void make_later(struct wl_rank *rank, void *own)
{
    const struct later *later = own;

    *later->made = wl_split_end(rank, &later->parent, later->meeting, later->parent.inter);
    give_extra(rank, *later->made, later->extra);
}

/* In simulated time as MPI_Comm_dup: all tell all a number. */
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *handle)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Comm_idup");
    const struct wl_wish wish = {.color = 0, .later = true, .inter = view.inter};
    struct wl_extra *extra;
    int code = copy_extra(rank, comm, &view, "MPI_Comm_idup", &extra);

    *newcomm = MPI_COMM_NULL;
    if (code == MPI_SUCCESS) {
        struct wl_request *request = wl_request_new(rank, WL_REQUEST_COLL, handle);
        struct later *later = wl_malloc(sizeof(*later));
        *later = (struct later){view, wl_split_begin(rank, &view, &wish), extra, newcomm};
        request->active = true;
        request->own = later;
        request->deliver = make_later;
        const struct wf_op op = {.kind = WF_OP_IALLGATHER,
                                 .comm = view.number,
                                 .count = view.comm->size,
                                 .bytes = sizeof(uint64_t),
                                 .request = request->number};
        wl_post(rank, &op);
    }
    wl_leave(rank);
    return code;
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group handle, MPI_Comm *newcomm)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Comm_create");
    const struct wl_group *group = wl_group_of(rank, handle, "MPI_Comm_create");
    uint32_t place = wl_group_find(group, rank->self->rank);
    struct wl_wish wish = {.color = MPI_UNDEFINED, .inter = view.inter};

    /* Groups that are made of one communicator at a time have nobody in common. Of two groups,
     * there is one of each. */
    if (place < group->size) {
        wish.color = view.inter ? 0 : (int)group->members[0];
        wish.key = (int)place;
    }
    *newcomm = wl_comm_split(rank, &view, &wish, WF_OP_COMM_CREATE);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group handle, int tag, MPI_Comm *newcomm)
{
    static const char function[] = "MPI_Comm_create_group";
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, function);
    const struct wl_group *group = wl_group_of(rank, handle, function);
    uint32_t place = wl_group_find(group, rank->self->rank);

    if (view.inter) {
        wl_fatal(rank, function, "MPI has it for no intercommunicator");
    }
    *newcomm = MPI_COMM_NULL;
    if (place < group->size) {
        uint32_t *members = wl_malloc(group->size * sizeof(uint32_t));
        memcpy(members, group->members, group->size * sizeof(uint32_t));
        *newcomm = wl_comm_agree(
            rank, &view,
            &(struct wl_agreement){
                .members = members, .n = group->size, .place = place, .tag = tag});
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* The simulation must have dealt with all that was done on it. If there are requests, there may
 * be some of it: then it stays until the rank ends. */
int MPI_Comm_free(MPI_Comm *comm)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, *comm, "MPI_Comm_free");
    const struct wf_op op = {.kind = WF_OP_COMM_FREE, .comm = view.number};

    if (wl_table_get(&rank->comms, WL_COMM, *comm) == NULL) {
        wl_fatal(rank, "MPI_Comm_free", "the communicator 0x%x cannot be freed",
                 (unsigned)*comm);
    }
    wl_attributes_delete(rank, *comm, view.extra);
    (void)wl_call(rank, &op);
    if (rank->requests.n == 0) {
        wl_view_free(rank, wl_table_take(&rank->comms, WL_COMM, *comm));
    }
    *comm = MPI_COMM_NULL;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Comm_disconnect(MPI_Comm *comm)
{
    return MPI_Comm_free(comm);
}

int MPI_Comm_get_parent(MPI_Comm *parent)
{
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
