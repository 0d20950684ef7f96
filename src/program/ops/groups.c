/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/groups.h"

#include "base/array.h"
#include "base/map.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Used instead of a rank: every rank of the program. */
#define ALL UINT32_MAX

struct record {
    uint32_t comm;
    struct wf_group group; /* its member rank is not used */
    uint32_t *members;
};

struct wf_groups {
    uint32_t n_ranks;
    struct record *records;
    uint32_t n, capacity;
    struct wf_map numbers; /* (rank or ALL, communicator number): see put_number() */
    struct wf_map ids;     /* keyed by (first member, id) */
};

/* Packs two numbers: a key of the maps, or a record and the index of a rank in it. */
static uint64_t pair(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* Binds a communicator number of a rank to the next record, unless it is bound already. The
 * value is the pair of 1 + the record and the index of the rank in it. */
static void put_number(struct wf_groups *groups, uint32_t rank, uint32_t comm, uint32_t place)
{
    uint64_t *value = wf_map_put(&groups->numbers, pair(rank, comm));

    *value = *value == 0 ? pair(groups->n + 1, place) : *value;
}

struct wf_groups *wf_groups_new(uint32_t n_ranks)
{
    struct wf_groups *groups = wf_xcalloc(1, sizeof(*groups));

    groups->n_ranks = n_ranks;
    return groups;
}

void wf_groups_free(struct wf_groups *groups)
{
    if (groups == NULL) {
        return;
    }
    for (uint32_t i = 0; i < groups->n; i++) {
        free(groups->records[i].members);
    }
    free(groups->records);
    wf_map_fini(&groups->numbers);
    wf_map_fini(&groups->ids);
    free(groups);
}

const char *wf_groups_fault(const struct wf_groups *groups, const struct wf_group *group)
{
    if (group->size == 0 || group->size > groups->n_ranks) {
        return "its size is out of range";
    }
    bool inside = true;
    for (uint32_t r = 0; group->members != NULL && r < group->size; r++) {
        inside = inside && group->members[r] < groups->n_ranks;
    }
    if (group->members == NULL) {
        if (group->width == 0) {
            return "its width is 0";
        }
        /* The largest member is the last of a full row or of the last row. The steps are
         * checked first, so that no sum is too large. */
        uint64_t rows = (group->size - 1) / group->width;
        uint64_t columns = (group->width < group->size ? group->width : group->size) - 1;
        inside = (rows == 0 || group->stride2 <= groups->n_ranks / rows) &&
                 (columns == 0 || group->stride <= groups->n_ranks / columns);
        for (uint64_t row = rows > 0 ? rows - 1 : 0; inside && row <= rows; row++) {
            uint64_t last = row < rows ? columns : group->size - 1 - rows * group->width;
            inside =
                group->first + last * group->stride + row * group->stride2 < groups->n_ranks;
        }
    }
    return inside ? NULL : "a member is no rank of the program";
}

static bool is_world(const struct wf_groups *groups, const struct wf_group *group)
{
    return group->members == NULL && group->size == groups->n_ranks && group->first == 0 &&
           (group->stride == 1 || group->size == 1) && group->width >= group->size;
}

void wf_groups_add(struct wf_groups *groups, uint32_t comm, const struct wf_group *group)
{
    WF_GROW(groups->records, groups->n, groups->capacity);
    struct record *record = &groups->records[groups->n];
    size_t size = (size_t)group->size * sizeof(*record->members);

    *record = (struct record){.comm = comm, .group = *group};
    if (group->members != NULL) {
        record->members = wf_xmalloc(size);
        memcpy(record->members, group->members, size);
        record->group.members = record->members;
    }
    uint64_t *known = wf_map_put(&groups->ids, pair(wf_group_rank(group, 0), group->id));
    *known = *known == 0 ? groups->n + 1 : *known;
    if (is_world(groups, group)) {
        put_number(groups, ALL, comm, 0);
    } else {
        for (uint32_t r = 0; r < group->size; r++) {
            put_number(groups, wf_group_rank(group, r), comm, r);
        }
    }
    groups->n++;
}

bool wf_groups_has(const struct wf_groups *groups, uint32_t id, uint32_t first)
{
    return wf_map_get(&groups->ids, pair(first, id)) != NULL;
}

bool wf_groups_bind(struct wf_groups *groups, uint32_t rank, uint32_t comm, uint32_t id,
                    uint32_t first)
{
    const uint64_t *known = wf_map_get(&groups->ids, pair(first, id));

    if (known == NULL) {
        return false;
    }
    uint32_t number = (uint32_t)*known;
    const struct wf_group *group = &groups->records[number - 1].group;
    for (uint32_t r = 0; r < group->size; r++) {
        if (wf_group_rank(group, r) == rank) {
            *wf_map_put(&groups->numbers, pair(rank, comm)) = pair(number, r);
            return true;
        }
    }
    return false;
}

bool wf_groups_find(const struct wf_groups *groups, uint32_t rank, uint32_t comm,
                    struct wf_group *out)
{
    if (comm == WF_COMM_WORLD) {
        *out = (struct wf_group){.id = WF_COMM_WORLD,
                                 .size = groups->n_ranks,
                                 .rank = rank,
                                 .stride = 1,
                                 .width = groups->n_ranks};
        return true;
    }

    const uint64_t *own = wf_map_get(&groups->numbers, pair(rank, comm));
    const uint64_t *found = own != NULL ? own : wf_map_get(&groups->numbers, pair(ALL, comm));
    if (found == NULL) {
        return false;
    }
    *out = groups->records[(uint32_t)(*found >> 32) - 1].group;
    out->rank = own != NULL ? (uint32_t)*own : rank;
    return true;
}

enum wf_learnt wf_groups_learn(struct wf_groups *groups, uint32_t rank, uint32_t comm,
                               const struct wf_group *group)
{
    uint32_t first = wf_group_rank(group, 0);
    bool known = wf_groups_has(groups, group->id, first);
    struct wf_group found;

    assert(comm != WF_COMM_WORLD);
    if (!known) {
        wf_groups_add(groups, comm, group);
    }
    if (wf_groups_find(groups, rank, comm, &found) && found.id == group->id &&
        wf_group_rank(&found, 0) == first) {
        return known ? WF_LEARNT_NOTHING : WF_LEARNT_GROUP;
    }
    if (!wf_groups_bind(groups, rank, comm, group->id, first)) {
        return WF_LEARNT_WRONG;
    }
    return known ? WF_LEARNT_NUMBER : WF_LEARNT_BOTH;
}

enum wf_status wf_groups_tell(struct wf_groups *groups, uint32_t rank, uint32_t comm,
                              const struct wf_group *group, struct wf_err *err)
{
    const char *fault = comm == WF_COMM_WORLD ? NULL : wf_groups_fault(groups, group);

    if (fault == NULL && comm != WF_COMM_WORLD &&
        wf_groups_learn(groups, rank, comm, group) == WF_LEARNT_WRONG) {
        fault = "it is no member";
    }
    return fault == NULL ? WF_OK
                         : wf_err_set(err, WF_EINVAL, "communicator %u of rank %u: %s",
                                      (unsigned)comm, (unsigned)rank, fault);
}

bool wf_groups_at(const struct wf_groups *groups, uint32_t i, uint32_t *comm,
                  struct wf_group *out)
{
    if (i >= groups->n) {
        return false;
    }
    *comm = groups->records[i].comm;
    *out = groups->records[i].group;
    return true;
}
