/* SPDX-License-Identifier: Apache-2.0 */
/* Groups. */
#include "mpi/lib/comm/group.h"
#include "mpi/lib/checker/checker.h"
#include "mpi/lib/memory.h"

#include <stdlib.h>
#include <string.h>

static const struct wl_group empty_group = {.size = 0};

const struct wl_group *wl_group_of(struct wl_rank *rank, MPI_Group handle)
{
    const struct wl_group *group = handle == MPI_GROUP_EMPTY
                                       ? &empty_group
                                       : wl_table_get(&rank->groups, WL_GROUP, handle);

    if (group == NULL) {
        wl_fatal(rank, "there is no group 0x%x", (unsigned)handle);
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

/* The caller fills in the members. */
static struct wl_group *group_new(uint32_t size)
{
    struct wl_group *group = wl_malloc(sizeof(*group) + size * sizeof(uint32_t));

    group->size = size;
    return group;
}

/* The handle of a new group. An empty group is predefined. */
static MPI_Group give(struct wl_rank *rank, struct wl_group *group)
{
    if (group->size == 0) {
        free(group);
        return MPI_GROUP_EMPTY;
    }
    MPI_Group handle = wl_table_add(&rank->groups, WL_GROUP, group);
    wl_check_created(rank, handle);
    return handle;
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

int wl_MPI_Comm_group(struct wl_rank *rank, MPI_Comm comm, MPI_Group *newgroup)
{
    struct wl_view view = wl_comm_of(rank, comm);

    *newgroup = wl_group_new(rank, view.comm, view.first, view.size);
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

int wl_MPI_Comm_compare(struct wl_rank *rank, MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    struct wl_view a = wl_comm_of(rank, comm1);
    struct wl_view b = wl_comm_of(rank, comm2);
    MPI_Group groups[2] = {wl_group_new(rank, a.comm, 0, a.comm->size),
                           wl_group_new(rank, b.comm, 0, b.comm->size)};

    (void)wl_MPI_Group_compare(rank, groups[0], groups[1], result);
    if (a.comm == b.comm) {
        *result = MPI_IDENT;
    } else if (a.inter != b.inter) {
        *result = MPI_UNEQUAL;
    } else if (same_members(a.comm, b.comm)) {
        *result = MPI_CONGRUENT;
    }
    (void)wl_MPI_Group_free(rank, &groups[0]);
    (void)wl_MPI_Group_free(rank, &groups[1]);
    return MPI_SUCCESS;
}

int wl_MPI_Group_rank(struct wl_rank *rank, MPI_Group handle, int *place)
{
    const struct wl_group *group = wl_group_of(rank, handle);
    uint32_t i = wl_group_find(group, rank->self->rank);

    *place = i < group->size ? (int)i : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int wl_MPI_Group_free(struct wl_rank *rank, MPI_Group *handle)
{
    (void)wl_group_of(rank, *handle);
    if (*handle != MPI_GROUP_EMPTY) {
        free(wl_table_take(&rank->groups, WL_GROUP, *handle));
    }
    *handle = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

static uint32_t member_at(const struct wl_rank *rank, const struct wl_group *group, int place)
{
    if (place < 0 || (uint32_t)place >= group->size) {
        wl_fatal(rank, "there is no rank %d in a group of %u", place, group->size);
    }
    return group->members[place];
}

int wl_MPI_Group_incl(struct wl_rank *rank, MPI_Group handle, int n, const int *ranks,
                      MPI_Group *newgroup)
{
    const struct wl_group *group = wl_group_of(rank, handle);
    struct wl_group *created = group_new((uint32_t)n);

    for (int i = 0; i < n; i++) {
        created->members[i] = member_at(rank, group, ranks[i]);
    }
    *newgroup = give(rank, created);
    return MPI_SUCCESS;
}

/* A group of the members that are marked, or of those that are not. Frees the marks. */
static struct wl_group *choose(const struct wl_group *group, bool *marked, bool which)
{
    struct wl_group *chosen = group_new(group->size);

    chosen->size = 0;
    for (uint32_t i = 0; i < group->size; i++) {
        if (marked[i] == which) {
            chosen->members[chosen->size++] = group->members[i];
        }
    }
    free(marked);
    return chosen;
}

int wl_MPI_Group_excl(struct wl_rank *rank, MPI_Group handle, int n, const int *ranks,
                      MPI_Group *newgroup)
{
    const struct wl_group *group = wl_group_of(rank, handle);
    bool *marked = wl_calloc(group->size, sizeof(bool));

    for (int i = 0; i < n; i++) {
        (void)member_at(rank, group, ranks[i]);
        marked[ranks[i]] = true;
    }
    *newgroup = give(rank, choose(group, marked, false));
    return MPI_SUCCESS;
}

/* The members named by (first, last, stride) triplets. */
static struct wl_group *expand(const struct wl_rank *rank, const struct wl_group *group, int n,
                               int ranges[][3])
{
    size_t size = 0;

    for (int i = 0; i < n; i++) {
        int stride = ranges[i][2];
        if (stride == 0) {
            wl_fatal(rank, "a range with the stride 0");
        }
        int length = (ranges[i][1] - ranges[i][0]) / stride + 1;
        size += length > 0 ? (size_t)length : 0;
    }
    struct wl_group *created = group_new((uint32_t)size);
    uint32_t at = 0;
    for (int i = 0; i < n; i++) {
        int stride = ranges[i][2];
        for (int r = ranges[i][0]; stride > 0 ? r <= ranges[i][1] : r >= ranges[i][1];
             r += stride) {
            created->members[at++] = member_at(rank, group, r);
        }
    }
    return created;
}

int wl_MPI_Group_range_incl(struct wl_rank *rank, MPI_Group handle, int n, int ranges[][3],
                            MPI_Group *newgroup)
{
    const struct wl_group *group = wl_group_of(rank, handle);

    *newgroup = give(rank, expand(rank, group, n, ranges));
    return MPI_SUCCESS;
}

/* Marks the members of a group that are in the other one too. Allocated. */
static bool *mark_common(const struct wl_group *group, const struct wl_group *other)
{
    bool *marked = wl_calloc(group->size, sizeof(bool));

    for (uint32_t i = 0; i < group->size; i++) {
        marked[i] = wl_group_find(other, group->members[i]) < other->size;
    }
    return marked;
}

int wl_MPI_Group_range_excl(struct wl_rank *rank, MPI_Group handle, int n, int ranges[][3],
                            MPI_Group *newgroup)
{
    const struct wl_group *group = wl_group_of(rank, handle);
    struct wl_group *excluded = expand(rank, group, n, ranges);

    *newgroup = give(rank, choose(group, mark_common(group, excluded), false));
    free(excluded);
    return MPI_SUCCESS;
}

int wl_MPI_Group_union(struct wl_rank *rank, MPI_Group first, MPI_Group second,
                       MPI_Group *newgroup)
{
    const struct wl_group *a = wl_group_of(rank, first), *b = wl_group_of(rank, second);
    struct wl_group *added = choose(b, mark_common(b, a), false);
    struct wl_group *created = group_new(a->size + added->size);

    memcpy(created->members, a->members, a->size * sizeof(uint32_t));
    memcpy(created->members + a->size, added->members, added->size * sizeof(uint32_t));
    free(added);
    *newgroup = give(rank, created);
    return MPI_SUCCESS;
}

int wl_MPI_Group_intersection(struct wl_rank *rank, MPI_Group first, MPI_Group second,
                              MPI_Group *newgroup)
{
    const struct wl_group *a = wl_group_of(rank, first), *b = wl_group_of(rank, second);

    *newgroup = give(rank, choose(a, mark_common(a, b), true));
    return MPI_SUCCESS;
}

int wl_MPI_Group_difference(struct wl_rank *rank, MPI_Group first, MPI_Group second,
                            MPI_Group *newgroup)
{
    const struct wl_group *a = wl_group_of(rank, first), *b = wl_group_of(rank, second);

    *newgroup = give(rank, choose(a, mark_common(a, b), false));
    return MPI_SUCCESS;
}

int wl_MPI_Group_translate_ranks(struct wl_rank *rank, MPI_Group first, int n, const int *ranks,
                                 MPI_Group second, int *out)
{
    const struct wl_group *a = wl_group_of(rank, first);
    const struct wl_group *b = wl_group_of(rank, second);

    for (int i = 0; i < n; i++) {
        if (ranks[i] == MPI_PROC_NULL) {
            out[i] = MPI_PROC_NULL;
            continue;
        }
        uint32_t place = wl_group_find(b, member_at(rank, a, ranks[i]));
        out[i] = place < b->size ? (int)place : MPI_UNDEFINED;
    }
    return MPI_SUCCESS;
}

int wl_MPI_Group_compare(struct wl_rank *rank, MPI_Group first, MPI_Group second, int *result)
{
    const struct wl_group *a = wl_group_of(rank, first);
    const struct wl_group *b = wl_group_of(rank, second);
    bool *marked = mark_common(a, b);
    bool similar = a->size == b->size;

    for (uint32_t i = 0; i < a->size; i++) {
        similar &= marked[i];
    }
    bool same = similar && (a->size == 0 ||
                            memcmp(a->members, b->members, a->size * sizeof(uint32_t)) == 0);
    *result = same ? MPI_IDENT : similar ? MPI_SIMILAR : MPI_UNEQUAL;
    free(marked);
    return MPI_SUCCESS;
}
