/* SPDX-License-Identifier: Apache-2.0 */
/* Creating communicators from others, and freeing them (MPI-3.1, 6.4.2 and 6.4.3). Except for
 * MPI_Comm_create_group() and MPI_Intercomm_create(), all are splits of the old one. */
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/comm/group.h"
#include "mpi/lib/comm/properties.h"
#include "mpi/lib/comm/registry.h"
#include "mpi/lib/comm/topology.h"
#include "mpi/lib/errors.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/internal_messages.h"
#include "mpi/lib/p2p/request.h"

#include <stdlib.h>
#include <string.h>

/* ---- splitting ---- */

/* The result for all members: the new communicators, and for each member its own. */
struct split {
    uint32_t n;
    struct wl_comm **comms; /* in the same memory, after the rest */
    struct {
        uint32_t comm, rank; /* UINT32_MAX: none */
        uint32_t n_first;    /* the size of the first group of an intercommunicator */
    } of[];
};

static int compare(const void *a, const void *b)
{
    const struct wl_split_args *x = a, *y = b;

    if (x->color != y->color) {
        return x->color < y->color ? -1 : 1;
    }
    if (x->second != y->second) {
        return x->second ? 1 : -1;
    }
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->member < y->member ? -1 : x->member > y->member;
}

struct splitting {
    struct wl_comm *parent;
    struct wl_exchange *exchange;
};

/* Creates the communicator of one color, if any of its n members runs in this process. An
 * intercommunicator needs two groups that are not empty. */
static void create_comm(struct split *split, const struct wl_split_args *args, uint32_t n,
                        const struct wl_comm *parent, uint32_t id)
{
    uint32_t *members = wl_malloc(n * sizeof(uint32_t)), n_local = 0, n_first = 0;

    for (uint32_t i = 0; i < n; i++) {
        members[i] = wl_member(parent, args[i].member);
        n_local += wl_is_local(members[i]);
        n_first += !args[i].second;
    }
    bool exists = !args[0].inter || (n_first > 0 && n_first < n);
    for (uint32_t i = 0; i < n; i++) {
        split->of[args[i].member].comm = exists ? split->n : UINT32_MAX;
        split->of[args[i].member].rank = i;
        split->of[args[i].member].n_first = n_first;
    }
    if (n_local > 0 && exists) {
        split->comms[split->n] = wl_comm_new(id, n, members);
        wl_comm_register(split->comms[split->n]);
    } else {
        free(members);
    }
    split->n++;
}

/* `args` is sorted by color, group and key. Members without a color come first. */
static void create_comms(struct split *split, const struct wl_split_args *args,
                         const struct wl_comm *parent, uint32_t id)
{
    uint32_t i = 0;

    while (i < parent->size && args[i].color == MPI_UNDEFINED) {
        split->of[args[i++].member].comm = UINT32_MAX;
    }
    while (i < parent->size) {
        uint32_t end = i;
        while (end < parent->size && args[end].color == args[i].color) {
            end++;
        }
        create_comm(split, args + i, end - i, parent, id);
        i = end;
    }
}

static struct wl_part compute_split(void *arg)
{
    const struct splitting *what = arg;
    uint32_t size = what->parent->size, id = 0;
    struct wl_split_args *args = wl_malloc(size * sizeof(struct wl_split_args));
    size_t head = sizeof(struct split) + size * sizeof(((struct split *)0)->of[0]);
    size_t bytes = head + size * sizeof(struct wl_comm *);
    struct split *split = wl_calloc(1, bytes);

    split->comms = (struct wl_comm **)((unsigned char *)split + head);

    for (uint32_t i = 0; i < size; i++) {
        struct wl_part part = wl_exchange_part(what->parent, what->exchange, i);
        memcpy(&args[i], part.bytes, sizeof(struct wl_split_args));
        id = args[i].highest_id > id ? args[i].highest_id : id;
    }
    id = args[0].nonblocking
             ? WL_NONBLOCKING_ID + wl_member(what->parent, 0) + wl.n_ranks * args[0].n_before
             : id + 1;
    qsort(args, size, sizeof(struct wl_split_args), compare);
    create_comms(split, args, what->parent, id);
    free(args);
    return (struct wl_part){.bytes = (unsigned char *)split, .size = bytes};
}

/* The view of a member of its new communicator. */
static struct wl_view view_of(const struct split *split, uint32_t member, bool inter)
{
    uint32_t rank = split->of[member].rank, n_first = split->of[member].n_first;
    struct wl_view view = {.comm = split->comms[split->of[member].comm], .rank = rank};

    if (inter) {
        uint32_t n_second = view.comm->size - n_first;
        bool second = rank >= n_first;
        view.inter = true;
        view.first = second ? n_first : 0;
        view.size = second ? n_second : n_first;
        view.peers = second ? 0 : n_first;
        view.n_peers = second ? n_first : n_second;
    }
    return view;
}

/* How many ids of the range of their own the rank has chosen before. */
static uint32_t chosen_before(struct wl_rank *rank)
{
    if (rank->n_idups >= WL_NONBLOCKING_ID / wl.n_ranks - 1) {
        wl_fatal(rank,
                 "the program has created %u communicators with it; %u ranks cannot "
                 "create more",
                 rank->n_idups, wl.n_ranks);
    }
    return rank->n_idups++;
}

uint32_t wl_comm_choose_id(struct wl_rank *rank, uint32_t highest)
{
    return rank->multiple
               ? WL_NONBLOCKING_ID + rank->self->rank + wl.n_ranks * chosen_before(rank)
               : highest + 1;
}

/* The part of a split before its op. Threads may create communicators at the same time, in another
 * order in each rank... */
static struct wl_exchange *split_begin(struct wl_rank *rank, const struct wl_view *view,
                                       const struct wl_split_args *args)
{
    struct wl_exchange *exchange = wl_exchange_join(view->comm, (*view->sequence)++);
    struct wl_split_args *own = wl_malloc(sizeof(*own));

    *own = *args;
    own->nonblocking = args->nonblocking || rank->multiple;
    own->highest_id = rank->highest_id;
    own->n_before = own->nonblocking && view->rank == 0 ? chosen_before(rank) : 0;
    own->member = view->rank;
    own->second = args->inter && view->first > 0;
    wl_exchange_put(view->comm, exchange, view->rank,
                    (struct wl_part){.bytes = (unsigned char *)own, .size = sizeof(*own)});
    return exchange;
}

/* ...and the part after it. */
static MPI_Comm split_end(struct wl_rank *rank, const struct wl_view *view,
                          struct wl_exchange *exchange, bool inter)
{
    struct splitting what = {view->comm, exchange};
    const struct split *split =
        (const void *)wl_exchange_compute(view->comm, exchange, compute_split, &what).bytes;
    MPI_Comm handle = MPI_COMM_NULL;

    if (split->of[view->rank].comm != UINT32_MAX) {
        struct wl_view joined = view_of(split, view->rank, inter);
        handle = wl_comm_join(rank, &joined);
    }
    wl_exchange_leave(view->comm, exchange);
    return handle;
}

MPI_Comm wl_comm_split(struct wl_rank *rank, const struct wl_view *view,
                       const struct wl_split_args *args, enum wf_op_kind kind)
{
    const struct wf_op op = {.kind = kind, .comm = view->number};

    if (wl_checks()) {
        wl_check_collective(rank, view, NULL);
    }
    struct wl_exchange *exchange = split_begin(rank, view, args);

    (void)wl_call(rank, &op);
    return split_end(rank, view, exchange, args->inter);
}

/* ---- the MPI functions ---- */

int wl_MPI_Comm_split(struct wl_rank *rank, MPI_Comm comm, int color, int key,
                      MPI_Comm *newcomm)
{
    struct wl_view view = wl_comm_of(rank, comm);

    if (color < 0 && color != MPI_UNDEFINED) {
        wl_fatal(rank, "the color %d is negative", color);
    }
    *newcomm = wl_comm_split(
        rank, &view, &(struct wl_split_args){.color = color, .key = key, .inter = view.inter},
        WF_OP_COMM_SPLIT);
    return MPI_SUCCESS;
}

/* Whether the members are on several nodes. */
static bool spans_nodes(struct wl_rank *rank, const struct wl_comm *comm)
{
    uint32_t first = wl.port->node(rank->self, wl_member(comm, 0)), i = 1;

    while (i < comm->size && wl.port->node(rank->self, wl_member(comm, i)) == first) {
        i++;
    }
    return i < comm->size;
}

/* The resources of a simulated machine: nodes, and the rank's own core. */
enum resource { RESOURCE_NONE, RESOURCE_NODE, RESOURCE_CORE };

static enum resource named_resource(struct wl_rank *rank, MPI_Info info)
{
    static const struct {
        const char *name;
        enum resource resource;
    } known[] = {{"mpi_shared_memory", RESOURCE_NODE},
                 {"node", RESOURCE_NODE},
                 {"Machine", RESOURCE_NODE},
                 {"core", RESOURCE_CORE},
                 {"Core", RESOURCE_CORE},
                 {"PU", RESOURCE_CORE}};
    char value[MPI_MAX_INFO_VAL] = "";
    int flag = 0;

    if (info != MPI_INFO_NULL) {
        (void)wl_MPI_Info_get(rank, info, "mpi_hw_resource_type", MPI_MAX_INFO_VAL - 1, value,
                              &flag);
    }
    for (size_t i = 0; flag && i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].name, value) == 0) {
            return known[i].resource;
        }
    }
    return RESOURCE_NONE;
}

/* By which resource a type splits a communicator. MPI_COMM_TYPE_HW_UNGUIDED: by the largest one
 * that makes its parts smaller. */
static enum resource split_resource(struct wl_rank *rank, const struct wl_view *view, int type,
                                    MPI_Info info)
{
    switch (type) {
    case MPI_COMM_TYPE_SHARED:
        return RESOURCE_NODE;
    case MPI_COMM_TYPE_HW_GUIDED:
        return named_resource(rank, info);
    case MPI_COMM_TYPE_HW_UNGUIDED:
        return spans_nodes(rank, view->comm) ? RESOURCE_NODE
               : view->comm->size > 1        ? RESOURCE_CORE
                                             : RESOURCE_NONE;
    case MPI_UNDEFINED:
        return RESOURCE_NONE;
    default:
        wl_fatal(rank, "there is no split type %d", type);
    }
}

int wl_MPI_Comm_split_type(struct wl_rank *rank, MPI_Comm comm, int split_type, int key,
                           MPI_Info info, MPI_Comm *newcomm)
{
    struct wl_view view = wl_comm_of(rank, comm);
    enum resource by = split_resource(rank, &view, split_type, info);
    const struct wl_split_args args = {
        .color = by == RESOURCE_NODE   ? (int)wl.port->node(rank->self, rank->self->rank)
                 : by == RESOURCE_CORE ? (int)rank->self->rank
                                       : MPI_UNDEFINED,
        .key = key,
        .inter = view.inter};

    *newcomm = wl_comm_split(rank, &view, &args, WF_OP_COMM_SPLIT);
    if (split_type == MPI_COMM_TYPE_HW_UNGUIDED && *newcomm != MPI_COMM_NULL &&
        info != MPI_INFO_NULL) {
        (void)wl_MPI_Info_set(rank, info, "mpi_hw_resource_type",
                              by == RESOURCE_NODE ? "node" : "core");
    }
    return MPI_SUCCESS;
}

/* The properties of a duplicate. Copying attributes calls functions of the program, which may
 * fail. */
static int copy_properties(struct wl_rank *rank, MPI_Comm comm, const struct wl_view *view,
                           struct wl_properties **copy)
{
    const struct wl_properties *old = *view->properties;

    *copy = NULL;
    if (old == NULL) {
        return MPI_SUCCESS;
    }
    int code = wl_attributes_copy(rank, comm, view->properties, copy);
    if (code != MPI_SUCCESS) {
        wl_properties_free(*copy);
        return wl_error(rank, comm, code, "an attribute could not be copied: error %d", code);
    }
    struct wl_properties *own = wl_properties_get(copy);
    own->errhandler = old->errhandler;
    own->topology = wl_topology_copy(old->topology);
    return MPI_SUCCESS;
}

static void set_properties(struct wl_rank *rank, MPI_Comm comm,
                           struct wl_properties *properties)
{
    struct wl_view *view = wl_table_get(&rank->comms, WL_COMM, comm);

    view->own_properties = properties;
}

int wl_MPI_Comm_dup(struct wl_rank *rank, MPI_Comm comm, MPI_Comm *newcomm)
{
    struct wl_view view = wl_comm_of(rank, comm);
    const struct wl_split_args args = {.color = 0, .inter = view.inter};
    struct wl_properties *properties;
    int code = copy_properties(rank, comm, &view, &properties);

    *newcomm = MPI_COMM_NULL;
    if (code == MPI_SUCCESS) {
        *newcomm = wl_comm_split(rank, &view, &args, WF_OP_COMM_DUP);
        set_properties(rank, *newcomm, properties);
    }
    return code;
}

/* A duplicate that the program has not waited for yet. */
struct pending_dup {
    struct wl_view parent;
    struct wl_exchange *exchange;
    struct wl_properties *properties;
    MPI_Comm *newcomm;
};

static int finish_dup(struct wl_rank *rank, void *own)
{
    const struct pending_dup *dup = own;

    *dup->newcomm = split_end(rank, &dup->parent, dup->exchange, dup->parent.inter);
    set_properties(rank, *dup->newcomm, dup->properties);
    return MPI_SUCCESS;
}

/* In simulated time an allgather of one number, as MPI_Comm_dup(). */
int wl_MPI_Comm_idup(struct wl_rank *rank, MPI_Comm comm, MPI_Comm *newcomm,
                     MPI_Request *handle)
{
    struct wl_view view = wl_comm_of(rank, comm);
    const struct wl_split_args args = {.color = 0, .nonblocking = true, .inter = view.inter};
    struct wl_properties *properties;
    int code = copy_properties(rank, comm, &view, &properties);

    *newcomm = MPI_COMM_NULL;
    if (code == MPI_SUCCESS) {
        struct wl_request *request = wl_request_new(rank, WL_REQUEST_COLL, handle);
        struct pending_dup *dup = wl_malloc(sizeof(*dup));
        *dup = (struct pending_dup){view, split_begin(rank, &view, &args), properties, newcomm};
        request->own = dup;
        request->deliver = finish_dup;
        const struct wf_op op = {.kind = WF_OP_IALLGATHER,
                                 .comm = view.number,
                                 .count = view.comm->size,
                                 .bytes = sizeof(uint64_t),
                                 .request = request->number};
        wl_post(rank, &op);
    }
    return code;
}

static bool is_member(const struct wl_comm *comm, uint32_t program_rank)
{
    for (uint32_t i = 0; i < comm->size; i++) {
        if (wl_member(comm, i) == program_rank) {
            return true;
        }
    }
    return false;
}

int wl_MPI_Comm_create(struct wl_rank *rank, MPI_Comm comm, MPI_Group handle, MPI_Comm *newcomm)
{
    struct wl_view view = wl_comm_of(rank, comm);
    const struct wl_group *group = wl_group_of(rank, handle);
    uint32_t place = wl_group_find(group, rank->self->rank);
    struct wl_split_args args = {.color = MPI_UNDEFINED, .inter = view.inter};

    *newcomm = MPI_COMM_NULL;
    for (uint32_t i = 0; rank->handles_errors && i < group->size; i++) {
        if (!is_member(view.comm, group->members[i])) {
            return wl_error(rank, comm, MPI_ERR_GROUP,
                            "rank %u of the group is not a member of the communicator",
                            group->members[i]);
        }
    }
    /* Groups given in the same call are disjoint, so that their first member is a color. */
    if (place < group->size) {
        args.color = view.inter ? 0 : (int)group->members[0];
        args.key = (int)place;
    }
    *newcomm = wl_comm_split(rank, &view, &args, WF_OP_COMM_CREATE);
    return MPI_SUCCESS;
}

static uint32_t member_index(const struct wl_rank *rank, const struct wl_comm *comm,
                             uint32_t program_rank)
{
    for (uint32_t i = 0; i < comm->size; i++) {
        if (wl_member(comm, i) == program_rank) {
            return i;
        }
    }
    wl_fatal(rank, "rank %u of the group is not a member of the communicator", program_rank);
}

/* Only the members of the group call it. The first one collects the highest id that each has
 * seen, and tells all the id of the new communicator. */
int wl_MPI_Comm_create_group(struct wl_rank *rank, MPI_Comm comm, MPI_Group handle, int tag,
                             MPI_Comm *newcomm)
{
    struct wl_view view = wl_comm_of(rank, comm);
    const struct wl_group *group = wl_group_of(rank, handle);
    uint32_t place = wl_group_find(group, rank->self->rank), n = group->size;
    uint32_t highest = rank->highest_id;
    uint64_t id;

    if (view.inter) {
        wl_fatal(rank, "MPI does not define this function for intercommunicators");
    }
    *newcomm = MPI_COMM_NULL;
    if (place == n) {
        return MPI_SUCCESS;
    }
    uint32_t *index = wl_malloc(n * sizeof(uint32_t));
    if (place != 0) {
        index[0] = member_index(rank, view.comm, group->members[0]);
        wl_internal_send(rank, &view, index[0], tag,
                         (struct wl_bytes){&highest, sizeof(highest)});
        wl_internal_recv(rank, &view, index[0], tag, (struct wl_buffer){&id, sizeof(id)});
    } else {
        for (uint32_t i = 1; i < n; i++) {
            uint32_t theirs;
            index[i] = member_index(rank, view.comm, group->members[i]);
            wl_internal_recv(rank, &view, index[i], tag,
                             (struct wl_buffer){&theirs, sizeof(theirs)});
            highest = theirs > highest ? theirs : highest;
        }
        id = wl_comm_choose_id(rank, highest);
        for (uint32_t i = 1; i < n; i++) {
            wl_internal_send(rank, &view, index[i], tag, (struct wl_bytes){&id, sizeof(id)});
        }
    }
    memcpy(index, group->members, n * sizeof(uint32_t));
    struct wl_comm *created = wl_comm_find_or_new((uint32_t)id, n, index);
    *newcomm = wl_comm_join(rank, &(struct wl_view){.comm = created, .rank = place});
    return MPI_SUCCESS;
}

/* The simulation may still have pending operations on the communicator if there are requests:
 * then it is freed when the rank ends. */
int wl_MPI_Comm_free(struct wl_rank *rank, MPI_Comm *comm)
{
    struct wl_view view = wl_comm_of(rank, *comm);
    const struct wf_op op = {.kind = WF_OP_COMM_FREE, .comm = view.number};

    if (wl_table_get(&rank->comms, WL_COMM, *comm) == NULL) {
        wl_fatal(rank, "the communicator 0x%x cannot be freed", (unsigned)*comm);
    }
    wl_attributes_delete(rank, *comm, view.properties);
    (void)wl_call(rank, &op);
    if (wl_table_n(&rank->requests) == 0) {
        wl_view_free(rank, wl_table_take(&rank->comms, WL_COMM, *comm));
    }
    rank->parent = *comm == rank->parent ? 0 : rank->parent;
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
