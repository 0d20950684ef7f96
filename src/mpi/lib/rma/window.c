/* SPDX-License-Identifier: Apache-2.0 */
/* Windows and their synchronization. */
#include "mpi/lib/rma/window.h"

#include "mpi/lib/checker/checker.h"
#include "mpi/lib/coll/exchange.h"
#include "mpi/lib/comm/group.h"
#include "mpi/lib/memory.h"
#include "mpi/lib/p2p/internal_messages.h"
#include "mpi/lib/rma/one_sided.h"

#include <stdlib.h>
#include <string.h>

struct wl_win *wl_win_of(const struct wl_rank *rank, MPI_Win handle)
{
    struct wl_win *win = wl_table_get(&rank->wins, WL_WIN, handle);

    if (win == NULL) {
        wl_fatal(rank, "there is no window 0x%x", (unsigned)handle);
    }
    return win;
}

/* ---- creating ---- */

struct creating {
    struct wl_comm *parent, *comm;
    struct wl_exchange *exchange;
    bool shared; /* the library allocates the memory of all members, without gaps */
};

/* Creates the table that all members here share, and the memory that they share. Both belong to
 * the communicator. */
static struct wl_part create_table(void *arg)
{
    enum { ALIGNMENT = 64 };
    const struct creating *what = arg;
    uint32_t size = what->parent->size;
    size_t bytes = 0,
           head = (size * sizeof(struct wl_win_part) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

    for (uint32_t i = 0; what->shared && i < size; i++) {
        const struct wl_win_part *part =
            (const void *)wl_exchange_part(what->parent, what->exchange, i).bytes;
        bytes += (size_t)part->size;
    }
    unsigned char *memory = wl_calloc(head + bytes, 1), *at = memory + head;
    struct wl_win_part *table = (struct wl_win_part *)(void *)memory;
    for (uint32_t i = 0; i < size; i++) {
        struct wl_part part = wl_exchange_part(what->parent, what->exchange, i);
        memcpy(&table[i], part.bytes, sizeof(*table));
        if (what->shared) {
            table[i].base = at;
            at += table[i].size;
        }
    }
    what->comm->shared = table;
    return (struct wl_part){.bytes = NULL};
}

static MPI_Win create(struct wl_rank *rank, MPI_Comm comm, const struct wl_win_part *own,
                      int flavor)
{
    struct wl_view parent = wl_comm_of(rank, comm);
    struct wl_exchange *exchange = wl_exchange_join(parent.comm, (*parent.sequence)++);
    struct wl_win_part *part = wl_malloc(sizeof(*part));
    struct wl_win *win = wl_calloc(1, sizeof(*win));

    *part = *own;
    wl_exchange_put(parent.comm, exchange, parent.rank,
                    (struct wl_part){.bytes = (unsigned char *)part, .size = sizeof(*part)});
    MPI_Comm own_comm =
        wl_comm_split(rank, &parent, &(struct wl_split_args){.color = 0}, WF_OP_WIN_CREATE);
    struct wl_view view = wl_comm_of(rank, own_comm);
    struct creating what = {parent.comm, view.comm, exchange, flavor == MPI_WIN_FLAVOR_SHARED};
    (void)wl_exchange_compute(parent.comm, exchange, create_table, &what);
    wl_exchange_leave(parent.comm, exchange);
    *win = (struct wl_win){.comm = own_comm,
                           .parts = view.comm->shared,
                           .own = ((struct wl_win_part *)view.comm->shared)[view.rank],
                           .flavor = flavor,
                           .model = MPI_WIN_UNIFIED,
                           .held = wl_calloc(view.size, 2),
                           .created = wl_caller_of(rank),
                           .started = MPI_GROUP_NULL,
                           .posted = MPI_GROUP_NULL};
    win->locked = win->held + view.size;
    rank->n_wins++;
    wl_check_synchronized(rank, view.comm);
    wl_check_window(rank, win);
    return wl_table_add(&rank->wins, WL_WIN, win);
}

int wl_MPI_Win_create(struct wl_rank *rank, void *base, MPI_Aint size, MPI_Aint disp_unit,
                      MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    wl_epoch_create(rank, base, size);
    *win =
        create(rank, comm, &(struct wl_win_part){base, size, disp_unit}, MPI_WIN_FLAVOR_CREATE);
    return wl_MPI_Win_set_info(rank, *win, info);
}

static int allocate(struct wl_rank *rank, MPI_Aint size, MPI_Aint disp_unit, MPI_Comm comm,
                    void *baseptr, MPI_Win *win, int flavor)
{
    bool shared = flavor == MPI_WIN_FLAVOR_SHARED;
    unsigned char *memory = shared ? NULL : wl_calloc((size_t)size, 1);

    if (flavor == MPI_WIN_FLAVOR_SHARED && wl_comm_of(rank, comm).comm->n_processes > 0) {
        wl_fatal(rank,
                 "the members run in several processes, which share no memory; use a "
                 "communicator of "
                 "MPI_Comm_split_type(MPI_COMM_TYPE_SHARED), whose members are on one node");
    }

    *win = create(rank, comm, &(struct wl_win_part){memory, size, disp_unit}, flavor);
    wl_win_of(rank, *win)->allocated = !shared;
    *(void **)baseptr = wl_win_of(rank, *win)->own.base;
    return MPI_SUCCESS;
}

int wl_MPI_Win_allocate(struct wl_rank *rank, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                        MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    (void)allocate(rank, size, disp_unit, comm, baseptr, win, MPI_WIN_FLAVOR_ALLOCATE);
    return wl_MPI_Win_set_info(rank, *win, info);
}

int wl_MPI_Win_allocate_shared(struct wl_rank *rank, MPI_Aint size, MPI_Aint disp_unit,
                               MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    (void)allocate(rank, size, disp_unit, comm, baseptr, win, MPI_WIN_FLAVOR_SHARED);
    return wl_MPI_Win_set_info(rank, *win, info);
}

int wl_MPI_Win_shared_query(struct wl_rank *rank, MPI_Win handle, int place, MPI_Aint *size,
                            MPI_Aint *disp_unit, void *baseptr)
{
    const struct wl_win *win = wl_win_of(rank, handle);
    uint32_t n = wl_comm_of(rank, win->comm).size, i = 0;

    if (place == MPI_PROC_NULL) { /* the first member with any memory */
        while (i + 1 < n && win->parts[i].size == 0) {
            i++;
        }
    } else {
        i = (uint32_t)place;
    }
    if (i >= n) {
        wl_fatal(rank, "there is no rank %d in a window of %u ranks", place, n);
    }
    *size = win->parts[i].size;
    *disp_unit = win->parts[i].unit;
    *(void **)baseptr = win->parts[i].base;
    return MPI_SUCCESS;
}

int wl_MPI_Win_create_dynamic(struct wl_rank *rank, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    *win = create(rank, comm, &(struct wl_win_part){.unit = 1}, MPI_WIN_FLAVOR_DYNAMIC);
    return wl_MPI_Win_set_info(rank, *win, info);
}

int wl_MPI_Win_get_group(struct wl_rank *rank, MPI_Win handle, MPI_Group *group)
{
    const struct wl_win *win = wl_win_of(rank, handle);
    struct wl_view view = wl_comm_of(rank, win->comm);

    *group = wl_group_new(rank, view.comm, 0, view.size);
    return MPI_SUCCESS;
}

/* ---- fence ---- */

static void synchronize(struct wl_rank *rank, struct wl_win *win, enum wf_op_kind kind)
{
    const struct wl_view view = wl_comm_of(rank, win->comm);
    const struct wf_op op = {.kind = kind, .comm = view.number};

    if (wl_checks()) {
        wl_check_collective(rank, &view, NULL);
    }
    (void)wl_call(rank, &op);
    wl_check_flushed(rank, win);
    wl_check_synchronized(rank, view.comm);
    wl_win_deliver(win);
}

int wl_MPI_Win_fence(struct wl_rank *rank, int assertion, MPI_Win win)
{
    if (wl_epoch_fence(rank, wl_win_of(rank, win), assertion)) {
        synchronize(rank, wl_win_of(rank, win), WF_OP_FENCE);
    }
    return MPI_SUCCESS;
}

int wl_MPI_Win_free(struct wl_rank *rank, MPI_Win *handle)
{
    struct wl_win *win = wl_win_of(rank, *handle);

    wl_epoch_free(rank, win);
    synchronize(rank, win, WF_OP_WIN_FREE);
    wl_attributes_delete(rank, *handle, &win->properties);
    wl_properties_free(win->properties);
    (void)wl_MPI_Comm_free(rank, &win->comm);
    if (win->allocated) {
        free(win->own.base);
    }
    wl_win_info_free(win);
    free(win->held);
    free(wl_table_take(&rank->wins, WL_WIN, *handle));
    rank->n_wins--;
    *handle = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

/* ---- post, start, complete, wait: by messages of the library ---- */

enum { TAG_POST = 1, TAG_COMPLETE };

/* An empty message to or from each member of a group. */
static void notify(struct wl_rank *rank, const struct wl_win *win, MPI_Group handle, int tag,
                   bool sends)
{
    struct wl_view view = wl_comm_of(rank, win->comm);
    const struct wl_group *group = wl_group_of(rank, handle);

    for (uint32_t i = 0; i < view.size; i++) {
        if (wl_group_find(group, wl_member(view.comm, i)) == group->size) {
            continue;
        }
        if (sends) {
            wl_internal_send(rank, &view, i, tag, (struct wl_bytes){NULL, 0});
        } else {
            wl_internal_recv(rank, &view, i, tag, (struct wl_buffer){NULL, 0});
        }
    }
}

static MPI_Group copy_group(struct wl_rank *rank, MPI_Group group)
{
    MPI_Group copy;

    (void)wl_MPI_Group_union(rank, group, MPI_GROUP_EMPTY, &copy);
    return copy;
}

int wl_MPI_Win_post(struct wl_rank *rank, MPI_Group group, int assertion, MPI_Win handle)
{
    struct wl_win *win = wl_win_of(rank, handle);

    if (wl_epoch_post(rank, win)) {
        win->posted = copy_group(rank, group);
        notify(rank, win, group, TAG_POST, true);
    }
    return MPI_SUCCESS;
}

int wl_MPI_Win_start(struct wl_rank *rank, MPI_Group group, int assertion, MPI_Win handle)
{
    struct wl_win *win = wl_win_of(rank, handle);

    if (wl_epoch_start(rank, win)) {
        win->started = copy_group(rank, group);
        notify(rank, win, group, TAG_POST, false);
    }
    return MPI_SUCCESS;
}

int wl_MPI_Win_complete(struct wl_rank *rank, MPI_Win handle)
{
    struct wl_win *win = wl_win_of(rank, handle);

    if (wl_epoch_complete(rank, win)) {
        wl_win_flush(rank, win);
        notify(rank, win, win->started, TAG_COMPLETE, true);
        (void)wl_MPI_Group_free(rank, &win->started);
    }
    return MPI_SUCCESS;
}

int wl_MPI_Win_wait(struct wl_rank *rank, MPI_Win handle)
{
    struct wl_win *win = wl_win_of(rank, handle);

    if (wl_epoch_wait(rank, win)) {
        notify(rank, win, win->posted, TAG_COMPLETE, false);
        (void)wl_MPI_Group_free(rank, &win->posted);
    }
    return MPI_SUCCESS;
}

int wl_MPI_Win_test(struct wl_rank *rank, MPI_Win handle, int *flag)
{
    struct wl_win *win = wl_win_of(rank, handle);
    struct wl_view view = wl_comm_of(rank, win->comm);

    *flag = 1;
    if (!wl_epoch_wait(rank, win)) {
        return MPI_SUCCESS;
    }
    const struct wl_group *group = wl_group_of(rank, win->posted);
    for (uint32_t i = 0; i < view.size && *flag; i++) {
        if (wl_group_find(group, wl_member(view.comm, i)) < group->size) {
            *flag = wl_internal_probe(rank, &view, i, TAG_COMPLETE);
        }
    }
    return *flag ? wl_MPI_Win_wait(rank, handle) : MPI_SUCCESS;
}

/* ---- locks ---- */

/* Asks until it gets the lock, with growing pauses. They end soon for a rank that is the next,
 * since all others wait for it. */
static void lock(struct wl_rank *rank, struct wl_win *win, uint32_t target, int type)
{
    enum { FIRST_PS = 100000, LAST_PS = 2000000 };
    struct wf_op pause = {.kind = WF_OP_COMPUTE, .duration = FIRST_PS};
    uint32_t place;
    bool learns = type == MPI_LOCK_EXCLUSIVE; /* of those who had the lock before */

    while ((place = wl_win_try_lock(rank, win, target, type == MPI_LOCK_EXCLUSIVE)) > 0) {
        wl_post(rank, &pause);
        learns = true;
        pause.duration += pause.duration / 8;
        if (pause.duration > (int64_t)place * LAST_PS) {
            pause.duration = (int64_t)place * LAST_PS;
        }
    }
    win->held[target] = (unsigned char)type;
    wl_check_locked(rank, learns);
}

void wl_win_lock_for_access(struct wl_rank *rank, struct wl_win *win, uint32_t target)
{
    if (win->all && win->held[target] == 0) {
        lock(rank, win, target, MPI_LOCK_SHARED);
    }
}

int wl_MPI_Win_lock(struct wl_rank *rank, int lock_type, int place, int assertion,
                    MPI_Win handle)
{
    struct wl_win *win = wl_win_of(rank, handle);

    if (place != MPI_PROC_NULL && wl_epoch_lock(rank, win, (uint32_t)place) &&
        !(assertion & MPI_MODE_NOCHECK)) {
        lock(rank, win, (uint32_t)place, lock_type);
    }
    return MPI_SUCCESS;
}

int wl_MPI_Win_unlock(struct wl_rank *rank, int place, MPI_Win handle)
{
    struct wl_win *win = wl_win_of(rank, handle);

    wl_win_flush(rank, win);
    if (place != MPI_PROC_NULL && wl_epoch_unlock(rank, win, (uint32_t)place) &&
        win->held[place] != 0) {
        wl_win_unlock(rank, win, (uint32_t)place);
    }
    return MPI_SUCCESS;
}

/* Locks are taken with the first access to a member. */
int wl_MPI_Win_lock_all(struct wl_rank *rank, int assertion, MPI_Win handle)
{
    struct wl_win *win = wl_win_of(rank, handle);

    if (wl_epoch_lock_all(rank, win)) {
        win->all = !(assertion & MPI_MODE_NOCHECK);
    }
    return MPI_SUCCESS;
}

int wl_MPI_Win_unlock_all(struct wl_rank *rank, MPI_Win handle)
{
    struct wl_win *win = wl_win_of(rank, handle);
    uint32_t size = wl_comm_of(rank, win->comm).size;

    if (!wl_epoch_unlock_all(rank, win)) {
        return MPI_SUCCESS;
    }
    wl_win_flush(rank, win);
    for (uint32_t i = 0; i < size; i++) {
        if (win->held[i] != 0) {
            wl_win_unlock(rank, win, i);
        }
    }
    win->all = false;
    return MPI_SUCCESS;
}

/* A rank that polls memory which it shares calls this in between: others go on meanwhile. */
int wl_MPI_Win_sync(struct wl_rank *rank, MPI_Win win)
{
    if (wl_win_of(rank, win)->flavor == MPI_WIN_FLAVOR_SHARED) {
        (void)wl_call(rank, &(struct wf_op){.kind = WF_OP_COMPUTE, .duration = 100000});
    }
    return MPI_SUCCESS;
}
