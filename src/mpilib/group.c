/* SPDX-License-Identifier: Apache-2.0 */
#include "mpilib/group.h"

#include "mpilib/communicator.h"
#include "mpilib/memory.h"

#include <stdlib.h>
#include <string.h>

static const struct wl_group empty_group = {.size = 0};

const struct wl_group *wl_group_of(struct wl_rank *rank, MPI_Group handle, const char *function)
{
    const struct wl_group *group = handle == MPI_GROUP_EMPTY
                                       ? &empty_group
                                       : wl_table_get(&rank->groups, WL_GROUP, handle);

    if (group == NULL) {
        wl_fatal(rank, function, "there is no group 0x%x", (unsigned)handle);
    }
    return group;
}

uint32_t wl_group_find(const struct wl_group *group, uint32_t rank)
{
    uint32_t i = 0;

    while (i < group->size && group->members[i] != rank) {
        i++;
    }
    return i;
}

/* Room for `size` members, which the caller fills in. */
static struct wl_group *group_new(uint32_t size)
{
    struct wl_group *group = wl_malloc(sizeof(*group) + size * sizeof(uint32_t));

    group->size = size;
    return group;
}

/* Makes a handle of it; that of an empty one is known. */
static MPI_Group give(struct wl_rank *rank, struct wl_group *group)
{
    if (group->size == 0) {
        free(group);
        return MPI_GROUP_EMPTY;
    }
    return wl_table_add(&rank->groups, WL_GROUP, group);
}

MPI_Group wl_group_new(struct wl_rank *rank, const struct wl_comm *comm, uint32_t first,
                       uint32_t size)
{
    struct wl_group *group = group_new(size);

    for (uint32_t i = 0; i < size; i++) {
        group->members[i] = wl_member(comm, first + i);
    }
    return give(rank, group);
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group *newgroup)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Comm_group");

    *newgroup = wl_group_new(rank, view.comm, view.first, view.size);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group *newgroup)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view view = wl_comm_of(rank, comm, "MPI_Comm_remote_group");

    *newgroup = wl_group_new(rank, view.comm, view.peers, view.n_peers);
    wl_leave(rank);
    return MPI_SUCCESS;
}

static bool same_members(const struct wl_comm *a, const struct wl_comm *b)
{
    bool same = a->size == b->size;

    for (uint32_t i = 0; same && i < a->size; i++) {
        same = wl_member(a, i) == wl_member(b, i);
    }
    return same;
}

int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    struct wl_rank *rank = wl_enter();
    struct wl_view a = wl_comm_of(rank, comm1, "MPI_Comm_compare");
    struct wl_view b = wl_comm_of(rank, comm2, "MPI_Comm_compare");
    MPI_Group groups[2] = {wl_group_new(rank, a.comm, 0, a.comm->size),
                           wl_group_new(rank, b.comm, 0, b.comm->size)};

    (void)MPI_Group_compare(groups[0], groups[1], result);
    if (a.comm == b.comm) {
        *result = MPI_IDENT;
    } else if (a.inter != b.inter) {
        *result = MPI_UNEQUAL;
    } else if (same_members(a.comm, b.comm)) {
        *result = MPI_CONGRUENT;
    }
    (void)MPI_Group_free(&groups[0]);
    (void)MPI_Group_free(&groups[1]);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Group_size(MPI_Group handle, int *size)
{
    struct wl_rank *rank = wl_enter();

    *size = (int)wl_group_of(rank, handle, "MPI_Group_size")->size;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Group_rank(MPI_Group handle, int *place)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_group *group = wl_group_of(rank, handle, "MPI_Group_rank");
    uint32_t i = wl_group_find(group, rank->self->rank);

    *place = i < group->size ? (int)i : MPI_UNDEFINED;
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Group_free(MPI_Group *handle)
{
    struct wl_rank *rank = wl_enter();

    (void)wl_group_of(rank, *handle, "MPI_Group_free");
    if (*handle != MPI_GROUP_EMPTY) {
        free(wl_table_take(&rank->groups, WL_GROUP, *handle));
    }
    *handle = MPI_GROUP_NULL;
    wl_leave(rank);
    return MPI_SUCCESS;
}

static uint32_t member_at(const struct wl_rank *rank, const struct wl_group *group, int place,
                          const char *function)
{
    if (place < 0 || (uint32_t)place >= group->size) {
        wl_fatal(rank, function, "there is no rank %d in a group of %u", place, group->size);
    }
    return group->members[place];
}

int MPI_Group_incl(MPI_Group handle, int n, const int *ranks, MPI_Group *newgroup)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_group *group = wl_group_of(rank, handle, "MPI_Group_incl");
    struct wl_group *made = group_new((uint32_t)n);

    for (int i = 0; i < n; i++) {
        made->members[i] = member_at(rank, group, ranks[i], "MPI_Group_incl");
    }
    *newgroup = give(rank, made);
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* The members that are marked, or those that are not. */
static struct wl_group *choose(const struct wl_group *group, const bool *marked, bool which)
{
    struct wl_group *made = group_new(group->size);

    made->size = 0;
    for (uint32_t i = 0; i < group->size; i++) {
        if (marked[i] == which) {
            made->members[made->size++] = group->members[i];
        }
    }
    return made;
}

int MPI_Group_excl(MPI_Group handle, int n, const int *ranks, MPI_Group *newgroup)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_group *group = wl_group_of(rank, handle, "MPI_Group_excl");
    bool *marked = wl_calloc(group->size, sizeof(bool));

    for (int i = 0; i < n; i++) {
        (void)member_at(rank, group, ranks[i], "MPI_Group_excl");
        marked[ranks[i]] = true;
    }
    *newgroup = give(rank, choose(group, marked, false));
    free(marked);
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* The ranks of (first, last, stride) triplets, in order. */
static struct wl_group *expand(const struct wl_rank *rank, const struct wl_group *group, int n,
                               int ranges[][3], const char *function)
{
    size_t size = 0;

    for (int i = 0; i < n; i++) {
        int stride = ranges[i][2];
        if (stride == 0) {
            wl_fatal(rank, function, "a range with the stride 0");
        }
        int length = (ranges[i][1] - ranges[i][0]) / stride + 1;
        size += length > 0 ? (size_t)length : 0;
    }
    struct wl_group *made = group_new((uint32_t)size);
    uint32_t at = 0;
    for (int i = 0; i < n; i++) {
        int stride = ranges[i][2];
        for (int r = ranges[i][0]; stride > 0 ? r <= ranges[i][1] : r >= ranges[i][1];
             r += stride) {
            made->members[at++] = member_at(rank, group, r, function);
        }
    }
    return made;
}

int MPI_Group_range_incl(MPI_Group handle, int n, int ranges[][3], MPI_Group *newgroup)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_group *group = wl_group_of(rank, handle, "MPI_Group_range_incl");

    *newgroup = give(rank, expand(rank, group, n, ranges, "MPI_Group_range_incl"));
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* Which members of one group are in another. */
static bool *mark_common(const struct wl_group *group, const struct wl_group *other)
{
    bool *marked = wl_calloc(group->size, sizeof(bool));

    for (uint32_t i = 0; i < group->size; i++) {
        marked[i] = wl_group_find(other, group->members[i]) < other->size;
    }
    return marked;
}

int MPI_Group_range_excl(MPI_Group handle, int n, int ranges[][3], MPI_Group *newgroup)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_group *group = wl_group_of(rank, handle, "MPI_Group_range_excl");
    struct wl_group *gone = expand(rank, group, n, ranges, "MPI_Group_range_excl");
    bool *marked = mark_common(group, gone);

    *newgroup = give(rank, choose(group, marked, false));
    free(marked);
    free(gone);
    wl_leave(rank);
    return MPI_SUCCESS;
}

/* Of two groups: what of the first is in the second or not, and perhaps the rest of the second
 * behind it. */
static int combine(MPI_Group first, MPI_Group second, bool common, bool rest,
                   MPI_Group *newgroup)
{
    static const char function[] = "MPI_Group_union, _intersection or _difference";
    struct wl_rank *rank = wl_enter();
    const struct wl_group *a = wl_group_of(rank, first, function);
    const struct wl_group *b = wl_group_of(rank, second, function);
    struct wl_group *made;

    if (rest) {
        bool *marked = mark_common(b, a);
        struct wl_group *more = choose(b, marked, false);
        made = group_new(a->size + more->size);
        memcpy(made->members, a->members, a->size * sizeof(uint32_t));
        memcpy(made->members + a->size, more->members, more->size * sizeof(uint32_t));
        free(marked);
        free(more);
    } else {
        bool *marked = mark_common(a, b);
        made = choose(a, marked, common);
        free(marked);
    }
    *newgroup = give(rank, made);
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Group_union(MPI_Group first, MPI_Group second, MPI_Group *newgroup)
{
    return combine(first, second, false, true, newgroup);
}

int MPI_Group_intersection(MPI_Group first, MPI_Group second, MPI_Group *newgroup)
{
    return combine(first, second, true, false, newgroup);
}

int MPI_Group_difference(MPI_Group first, MPI_Group second, MPI_Group *newgroup)
{
    return combine(first, second, false, false, newgroup);
}

int MPI_Group_translate_ranks(MPI_Group first, int n, const int *ranks, MPI_Group second,
                              int *out)
{
    static const char function[] = "MPI_Group_translate_ranks";
    struct wl_rank *rank = wl_enter();
    const struct wl_group *a = wl_group_of(rank, first, function);
    const struct wl_group *b = wl_group_of(rank, second, function);

    for (int i = 0; i < n; i++) {
        if (ranks[i] == MPI_PROC_NULL) {
            out[i] = MPI_PROC_NULL;
            continue;
        }
        uint32_t place = wl_group_find(b, member_at(rank, a, ranks[i], function));
        out[i] = place < b->size ? (int)place : MPI_UNDEFINED;
    }
    wl_leave(rank);
    return MPI_SUCCESS;
}

int MPI_Group_compare(MPI_Group first, MPI_Group second, int *result)
{
    struct wl_rank *rank = wl_enter();
    const struct wl_group *a = wl_group_of(rank, first, "MPI_Group_compare");
    const struct wl_group *b = wl_group_of(rank, second, "MPI_Group_compare");
    bool *marked = mark_common(a, b);
    bool similar = a->size == b->size;

    for (uint32_t i = 0; i < a->size; i++) {
        similar &= marked[i];
    }
    bool same = similar && (a->size == 0 ||
                            memcmp(a->members, b->members, a->size * sizeof(uint32_t)) == 0);
    *result = same ? MPI_IDENT : similar ? MPI_SIMILAR : MPI_UNEQUAL;
    free(marked);
    wl_leave(rank);
    return MPI_SUCCESS;
}
