/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/paraver/colls.h"

#include "base/array.h"
#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SENT, RECEIVED };

#define NOT_JOINED UINT32_MAX

/* How the bytes that Extrae records become those of an op. A rank's block is what it has sent or
 * received on the side `block`; if that is 0, as on the root that works in place, the other side
 * has it `whole` times: once for each member if true. */
struct kind {
    const char *name;
    enum wf_op_kind op;
    int8_t block; /* -1: no bytes */
    bool whole;   /* the other side has a block for each member */
    bool rooted;
    bool equal;     /* lengths differ: the mean of all ranks counts */
    uint8_t blocks; /* if equal, of each rank: 1, or 2 if one for each member */
};

static const struct kind kinds[] = {
    {"MPI_Barrier", WF_OP_BARRIER, -1, false, false, false, 0},
    {"MPI_Bcast", WF_OP_BCAST, SENT, false, true, false, 0},
    {"MPI_Reduce", WF_OP_REDUCE, SENT, false, true, false, 0},
    {"MPI_Allreduce", WF_OP_ALLREDUCE, SENT, false, false, false, 0},
    {"MPI_Scan", WF_OP_SCAN, SENT, false, false, false, 0},
    {"MPI_Exscan", WF_OP_EXSCAN, SENT, false, false, false, 0},
    {"MPI_Gather", WF_OP_GATHER, SENT, true, true, false, 0},
    {"MPI_Scatter", WF_OP_SCATTER, RECEIVED, true, true, false, 0},
    {"MPI_Allgather", WF_OP_ALLGATHER, SENT, true, false, false, 0},
    {"MPI_Alltoall", WF_OP_ALLTOALL, SENT, true, false, false, 0},
    {"MPI_Reduce_scatter_block", WF_OP_REDUCE_SCATTER_BLOCK, RECEIVED, true, false, false, 0},
    {"MPI_Gatherv", WF_OP_GATHER, SENT, true, true, true, 1},
    {"MPI_Scatterv", WF_OP_SCATTER, RECEIVED, true, true, true, 1},
    {"MPI_Allgatherv", WF_OP_ALLGATHER, SENT, true, false, true, 1},
    {"MPI_Reduce_scatter", WF_OP_REDUCE_SCATTER_BLOCK, RECEIVED, true, false, true, 1},
    {"MPI_Alltoallv", WF_OP_ALLTOALL, SENT, true, false, true, 2},
};

/* A collective: what the calls of its members have in common. */
struct wf_paraver_meeting {
    uint32_t n; /* members that have called it */
    uint32_t root, flagged;
    const struct kind *kind;
    uint64_t bytes[2]; /* of all members */
    bool has_root, has_flag;
    bool is_wrong; /* members call different collectives */
};

/* A call of one rank. */
struct wf_paraver_call {
    const struct kind *kind;
    uint64_t comm; /* the number of a line c: */
    uint64_t bytes[2];
    uint32_t place;   /* of the communicator */
    uint32_t meeting; /* on it, or NOT_JOINED */
    bool has_comm, has_bytes, is_root;
};

void wf_paraver_colls_init(struct wf_paraver_colls *colls, uint32_t n_ranks)
{
    *colls = (struct wf_paraver_colls){.n_ranks = n_ranks,
                                       .seen = wf_xcalloc(n_ranks, sizeof(*colls->seen))};
    WF_PUSH(colls->comms, colls->n_comms, colls->comms_capacity,
            (struct wf_paraver_comm){.size = n_ranks});
}

void wf_paraver_colls_fini(struct wf_paraver_colls *colls)
{
    for (uint32_t i = 0; i < colls->n_comms; i++) {
        free(colls->comms[i].members);
        free(colls->comms[i].meetings);
    }
    free(colls->comms);
    free(colls->seen);
    free(colls->calls);
    wf_map_fini(&colls->numbers);
    wf_map_fini(&colls->joined);
}

/* ---- communicators ---- */

/* Takes ":<number>". */
static bool take(const char **at, uint64_t *out)
{
    char *end = NULL;

    if (**at != ':' || (*at)[1] < '0' || (*at)[1] > '9') {
        return false;
    }
    errno = 0;
    *out = strtoull(*at + 1, &end, 10);
    *at = end;
    return errno == 0;
}

/* Reads the members; returns whether they are `size` different ranks. */
static bool take_members(struct wf_paraver_colls *colls, const char *at,
                         struct wf_paraver_comm *comm)
{
    uint32_t line = ++colls->n_lines;

    comm->members = wf_xcalloc(comm->size, sizeof(*comm->members));
    for (uint32_t i = 0; i < comm->size; i++) {
        uint64_t task = 0;
        if (!take(&at, &task) || task < 1 || task > colls->n_ranks ||
            colls->seen[task - 1] == line) {
            return false;
        }
        colls->seen[task - 1] = line;
        comm->members[i] = (uint32_t)task - 1;
    }
    return *at == '\0' || *at == '\r';
}

static bool is_world(const struct wf_paraver_comm *comm, uint32_t n_ranks)
{
    for (uint32_t i = 0; i < comm->size; i++) {
        if (comm->members[i] != i) {
            return false;
        }
    }
    return comm->size == n_ranks;
}

void wf_paraver_colls_comm(struct wf_paraver_colls *colls, const char *line,
                           const struct wf_trace_place *place)
{
    struct wf_paraver_comm comm = {.size = 0};
    uint64_t application = 0, number = 0, size = 0;
    const char *at = line + 1;

    bool fits = take(&at, &application) && take(&at, &number) && take(&at, &size);
    if (fits && application != 1) {
        return;
    }
    fits = fits && size >= 1 && size <= colls->n_ranks;
    comm.size = fits ? (uint32_t)size : 0;
    if (!fits || !take_members(colls, at, &comm)) {
        wf_trace_bad(place,
                     "a communicator whose members are not different tasks from 1 to "
                     "%" PRIu32,
                     colls->n_ranks);
        free(comm.members);
        return;
    }
    uint64_t *known = wf_map_put(&colls->numbers, number);
    if (*known != 0 || is_world(&comm, colls->n_ranks)) {
        *known = *known != 0 ? *known : 1;
        free(comm.members);
        return;
    }
    WF_PUSH(colls->comms, colls->n_comms, colls->comms_capacity, comm);
    *known = colls->n_comms;
}

/* ---- calls ---- */

uint64_t wf_paraver_colls_call(struct wf_paraver_colls *colls, const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            WF_PUSH(colls->calls, colls->n_calls, colls->calls_capacity,
                    (struct wf_paraver_call){.kind = &kinds[i], .meeting = NOT_JOINED});
            return colls->n_calls;
        }
    }
    return 0;
}

void wf_paraver_colls_fact(struct wf_paraver_colls *colls, uint64_t number, uint64_t type,
                           uint64_t value)
{
    struct wf_paraver_call *call = &colls->calls[number - 1];

    if (type == WF_PARAVER_IS_ROOT) {
        call->is_root = value != 0;
    } else if (type == WF_PARAVER_COMM) {
        call->comm = value;
        call->has_comm = true;
    } else {
        /* Extrae writes 32 bits; sums over all ranks must not overflow. */
        call->bytes[type - WF_PARAVER_SENT] = value < UINT32_MAX ? value : UINT32_MAX;
        call->has_bytes = true;
    }
}

/* ---- meetings ---- */

void wf_paraver_colls_begin_rank(struct wf_paraver_colls *colls)
{
    wf_map_clear(&colls->joined);
}

/* The index of the rank among the members; their number if it is not a member. */
static uint32_t member_of(const struct wf_paraver_comm *comm, uint32_t rank)
{
    uint32_t i = 0;

    if (comm->members == NULL) {
        return rank;
    }
    while (i < comm->size && comm->members[i] != rank) {
        i++;
    }
    return i;
}

/* The root of a gather is the one that receives, of a scatter the one that sends. The flag is
 * second to that: Extrae sets it by the rank in the world for these, which is wrong on other
 * communicators. */
static void learn_root(struct wf_paraver_meeting *meeting, const struct wf_paraver_call *call,
                       uint32_t member)
{
    const struct kind *kind = call->kind;

    if (kind->whole && call->bytes[1 - kind->block] > 0) {
        meeting->root = member;
        meeting->has_root = true;
    }
    if (call->is_root) {
        meeting->flagged = member;
        meeting->has_flag = true;
    }
}

void wf_paraver_colls_join(struct wf_paraver_colls *colls, uint32_t rank, uint64_t number)
{
    struct wf_paraver_call *call = &colls->calls[number - 1];
    const uint64_t *known = call->has_comm ? wf_map_get(&colls->numbers, call->comm) : NULL;

    if (call->has_comm && known == NULL) {
        return;
    }
    call->place = known != NULL ? (uint32_t)*known - 1 : 0;
    struct wf_paraver_comm *comm = &colls->comms[call->place];
    size_t before = colls->joined.n;
    uint64_t *joined = wf_map_put(&colls->joined, call->place);
    if (colls->joined.n != before) {
        *joined = (uint64_t)member_of(comm, rank) << 32;
    }
    uint32_t member = (uint32_t)(*joined >> 32), k = (uint32_t)*joined;
    if (member >= comm->size) {
        return;
    }
    ++*joined;
    if (k == comm->n_meetings) {
        WF_PUSH(comm->meetings, comm->n_meetings, comm->capacity,
                (struct wf_paraver_meeting){.kind = call->kind});
    }
    struct wf_paraver_meeting *meeting = &comm->meetings[k];
    meeting->n++;
    meeting->is_wrong |= meeting->kind != call->kind;
    meeting->bytes[SENT] += call->bytes[SENT];
    meeting->bytes[RECEIVED] += call->bytes[RECEIVED];
    if (call->kind->rooted) {
        learn_root(meeting, call, member);
    }
    call->meeting = k;
}

/* ---- ops ---- */

static uint64_t bytes_of(const struct wf_paraver_call *call,
                         const struct wf_paraver_meeting *meeting, uint32_t size)
{
    const struct kind *kind = call->kind;
    const uint64_t *from = kind->equal ? meeting->bytes : call->bytes;
    uint64_t block = from[kind->block], other = from[1 - kind->block];
    uint64_t n = kind->equal ? size : 1; /* ranks */

    if (block > 0) {
        return block / (kind->blocks == 2 ? n * size : n);
    }
    /* Only the root of a gather or scatter has the other side. */
    uint64_t terms = kind->rooted ? 1 : n;
    return other / (kind->whole ? terms * size : terms);
}

bool wf_paraver_colls_op(struct wf_paraver_colls *colls, uint32_t rank, uint64_t number,
                         struct wf_op *op, struct wf_group *group)
{
    const struct wf_paraver_call *call = &colls->calls[number - 1];
    const struct kind *kind = call->kind;

    if (call->meeting == NOT_JOINED) {
        colls->n_unknown_comms++;
        return false;
    }
    const struct wf_paraver_comm *comm = &colls->comms[call->place];
    const struct wf_paraver_meeting *meeting = &comm->meetings[call->meeting];
    if (meeting->n < comm->size || meeting->is_wrong) {
        colls->n_partial++;
        return false;
    }
    if (kind->block >= 0 && !call->has_bytes) {
        colls->n_unsized++;
        return false;
    }
    *op = (struct wf_op){.kind = kind->op, .comm = call->place};
    if (kind->block >= 0) {
        op->bytes = bytes_of(call, meeting, comm->size);
    }
    if (kind->rooted) {
        op->root = meeting->has_root ? meeting->root : meeting->has_flag ? meeting->flagged : 0;
        colls->n_rootless += meeting->has_root || meeting->has_flag ? 0 : 1;
    }
    colls->n_equal += kind->equal ? 1 : 0;
    return comm->members == NULL ||
           wf_group_of(call->place, comm->size, comm->members, rank, group);
}
