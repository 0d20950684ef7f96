/* SPDX-License-Identifier: Apache-2.0 */
/* Windows, and when others may reach them. */
#include "mpilib/window.h"

#include "mpilib/collective_exchange.h"
#include "mpilib/group.h"
#include "mpilib/internal_messages.h"
#include "mpilib/memory.h"

#include <stdlib.h>
#include <string.h>

struct wl_win *wl_win_of(const struct wl_rank *rank, MPI_Win handle, const char *function)
{
    struct wl_win *win = wl_table_get(&rank->wins, WL_WIN, handle);

    if (win == NULL) {
        wl_fatal(rank, function, "there is no window 0x%x", (unsigned)handle);
    }
    return win;
}

struct wl_extra **wl_win_extra(const struct wl_rank *rank, MPI_Win handle, const char *function)
{
    return &wl_win_of(rank, handle, function)->extra;
}

bool wl_win_known(const struct wl_rank *rank, MPI_Win handle, int keyval, void **value)
{
    struct wl_win *win = wl_win_of(rank, handle, "MPI_Win_get_attr");

    switch (keyval) {
    case MPI_WIN_BASE:
        *value = win->own.base;
        return true;
    case MPI_WIN_SIZE:
        *value = &win->own.size;
        return true;
    case MPI_WIN_DISP_UNIT:
        *value = &win->own.unit;
        return true;
    case MPI_WIN_CREATE_FLAVOR:
        *value = &win->flavor;
        return true;
    case MPI_WIN_MODEL:
        *value = &win->model;
        return true;
    default:
        return false;
    }
}

/* ---- making ---- */

struct making {
    struct wl_comm *parent, *made;
    struct wl_meeting *meeting;
};

/* The table of all members, once for all; it goes with the communicator. */
static struct wl_part make_table(void *arg)
{
    const struct making *what = arg;
    uint32_t size = what->parent->size;
    struct wl_win_part *table = wl_calloc(size, sizeof(*table));

    for (uint32_t i = 0; i < size; i++) {
        struct wl_part part = wl_meeting_part(what->parent, what->meeting, i);
        memcpy(&table[i], part.bytes, sizeof(*table));
    }
    what->made->shared = table;
    return (struct wl_part){.bytes = NULL};
}

static MPI_Win make(struct wl_rank *rank, MPI_Comm comm, const struct wl_win_part *own,
                    int flavor)
{
    struct wl_view parent = wl_comm_of(rank, comm, "window");
    struct wl_meeting *meeting = wl_meeting_come(parent.comm, (*parent.sequence)++);
    struct wl_win_part *part = wl_malloc(sizeof(*part));
    struct wl_win *win = wl_calloc(1, sizeof(*win));

    *part = *own;
    wl_meeting_bring(parent.comm, meeting, parent.rank,
                     (struct wl_part){(unsigned char *)part, sizeof(*part)});
    MPI_Comm made =
        wl_comm_split(rank, &parent, &(struct wl_wish){.color = 0}, WF_OP_WIN_CREATE);
    struct wl_view view = wl_comm_of(rank, made, "window");
    struct making what = {parent.comm, view.comm, meeting};
    (void)wl_meeting_compute(parent.comm, meeting, make_table, &what);
    wl_meeting_leave(parent.comm, meeting);
    *win = (struct wl_win){.comm = made,
                           .parts = view.comm->shared,
                           .own = *own,
                           .flavor = flavor,
                           .model = MPI_WIN_UNIFIED,
                           .held = wl_calloc(view.size, 1),
                           .started = MPI_GROUP_NULL,
                           .posted = MPI_GROUP_NULL};
    rank->n_wins++;
    return wl_table_add(&rank->wins, WL_WIN, win);
}

int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                   MPI_Win *win)
{
    struct wl_rank *rank = wl_enter();

    (void)info;
    *win =
        make(rank, comm, &(struct wl_win_part){base, size, disp_unit}, MPI_WIN_FLAVOR_CREATE);
    wl_leave(rank);
    return MPI_SUCCESS;
}

static int allocate(MPI_Aint size, int disp_unit, MPI_Comm comm, void *baseptr, MPI_Win *win,
                    int flavor)
{
    struct wl_rank *rank = wl_enter();
    unsigned char *memory = wl_calloc((size_t)size, 1);

    if (flavor == MPI_WIN_FLAVOR_SHARED && wl_comm_of(rank, comm, "window").comm->n_hosts > 0) {
        wl_fatal(rank, "MPI_Win_allocate_shared",
                 "the members run in several processes, which share no memory; run it in one "
                 "process, with --threads");
    }

    *win = make(rank, comm, &(struct wl_win_part){memory, size, disp_unit}, flavor);
    wl_win_of(rank, *win, "window")->allocated = true;
    *(void **)baseptr = memory;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                     MPI_Win *win)
{
    (void)info;
    return allocate(size, disp_unit, comm, baseptr, win, MPI_WIN_FLAVOR_ALLOCATE);
}

/* Their parts need not follow each other; who asks is told where they are. */
int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                            void *baseptr, MPI_Win *win)
{
    (void)info;
    return allocate(size, disp_unit, comm, baseptr, win, MPI_WIN_FLAVOR_SHARED);
}

int MPI_Win_shared_query(MPI_Win handle, int place, MPI_Aint *size, int *disp_unit,
                         void *baseptr)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_win *win = wl_win_of(rank, handle, "MPI_Win_shared_query");
    uint32_t n = wl_comm_of(rank, win->comm, "MPI_Win_shared_query").size, i = 0;

    if (place == MPI_PROC_NULL) { /* the first that has any */
        while (i + 1 < n && win->parts[i].size == 0) {
            i++;
        }
    } else {
        i = (uint32_t)place;
    }
    if (i >= n) {
        wl_fatal(rank, "MPI_Win_shared_query", "there is no rank %d of %u", place, n);
    }
    *size = win->parts[i].size;
    *disp_unit = win->parts[i].unit;
    *(void **)baseptr = win->parts[i].base;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct wl_rank *rank = wl_enter();

    (void)info;
    *win = make(rank, comm, &(struct wl_win_part){.unit = 1}, MPI_WIN_FLAVOR_DYNAMIC);
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* Displacements are addresses: whatever the target has. */
int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    (void)win;
    (void)base;
    (void)size;
    return MPI_SUCCESS;
}

int MPI_Win_detach(MPI_Win win, const void *base)
{
    (void)win;
    (void)base;
    return MPI_SUCCESS;
}

int MPI_Win_get_group(MPI_Win handle, MPI_Group *group)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_win *win = wl_win_of(rank, handle, "MPI_Win_get_group");
    struct wl_view view = wl_comm_of(rank, win->comm, "MPI_Win_get_group");

    *group = wl_group_new(rank, view.comm, 0, view.size);
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* ---- all together ---- */

static void meet(struct wl_rank *rank, struct wl_win *win, enum wf_op_kind kind)
{
    const struct wf_op op = {.kind = kind,
                             .comm = wl_comm_of(rank, win->comm, "window").number};

    (void)wl_call(rank, &op);
    wl_win_deliver(win);
}

int MPI_Win_fence(int assertion, MPI_Win win)
{
    struct wl_rank *rank = wl_enter();

    (void)assertion;
    meet(rank, wl_win_of(rank, win, "MPI_Win_fence"), WF_OP_FENCE);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Win_free(MPI_Win *handle)
{
    struct wl_rank *rank = wl_enter();
    struct wl_win *win = wl_win_of(rank, *handle, "MPI_Win_free");

    meet(rank, win, WF_OP_WIN_FREE);
    wl_attributes_delete(rank, *handle, &win->extra);
    wl_extra_free(win->extra);
    (void)MPI_Comm_free(&win->comm);
    if (win->allocated) {
        free(win->own.base);
    }
    free(win->held);
    free(wl_table_take(&rank->wins, WL_WIN, *handle));
    rank->n_wins--;
    *handle = MPI_WIN_NULL;
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* ---- some with some: told by messages ---- */

enum { TAG_POST = 1, TAG_COMPLETE };

/* A word to or from each member of a group. */
static void say(struct wl_rank *rank, const struct wl_win *win, MPI_Group handle, int tag,
                bool sends)
{
    struct wl_view view = wl_comm_of(rank, win->comm, "window");
    const struct wl_group *group = wl_group_of(rank, handle, "window");

    for (uint32_t i = 0; i < view.size; i++) {
        if (wl_group_find(group, wl_member(view.comm, i)) == group->size) {
            continue;
        }
        if (sends) {
            wl_hidden_send(rank, &view, i, tag, (struct wl_bytes){NULL, 0});
        } else {
            wl_hidden_recv(rank, &view, i, tag, (struct wl_room){NULL, 0});
        }
    }
}

static MPI_Group copy_group(MPI_Group group)
{
    MPI_Group copy;

    (void)MPI_Group_union(group, MPI_GROUP_EMPTY, &copy);
    return copy;
}

int MPI_Win_post(MPI_Group group, int assertion, MPI_Win handle)
{
    struct wl_rank *rank = wl_enter();
    struct wl_win *win = wl_win_of(rank, handle, "MPI_Win_post");

    (void)assertion;
    win->posted = copy_group(group);
    say(rank, win, group, TAG_POST, true);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Win_start(MPI_Group group, int assertion, MPI_Win handle)
{
    struct wl_rank *rank = wl_enter();
    struct wl_win *win = wl_win_of(rank, handle, "MPI_Win_start");

    (void)assertion;
    win->started = copy_group(group);
    say(rank, win, group, TAG_POST, false);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Win_complete(MPI_Win handle)
{
    struct wl_rank *rank = wl_enter();
    struct wl_win *win = wl_win_of(rank, handle, "MPI_Win_complete");

    wl_win_flush(rank, win);
    say(rank, win, win->started, TAG_COMPLETE, true);
    (void)MPI_Group_free(&win->started);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Win_wait(MPI_Win handle)
{
    struct wl_rank *rank = wl_enter();
    struct wl_win *win = wl_win_of(rank, handle, "MPI_Win_wait");

    say(rank, win, win->posted, TAG_COMPLETE, false);
    (void)MPI_Group_free(&win->posted);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Win_test(MPI_Win handle, int *flag)
{
    struct wl_rank *rank = wl_enter();
    struct wl_win *win = wl_win_of(rank, handle, "MPI_Win_test");
    struct wl_view view = wl_comm_of(rank, win->comm, "MPI_Win_test");
    const struct wl_group *group = wl_group_of(rank, win->posted, "MPI_Win_test");

    *flag = 1;
    for (uint32_t i = 0; i < view.size && *flag; i++) {
        if (wl_group_find(group, wl_member(view.comm, i)) < group->size) {
            *flag = wl_hidden_there(rank, &view, i, TAG_COMPLETE);
        }
    }
    wl_leave(rank);
    return *flag ? MPI_Win_wait(handle) : MPI_SUCCESS;
}

/* ---- one with one ---- */

/* Asks again and again; each time it has waited longer. */
static void lock(struct wl_rank *rank, struct wl_win *win, uint32_t target, int type)
{
    struct wf_op pause = {.kind = WF_OP_COMPUTE, .duration = 100000};

    while (!wl_win_try_lock(rank, win, target, type == MPI_LOCK_EXCLUSIVE)) {
        wl_post(rank, &pause);
        pause.duration += pause.duration / 8;
    }
    win->held[target] = (unsigned char)type;
}

void wl_win_touch(struct wl_rank *rank, struct wl_win *win, uint32_t target)
{
    if (win->all && win->held[target] == 0) {
        lock(rank, win, target, MPI_LOCK_SHARED);
    }
}

int MPI_Win_lock(int lock_type, int place, int assertion, MPI_Win handle)
{
    struct wl_rank *rank = wl_enter();
    struct wl_win *win = wl_win_of(rank, handle, "MPI_Win_lock");

    if (place != MPI_PROC_NULL && !(assertion & MPI_MODE_NOCHECK)) {
        lock(rank, win, (uint32_t)place, lock_type);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Win_unlock(int place, MPI_Win handle)
{
    struct wl_rank *rank = wl_enter();
    struct wl_win *win = wl_win_of(rank, handle, "MPI_Win_unlock");

    wl_win_flush(rank, win);
    if (place != MPI_PROC_NULL && win->held[place] != 0) {
        wl_win_release(rank, win, (uint32_t)place);
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* The locks are taken when they are needed. */
int MPI_Win_lock_all(int assertion, MPI_Win handle)
{
    struct wl_rank *rank = wl_enter();

    wl_win_of(rank, handle, "MPI_Win_lock_all")->all = !(assertion & MPI_MODE_NOCHECK);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Win_unlock_all(MPI_Win handle)
{
    struct wl_rank *rank = wl_enter();
    struct wl_win *win = wl_win_of(rank, handle, "MPI_Win_unlock_all");
    uint32_t size = wl_comm_of(rank, win->comm, "MPI_Win_unlock_all").size;

    wl_win_flush(rank, win);
    for (uint32_t i = 0; i < size; i++) {
        if (win->held[i] != 0) {
            wl_win_release(rank, win, i);
        }
    }
    win->all = false;
    wl_leave(rank);
    return MPI_SUCCESS;
}

static int flush(MPI_Win handle, const char *function)
{
    struct wl_rank *rank = wl_enter();

    wl_win_flush(rank, wl_win_of(rank, handle, function));
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Win_flush(int rank, MPI_Win win)
{
    (void)rank;
    return flush(win, "MPI_Win_flush");
}

int MPI_Win_flush_all(MPI_Win win)
{
    return flush(win, "MPI_Win_flush_all");
}

int MPI_Win_flush_local(int rank, MPI_Win win)
{
    (void)rank;
    return flush(win, "MPI_Win_flush_local");
}

int MPI_Win_flush_local_all(MPI_Win win)
{
    return flush(win, "MPI_Win_flush_local_all");
}

int MPI_Win_sync(MPI_Win win)
{
    struct wl_rank *rank = wl_enter();

    (void)wl_win_of(rank, win, "MPI_Win_sync");
    wl_leave(rank);
    return MPI_SUCCESS;
}
