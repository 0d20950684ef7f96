/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groups.h"

#include "base/mem.h"
#include "base/rng.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* In the place of a rank: all of them. Of a comm: the table of groups by id and first member.
 */
#define ALL  UINT32_MAX
#define FREE UINT32_MAX

struct record {
    uint32_t comm;
    struct wf_group group; /* rank is not used */
    uint32_t *members;
};

struct entry {
    uint32_t a, b; /* rank and number, or first member and id */
    uint32_t record;
    uint32_t place; /* of the rank in the group */
};

/* Open addressing; at most half full. */
struct map {
    struct entry *entries;
    size_t mask, n;
};

struct wf_groups {
    uint32_t n_ranks;
    struct record *records;
    uint32_t n;
    struct map numbers, ids;
};

static struct entry *find_entry(const struct map *map, uint32_t a, uint32_t b)
{
    size_t at = (size_t)wf_rng_mix(((uint64_t)a << 32 | b) + WF_RNG_GOLDEN) & map->mask;

    while (map->entries[at].record != FREE &&
           (map->entries[at].a != a || map->entries[at].b != b)) {
        at = (at + 1) & map->mask;
    }
    return &map->entries[at];
}

static void map_init(struct map *map, size_t capacity)
{
    map->entries = wf_xmalloc(capacity * sizeof(*map->entries));
    map->mask = capacity - 1;
    map->n = 0;
    memset(map->entries, 0xff, capacity * sizeof(*map->entries));
}

static void grow(struct map *map)
{
    struct map old = *map;

    if (map->n * 2 <= map->mask) {
        return;
    }
    map_init(map, (old.mask + 1) * 2);
    for (size_t i = 0; i <= old.mask; i++) {
        if (old.entries[i].record != FREE) {
            *find_entry(map, old.entries[i].a, old.entries[i].b) = old.entries[i];
            map->n++;
        }
    }
    free(old.entries);
}

/* Keeps what is there unless told to replace it. */
static void put(struct map *map, struct entry entry, bool replace)
{
    grow(map);
    struct entry *at = find_entry(map, entry.a, entry.b);

    if (at->record == FREE) {
        map->n++;
        *at = entry;
    } else if (replace) {
        *at = entry;
    }
}

struct wf_groups *wf_groups_new(uint32_t n_ranks)
{
    struct wf_groups *groups = wf_xcalloc(1, sizeof(*groups));

    groups->n_ranks = n_ranks;
    map_init(&groups->numbers, 16);
    map_init(&groups->ids, 16);
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
    free(groups->numbers.entries);
    free(groups->ids.entries);
    free(groups);
}

const char *wf_groups_fault(const struct wf_groups *groups, const struct wf_group *group)
{
    if (group->size == 0 || group->size > groups->n_ranks) {
        return "its size is out of range";
    }
    if (group->members == NULL) {
        if (group->width == 0) {
            return "its width is 0";
        }
        /* The largest member is at the end of a row: sums are below 2^32 * 2^32 * 2. */
        uint64_t rows = (group->size - 1) / group->width;
        uint64_t columns = group->width < group->size ? group->width - 1 : group->size - 1;
        if (rows > 0 && group->stride2 > groups->n_ranks / rows) {
            return "a member is no rank of the program";
        }
        if (columns > 0 && group->stride > groups->n_ranks / columns) {
            return "a member is no rank of the program";
        }
        for (uint32_t r = 0; r < group->size; r += group->width) {
            uint64_t length = group->size - r < group->width ? group->size - r : group->width;
            uint64_t last = (uint64_t)group->first + (length - 1) * group->stride +
                            (uint64_t)(r / group->width) * group->stride2;
            if (last >= groups->n_ranks) {
                return "a member is no rank of the program";
            }
            if (group->size - r <= group->width) {
                break;
            }
        }
        return NULL;
    }
    for (uint32_t r = 0; r < group->size; r++) {
        if (group->members[r] >= groups->n_ranks) {
            return "a member is no rank of the program";
        }
    }
    return NULL;
}

static bool is_world(const struct wf_groups *groups, const struct wf_group *group)
{
    return group->members == NULL && group->size == groups->n_ranks && group->first == 0 &&
           (group->stride == 1 || group->size == 1) && group->width >= group->size;
}

void wf_groups_add(struct wf_groups *groups, uint32_t comm, const struct wf_group *group)
{
    groups->records =
        wf_xrealloc(groups->records, (size_t)groups->n + 1, sizeof(*groups->records));
    struct record *record = &groups->records[groups->n];
    struct entry entry = {wf_group_rank(group, 0), group->id, groups->n, 0};

    *record = (struct record){.comm = comm, .group = *group};
    if (group->members != NULL) {
        record->members = wf_xmalloc((size_t)group->size * sizeof(*record->members));
        memcpy(record->members, group->members, (size_t)group->size * sizeof(*record->members));
        record->group.members = record->members;
    }
    put(&groups->ids, entry, false);
    if (is_world(groups, group)) {
        put(&groups->numbers, (struct entry){ALL, comm, groups->n, 0}, false);
    } else {
        for (uint32_t r = 0; r < group->size; r++) {
            put(&groups->numbers,
                (struct entry){wf_group_rank(&record->group, r), comm, groups->n, r}, false);
        }
    }
    groups->n++;
}

bool wf_groups_has(const struct wf_groups *groups, uint32_t id, uint32_t first)
{
    return find_entry(&groups->ids, first, id)->record != FREE;
}

bool wf_groups_bind(struct wf_groups *groups, uint32_t rank, uint32_t comm, uint32_t id,
                    uint32_t first)
{
    const struct entry *known = find_entry(&groups->ids, first, id);

    if (known->record == FREE) {
        return false;
    }
    const struct wf_group *group = &groups->records[known->record].group;
    for (uint32_t r = 0; r < group->size; r++) {
        if (wf_group_rank(group, r) == rank) {
            put(&groups->numbers, (struct entry){rank, comm, known->record, r}, true);
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

    const struct entry *entry = find_entry(&groups->numbers, rank, comm);
    uint32_t place = entry->place;
    if (entry->record == FREE) {
        entry = find_entry(&groups->numbers, ALL, comm);
        place = rank;
    }
    if (entry->record == FREE) {
        return false;
    }
    *out = groups->records[entry->record].group;
    out->rank = place;
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
