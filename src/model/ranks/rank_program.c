/* SPDX-License-Identifier: Apache-2.0 */
/* What ops of a program refer to. */
#include "model/ranks/rank_program.h"

#include "program/ops/fields.h"

#include <string.h>

const struct wf_script_cold wf_rank_no_script_cold;

struct wf_script_cold *wf_rank_script_cold_edit(const struct wf_rank_program *program)
{
    uint32_t *cell = &program->slot->progress.cold;

    if (*cell == 0) {
        *cell = wf_cell_new_for(program->who->ctx, sizeof(struct wf_script_cold));
    }
    return wf_cell_edit(program->who->ctx, *cell);
}

bool wf_rank_find_group(const struct wf_rank_program *program, uint32_t comm,
                        struct wf_rank_group *out)
{
    uint32_t most = wf_ranks_groups_per_job(program->ranks);
    struct wf_group group;

    if (!wf_source_group(program->source, program->rank, comm, &group) || group.id >= most) {
        return false;
    }
    *out = (struct wf_rank_group){
        .id = program->job * most + group.id,
        .size = group.size,
        .rank = group.rank,
        .base = program->ranks->first[program->job],
        .first = group.first,
        .stride = group.stride,
        .width = group.width,
        .stride2 = group.stride2,
        .members = group.members,
    };
    return true;
}

static void unpack_seen(const struct wf_rank_program *program, uint64_t packed,
                        struct wf_cursor *cursor)
{
    const struct wf_rank_cold *cold = wf_rank_cold(program->who);

    cursor->seen_source = packed != 0 ? (uint32_t)(packed >> 32) : cold->seen_source;
    cursor->seen_tag = packed != 0 ? (int32_t)(packed & INT32_MAX) : cold->seen_tag;
}

/* Kinds without counts ignore these fields of the source. */
static void set_counts(const struct wf_op *op, struct wf_coll_args *args)
{
    enum { SENT = 1, RECEIVED = 2, AT_ROOT = 4 };
    static const uint8_t has[WF_COLL_KINDS] = {
        [WF_COLL_GATHERV] = SENT | AT_ROOT,
        [WF_COLL_SCATTERV] = SENT | AT_ROOT,
        [WF_COLL_ALLGATHERV] = SENT,
        [WF_COLL_REDUCE_SCATTER] = SENT,
        [WF_COLL_ALLTOALLV] = SENT | RECEIVED,
        [WF_COLL_NEIGHBOR_ALLGATHER] = SENT | RECEIVED,
        [WF_COLL_NEIGHBOR_ALLTOALL] = SENT | RECEIVED,
    };
    uint8_t own = has[args->kind];

    if ((own & AT_ROOT) == 0 || args->rank == op->root) {
        args->counts = own & SENT ? op->counts : NULL;
        args->recv_counts = own & RECEIVED ? op->recv_counts : NULL;
    }
}

/* Creating a communicator costs an allgather; ending an epoch costs a barrier. In a huge communicator the
 * rules of libraries would make it a ring, of 4.3e9 messages for 65,536 ranks, which nobody wants to wait for:
 * there only the steps of a short one are counted. */
void wf_rank_collective_args(const struct wf_op *op, const struct wf_rank_group *group,
                             struct wf_coll_args *args)
{
    enum { COMM_BYTES = 8, HUGE_SIZE = 32768 };
    const struct wf_op_info *info = wf_op_info(op->kind);

    args->rank = group->rank;
    args->size = group->size;
    if (info->family == WF_FAMILY_COMM) {
        args->kind = WF_COLL_ALLGATHER;
        args->bytes = args->size <= HUGE_SIZE ? COMM_BYTES : 0;
    } else if (info->family == WF_FAMILY_EPOCH) {
        args->kind = WF_COLL_BARRIER;
    } else {
        args->kind = (enum wf_coll_kind)info->detail;
        args->root = op->root;
        args->bytes = op->bytes;
        set_counts(op, args);
        if (args->kind == WF_COLL_NEIGHBOR_ALLGATHER ||
            args->kind == WF_COLL_NEIGHBOR_ALLTOALL) {
            args->sources = op->sources;
            args->destinations = op->destinations;
            args->n_sources = op->n_sources;
            args->n_destinations = op->n_destinations;
        }
    }
}

void wf_rank_recall(const struct wf_caller *who, const uint64_t *cookie,
                    struct wf_coll_args *args, struct wf_rank_group *group)
{
    const struct wf_rank_program program = wf_rank_program_of(who);
    struct wf_cursor cursor = {.span = wf_rank_script_cold(&program)->span};
    struct wf_op op;

    memcpy(cursor.word, cookie, sizeof(cursor.word));
    unpack_seen(&program, cookie[WF_RANK_COOKIE_WORDS - 1], &cursor);
    cursor.outer[0] = WF_CURSOR_AGAIN;
    *args = (struct wf_coll_args){.size = 1};
    if (!wf_source_next(program.source, program.rank, &cursor, &op) ||
        !wf_rank_find_group(&program, op.comm, group)) {
        wf_panic("rank %u: a collective that it began is gone", who->number);
    }
    wf_rank_collective_args(&op, group, args);
}
