/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/capture/comms.h"

#include "mpi/capture/capture.h"
#include "mpi/capture/file.h"

#include <stdlib.h>
#include <string.h>

enum {
    ID_SELF = 1,
    ID_FIRST = 2,
    ID_RANGE = (1 << 26) - ID_FIRST, /* replay distinguishes this many ids */
};

static struct {
    struct wf_cap_comm **all; /* indexed by communicator number */
    uint32_t n, room;
    struct wf_cap_requests by_handle; /* entry.number: index into `all` */
    MPI_Group world;
    struct wf_cap_comm *last;
    uint64_t last_handle;
} comms;

/* MPI_Comm is an integer in some MPI libraries and a pointer in others. No communicator has
 * the handle 0. */
uint64_t wf_cap_comm_handle(MPI_Comm comm)
{
    return (uint64_t)(uintptr_t)comm;
}

struct wf_cap_comm *wf_cap_comms_find(MPI_Comm comm)
{
    uint64_t handle = wf_cap_comm_handle(comm);

    if (handle == comms.last_handle) {
        return comms.last;
    }
    const struct wf_cap_request *found = wf_cap_requests_find(&comms.by_handle, handle);
    if (found == NULL) {
        return NULL;
    }
    comms.last_handle = handle;
    comms.last = comms.all[found->number];
    return comms.last;
}

static struct wf_cap_comm *no_memory(void *rubbish)
{
    free(rubbish);
    wf_cap_give_up("out of memory");
    return NULL;
}

static struct wf_cap_comm *add_entry(const struct wf_cap_comm *comm)
{
    struct wf_cap_comm *copy = malloc(sizeof(*copy));

    if (copy == NULL) {
        return no_memory(NULL);
    }
    if (comms.n == comms.room) {
        uint32_t room = comms.room == 0 ? 16 : comms.room * 2;
        struct wf_cap_comm **larger = realloc(comms.all, room * sizeof(struct wf_cap_comm *));
        if (larger == NULL) {
            return no_memory(copy);
        }
        comms.all = larger;
        comms.room = room;
    }
    *copy = *comm;
    copy->number = comms.n;
    comms.all[comms.n++] = copy;
    return copy;
}

static bool bind_handle(uint64_t handle, struct wf_cap_comm *comm)
{
    const struct wf_cap_request entry = {.handle = handle, .number = comm->number};

    comm->in_use = true;
    comms.last_handle = 0;
    if (!wf_cap_requests_put(&comms.by_handle, &entry)) {
        (void)no_memory(NULL);
        return false;
    }
    return true;
}

/* ---- members ---- */

/* Returns the world ranks of the members; for an inter-communicator, the local group and then
 * the remote group. Fills in the size, the rank and the sides of `out`. Returns null if a
 * member is not in MPI_COMM_WORLD, or if there is no memory. */
static uint32_t *members_of(MPI_Comm comm, struct wf_cap_comm *out)
{
    MPI_Group groups[2];
    int sizes[2] = {0, 0}, inter = 0;

    (void)PMPI_Comm_test_inter(comm, &inter);
    (void)PMPI_Comm_group(comm, &groups[0]);
    if (inter != 0) {
        (void)PMPI_Comm_remote_group(comm, &groups[1]);
    }
    int n = 0, n_sides = inter != 0 ? 2 : 1;
    for (int side = 0; side < n_sides; side++) {
        (void)PMPI_Group_size(groups[side], &sizes[side]);
        n += sizes[side];
    }
    int *locals = malloc(3 * (size_t)n * sizeof(*locals));
    uint32_t *members = (uint32_t *)locals;
    bool known = locals != NULL;
    for (int side = 0, at = 0; side < n_sides && known; at += sizes[side], side++) {
        for (int i = 0; i < sizes[side]; i++) {
            locals[n + i] = i;
        }
        (void)PMPI_Group_translate_ranks(groups[side], sizes[side], locals + n, comms.world,
                                         locals + at);
    }
    for (int i = 0; i < n && known; i++) {
        known = locals[i] != MPI_UNDEFINED;
    }
    for (int side = 0; side < n_sides; side++) {
        (void)PMPI_Group_free(&groups[side]);
    }
    if (!known) {
        free(locals);
        return NULL;
    }
    int rank = 0;
    (void)PMPI_Comm_rank(comm, &rank);
    out->size = (uint32_t)n;
    out->rank = (uint32_t)rank;
    out->is_inter = inter != 0;
    out->offset = inter != 0 ? (uint32_t)sizes[0] : 0;
    return members;
}

/* Puts the group that contains the lowest rank first, so that both groups of an
 * inter-communicator record the same list. */
static void order_sides(uint32_t *members, struct wf_cap_comm *comm)
{
    uint32_t mine = comm->offset, lowest = 0;

    if (!comm->is_inter) {
        return;
    }
    for (uint32_t i = 1; i < comm->size; i++) {
        lowest = members[i] < members[lowest] ? i : lowest;
    }
    if (lowest < mine) {
        return;
    }
    /* members_of() has allocated enough memory after the list for a copy. */
    uint32_t others = comm->size - mine;
    memcpy(members + comm->size, members, mine * sizeof(*members));
    memmove(members, members + mine, others * sizeof(*members));
    memcpy(members + others, members + comm->size, mine * sizeof(*members));
    comm->offset = 0;
    comm->rank += others;
}

/* The finalizer of SplitMix64. */
static uint64_t mix(uint64_t digest, uint64_t value)
{
    uint64_t z = digest + (value + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void set_digest(struct wf_cap_comm *comm)
{
    comm->digest = mix(comm->is_inter ? 1 : 0, comm->size);
    for (uint32_t i = 0; i < comm->size; i++) {
        comm->digest = mix(comm->digest, comm->members[i]);
    }
}

/* ---- numbers and ids ---- */

/* Finds a freed communicator with the same members, whose id can be used again. If there is
 * none, like->copy becomes the number of communicators with these members. */
static struct wf_cap_comm *find_freed(struct wf_cap_comm *like)
{
    like->copy = 0;
    for (uint32_t i = 2; i < comms.n; i++) {
        struct wf_cap_comm *other = comms.all[i];
        if (other->digest == like->digest && other->size == like->size &&
            other->is_inter == like->is_inter) {
            if (!other->in_use) {
                return other;
            }
            like->copy++;
        }
    }
    return NULL;
}

static void record_group(const struct wf_cap_comm *comm, const uint32_t *members)
{
    uint64_t *numbers = malloc(((size_t)comm->size + 8) * sizeof(*numbers));
    uint32_t stride = comm->size > 1 ? members[1] - members[0] : 1;
    bool regular = comm->size == 1 || members[1] > members[0];

    if (numbers == NULL) {
        (void)no_memory(NULL);
        return;
    }
    for (uint32_t i = 1; i < comm->size && regular; i++) {
        regular = members[i] - members[i - 1] == stride;
    }
    const struct wf_group group = {.id = comm->id,
                                   .size = comm->size,
                                   .first = members[0],
                                   .stride = stride,
                                   .width = comm->size,
                                   .members = regular ? NULL : members};
    wf_cap_file_record(WF_RECORD_GROUP, numbers,
                       wf_native_group_numbers(comm->number, &group, numbers), NULL);
    free(numbers);
    const uint64_t bound[] = {wf_cap.rank, comm->number, comm->id, members[0]};
    wf_cap_file_record(WF_RECORD_BIND, bound, 4, NULL);
}

/* ---- neighbours ---- */

static uint32_t *ranks_of(const int *ranks, int n)
{
    uint32_t *copy = malloc((size_t)n * sizeof(*copy) + 1);

    for (int i = 0; i < n && copy != NULL; i++) {
        copy[i] = ranks[i] < 0 ? WF_PROC_NULL : (uint32_t)ranks[i];
    }
    return copy;
}

static int cart_neighbors(MPI_Comm comm, int *ranks)
{
    int n = 0;

    (void)PMPI_Cartdim_get(comm, &n);
    for (int i = 0; i < n && ranks != NULL; i++) {
        int *pair = ranks + 2 * (size_t)i;
        (void)PMPI_Cart_shift(comm, i, 1, &pair[0], &pair[1]);
    }
    return 2 * n;
}

static int graph_neighbors(MPI_Comm comm, int rank, int *ranks)
{
    int n = 0;

    (void)PMPI_Graph_neighbors_count(comm, rank, &n);
    if (ranks != NULL) {
        (void)PMPI_Graph_neighbors(comm, rank, n, ranks);
    }
    return n;
}

static void learn_neighbors(MPI_Comm comm, struct wf_cap_comm *entry)
{
    int shape = MPI_UNDEFINED, in = 0, out = 0, weighted = 0;

    (void)PMPI_Topo_test(comm, &shape);
    if (shape == MPI_CART) {
        in = out = cart_neighbors(comm, NULL);
    } else if (shape == MPI_GRAPH) {
        in = out = graph_neighbors(comm, (int)entry->rank, NULL);
    } else if (shape == MPI_DIST_GRAPH) {
        (void)PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    } else {
        return;
    }
    int *ranks = calloc(2 * ((size_t)in + (size_t)out) + 1, sizeof(*ranks));
    if (ranks == NULL) {
        return;
    }
    int *others = shape == MPI_DIST_GRAPH ? ranks + in : ranks;
    if (shape == MPI_CART) {
        (void)cart_neighbors(comm, ranks);
    } else if (shape == MPI_GRAPH) {
        (void)graph_neighbors(comm, (int)entry->rank, ranks);
    } else {
        (void)PMPI_Dist_graph_neighbors(comm, in, ranks, ranks + in + out, out, others,
                                        ranks + 2 * (size_t)in + out);
    }
    entry->sources = ranks_of(ranks, in);
    entry->destinations = ranks_of(others, out);
    free(ranks);
    if (entry->sources != NULL && entry->destinations != NULL) {
        entry->n_sources = (uint32_t)in;
        entry->n_destinations = (uint32_t)out;
    }
}

/* ---- communicators ---- */

static bool has_id(uint32_t id)
{
    for (uint32_t i = 2; i < comms.n; i++) {
        if (comms.all[i]->id == id) {
            return true;
        }
    }
    return false;
}

/* Adds a communicator whose members are known. Takes ownership of entry->members. */
static struct wf_cap_comm *add_known(MPI_Comm comm, struct wf_cap_comm *entry)
{
    struct wf_cap_comm *added = find_freed(entry);

    if (added != NULL) {
        free(entry->members);
        free(added->sources);
        free(added->destinations);
        added->sources = added->destinations = NULL;
        added->n_sources = added->n_destinations = 0;
    } else {
        entry->id = (uint32_t)(ID_FIRST + mix(entry->digest, entry->copy) % ID_RANGE);
        if (has_id(entry->id)) {
            wf_cap_give_up("two communicators have the same id");
        }
        added = add_entry(entry);
        if (added == NULL) {
            return NULL;
        }
        record_group(added, added->members);
    }
    return bind_handle(wf_cap_comm_handle(comm), added) ? added : NULL;
}

struct wf_cap_comm *wf_cap_comms_add(MPI_Comm comm)
{
    struct wf_cap_comm entry = {.size = 0};

    entry.members = members_of(comm, &entry);
    if (entry.members == NULL) {
        return NULL;
    }
    order_sides(entry.members, &entry);
    set_digest(&entry);
    struct wf_cap_comm *added = add_known(comm, &entry);
    if (added != NULL) {
        learn_neighbors(comm, added);
    }
    return added;
}

struct wf_cap_comm *wf_cap_comms_add_copy(MPI_Comm comm, const struct wf_cap_comm *like)
{
    struct wf_cap_comm entry = *like;
    size_t size = like->size * sizeof(*entry.members);

    entry.members = malloc(size);
    if (entry.members == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < like->size; i++) {
        entry.members[i] = like->members != NULL ? like->members[i]
                           : like->size == 1     ? wf_cap.rank
                                                 : i;
    }
    /* The neighbour lists belong to `like`; the copy has none. */
    entry.sources = entry.destinations = NULL;
    entry.n_sources = entry.n_destinations = 0;
    set_digest(&entry);
    return add_known(comm, &entry);
}

bool wf_cap_comms_remove(uint64_t handle, uint32_t *number, uint32_t *size)
{
    struct wf_cap_request entry;

    comms.last_handle = 0;
    if (!wf_cap_requests_take(&comms.by_handle, handle, &entry)) {
        return false;
    }
    comms.all[entry.number]->in_use = false;
    *number = entry.number;
    *size = comms.all[entry.number]->size;
    return true;
}

void wf_cap_comms_init(void)
{
    const uint32_t self[2] = {wf_cap.rank};
    const struct wf_cap_comm world = {.size = wf_cap.n_ranks, .rank = self[0]};
    const struct wf_cap_comm alone = {.id = ID_SELF, .size = 1};

    (void)PMPI_Comm_group(MPI_COMM_WORLD, &comms.world);
    struct wf_cap_comm *first = add_entry(&world);
    struct wf_cap_comm *second = add_entry(&alone);
    if (first != NULL && second != NULL &&
        bind_handle(wf_cap_comm_handle(MPI_COMM_WORLD), first) &&
        bind_handle(wf_cap_comm_handle(MPI_COMM_SELF), second)) {
        record_group(second, self);
    }
}
