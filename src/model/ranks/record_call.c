/* SPDX-License-Identifier: Apache-2.0 */
/* Records the calls of ranks, with their arguments. */
#include "model/ranks/resume.h"
#include "program/ops/fields.h"

/* Whether ops of this kind use the member at that offset. */
static bool uses(const struct wf_op_layout *layout, size_t offset)
{
    for (size_t i = 0; i < layout->n_fields; i++) {
        if (layout->fields[i].offset == offset) {
            return true;
        }
    }
    return false;
}

/* The rank of the run that is `rank` in the communicator of the op. */
static uint32_t run_rank(const struct wf_rank_program *program, const struct wf_op *op,
                         uint32_t rank)
{
    uint32_t first = program->ranks->first[program->job];
    struct wf_group group;

    if (op->comm == WF_COMM_WORLD && program->source->ops->group == NULL) {
        return rank < program->source->n_ranks ? first + rank : WF_CALL_NONE;
    }
    return wf_source_group(program->source, program->rank, op->comm, &group) &&
                   rank < group.size
               ? first + wf_group_rank(&group, rank)
               : WF_CALL_NONE;
}

void wf_rank_note_call(const struct wf_rank_program *program, const struct wf_op *op,
                       int64_t from, enum wf_called called)
{
    const struct wf_op_layout *layout = wf_op_layout_of(op->kind);
    struct wf_call call = {
        .from = from,
        .rank = program->who->number,
        .peer = WF_CALL_NONE,
        .tag = WF_ANY_TAG,
        .comm = WF_CALL_NONE,
        .kind = (uint16_t)op->kind,
        .site = op->kind == WF_OP_COMPUTE ? op->site : 0,
        .state = called == WF_CALLED_AGAIN ? WF_CALL_AGAIN : WF_CALL_OPEN,
    };

    if ((layout->flags & WF_HAS_COMM) != 0) {
        call.comm = op->comm;
    }
    if (uses(layout, offsetof(struct wf_op, peer))) {
        call.peer = run_rank(program, op, op->peer);
    } else if ((layout->flags & WF_HAS_ROOT) != 0) {
        call.peer = run_rank(program, op, op->root);
    }
    if (uses(layout, offsetof(struct wf_op, tag))) {
        call.tag = op->tag;
    }
    if (uses(layout, offsetof(struct wf_op, bytes)) && op->kind != WF_OP_REGION_BEGIN) {
        call.bytes = op->bytes;
    }
    wf_recorder_call(&program->ranks->recorder, program->who->ctx, &call);
}
