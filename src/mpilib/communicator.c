/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/communicator.h"

#include "mpilib/collective_exchange.h"
#include "mpilib/communicator_registry.h"
#include "mpilib/memory.h"
#include "mpilib/properties.h"

#include <stdlib.h>
#include <string.h>

struct wl_comm *wl_comm_new(uint32_t id, uint32_t size, const uint32_t *members)
{
    struct wl_comm *comm = wl_calloc(1, sizeof(*comm));

    *comm = (struct wl_comm){
        .id = id, .size = size, .members = members, .n_here = size, .refs = size};
    (void)pthread_mutex_init(&comm->lock, NULL);
    if (id > 0) { /* where the world's are, is known when it runs */
        wl_hosts_find(comm);
    }
    return comm;
}

void wl_comm_release(struct wl_comm *comm)
{
    if (comm != NULL && __atomic_sub_fetch(&comm->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        wl_comm_forget(comm);
        wl_meetings_free(comm);
        (void)pthread_mutex_destroy(&comm->lock);
        free((void *)(uintptr_t)comm->members);
        free(comm->shared);
        free(comm->hosts);
        free(comm);
    }
}

MPI_Comm wl_comm_join(struct wl_rank *rank, const struct wl_view *what)
{
    struct wl_view *view = wl_calloc(1, sizeof(*view));
    MPI_Comm handle = wl_table_add(&rank->comms, WL_COMM, view);
    struct wl_comm *comm = what->comm;

    uint32_t *highest = comm->id < WL_LATER_ID ? &rank->highest_id : &rank->highest_later;
    uint32_t number = comm->id & (WL_LATER_ID - 1);
    *highest = number > *highest ? number : *highest;
    *view = *what;
    view->number = 2 * (wl_handle_place(handle) - WL_OBJECT_FIRST) + 2;
    view->hidden = 0;
    view->own_sequence = 0;
    view->own_extra = NULL;
    if (!view->inter) {
        view->size = view->n_peers = comm->size;
    }
    const struct wf_port_comm known = {view->number, WL_SIMULATED(comm), comm->size, view->rank,
                                       comm->members};
    wl.port->comm(rank->self, &known);
    return handle;
}

/* MPI_COMM_SELF is made when a rank first asks for it: most never do. */
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

struct wl_view wl_comm_of(struct wl_rank *rank, MPI_Comm handle, const char *function)
{
    if (handle == MPI_COMM_WORLD) {
        return (struct wl_view){.comm = wl.world,
                                .number = WF_COMM_WORLD,
                                .rank = rank->self->rank,
                                .size = wl.n_ranks,
                                .n_peers = wl.n_ranks,
                                .sequence = &rank->world_sequence,
                                .extra = &rank->world_extra};
    }
    struct wl_view *view =
        handle == MPI_COMM_SELF ? self_view(rank) : wl_table_get(&rank->comms, WL_COMM, handle);
    if (view == NULL) {
        wl_fatal(rank, function, "there is no communicator 0x%x", (unsigned)handle);
    }
    struct wl_view out = *view;
    out.sequence = &view->own_sequence;
    out.extra = &view->own_extra;
    return out;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    struct wl_rank *own = wl_enter();

    struct wl_view view = wl_comm_of(own, comm, "MPI_Comm_rank");

    *rank = (int)wl_own_rank(&view);
    wl_leave(own);
    return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    struct wl_rank *own = wl_enter();

    *size = (int)wl_comm_of(own, comm, "MPI_Comm_size").size;
    wl_leave(own);
    return MPI_SUCCESS;
}

/* ---- making new ones ---- */

/* What all of them get: the new communicators, and for each member which one and its place. */
struct split {
    uint32_t n;
    struct wl_comm **comms; /* behind the rest */
    struct {
        uint32_t comm, rank;
        uint32_t n_first; /* of how many the first group is, if there are two */
    } of[];
};

static int compare(const void *a, const void *b)
{
    const struct wl_wish *x = a, *y = b;

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
    struct wl_meeting *meeting;
};

/* The communicator of one colour, as far as any of its n members is here. One with two groups
 * of which one is empty is none. */
static void make_comm(struct split *split, const struct wl_wish *wishes, uint32_t n,
                      const struct wl_comm *parent, uint32_t id)
{
    uint32_t *members = wl_malloc(n * sizeof(uint32_t)), n_here = 0, n_first = 0;

    for (uint32_t i = 0; i < n; i++) {
        members[i] = wl_member(parent, wishes[i].member);
        n_here += wl_is_here(members[i]);
        n_first += !wishes[i].second;
    }
    bool exists = !wishes[0].inter || (n_first > 0 && n_first < n);
    for (uint32_t i = 0; i < n; i++) {
        split->of[wishes[i].member].comm = exists ? split->n : UINT32_MAX;
        split->of[wishes[i].member].rank = i;
        split->of[wishes[i].member].n_first = n_first;
    }
    if (n_here > 0 && exists) {
        split->comms[split->n] = wl_comm_new(id, n, members);
        wl_comm_make_known(split->comms[split->n]);
    } else {
        free(members);
    }
    split->n++;
}

/* By members sorted by colour, group and key. Those without a colour come first. */
static void make_comms(struct split *split, const struct wl_wish *wishes,
                       const struct wl_comm *parent, uint32_t id)
{
    uint32_t i = 0;

    while (i < parent->size && wishes[i].color == MPI_UNDEFINED) {
        split->of[wishes[i++].member].comm = UINT32_MAX;
    }
    while (i < parent->size) {
        uint32_t end = i;
        while (end < parent->size && wishes[end].color == wishes[i].color) {
            end++;
        }
        make_comm(split, wishes + i, end - i, parent, id);
        i = end;
    }
}

static struct wl_part make_split(void *arg)
{
    const struct splitting *what = arg;
    uint32_t size = what->parent->size, id = 0;
    struct wl_wish *wishes = wl_malloc(size * sizeof(struct wl_wish));
    size_t head = sizeof(struct split) + size * sizeof(((struct split *)0)->of[0]);
    size_t bytes = head + size * sizeof(struct wl_comm *);
    struct split *split = wl_calloc(1, bytes);

    split->comms = (struct wl_comm **)((unsigned char *)split + head);

    for (uint32_t i = 0; i < size; i++) {
        struct wl_part part = wl_meeting_part(what->parent, what->meeting, i);
        memcpy(&wishes[i], part.bytes, sizeof(struct wl_wish));
        id = wishes[i].highest_id > id ? wishes[i].highest_id : id;
    }
    qsort(wishes, size, sizeof(struct wl_wish), compare);
    make_comms(split, wishes, what->parent, wishes[0].later ? WL_LATER_ID | (id + 1) : id + 1);
    free(wishes);
    return (struct wl_part){(unsigned char *)split, bytes};
}

/* The new one as a member sees it. */
static struct wl_view view_of(const struct split *made, uint32_t member, bool inter)
{
    uint32_t rank = made->of[member].rank, n_first = made->of[member].n_first;
    struct wl_view view = {.comm = made->comms[made->of[member].comm], .rank = rank};

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

MPI_Comm wl_comm_split(struct wl_rank *rank, const struct wl_view *view,
                       const struct wl_wish *wish, enum wf_op_kind kind)
{
    const struct wf_op op = {.kind = kind, .comm = view->number};
    struct wl_meeting *meeting = wl_split_begin(rank, view, wish);

    (void)wl_call(rank, &op);
    return wl_split_end(rank, view, meeting, wish->inter);
}

struct wl_meeting *wl_split_begin(struct wl_rank *rank, const struct wl_view *view,
                                  const struct wl_wish *wish)
{
    struct wl_meeting *meeting = wl_meeting_come(view->comm, (*view->sequence)++);
    struct wl_wish *own = wl_malloc(sizeof(*own));

    *own = *wish;
    own->highest_id = wish->later ? rank->highest_later++ : rank->highest_id;
    own->member = view->rank;
    own->second = wish->inter && view->first > 0;
    wl_meeting_bring(view->comm, meeting, view->rank,
                     (struct wl_part){(unsigned char *)own, sizeof(*own)});
    return meeting;
}

MPI_Comm wl_split_end(struct wl_rank *rank, const struct wl_view *view,
                      struct wl_meeting *meeting, bool inter)
{
    struct splitting what = {view->comm, meeting};
    const struct split *made =
        (const void *)wl_meeting_compute(view->comm, meeting, make_split, &what).bytes;
    MPI_Comm handle = MPI_COMM_NULL;

    if (made->of[view->rank].comm != UINT32_MAX) {
        struct wl_view joined = view_of(made, view->rank, inter);
        handle = wl_comm_join(rank, &joined);
    }
    wl_meeting_leave(view->comm, meeting);
    return handle;
}

void wl_view_free(struct wl_rank *rank, struct wl_view *view)
{
    wl.port->comm_drop(rank->self, view->number);
    if (view->hidden != 0) {
        wl.port->comm_drop(rank->self, view->hidden);
    }
    wl_comm_release(view->comm);
    wl_extra_free(view->own_extra);
    free(view);
}
