/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/copy.h"

#include "program/ops/created.h"
#include "program/ops/fields.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* State of copying a rank: the communicators that the writer knows already, and the filter of
 * its requests. */
struct told {
    uint32_t *comms;
    uint32_t n_comms, capacity;
    uint32_t to; /* number of the rank in the copy */
    struct wf_created_filter tidy;
    struct wf_pass_progress progress;
};

static void tell_name(const struct wf_copy *copy, enum wf_source_name kind, uint32_t number)
{
    const char *name = copy->writer->ops->name_of != NULL
                           ? wf_source_name_of(copy->source, kind, number)
                           : NULL;

    if (name != NULL) {
        copy->writer->ops->name_of(copy->writer, kind, number, name);
    }
}

static bool find_group(const struct wf_copy *copy, uint32_t rank, uint32_t comm,
                       struct wf_group *out)
{
    return copy->changes.group != NULL ? copy->changes.group(copy->changes.arg, rank, comm, out)
                                       : wf_source_group(copy->source, rank, comm, out);
}

static enum wf_status tell_comm(const struct wf_copy *copy, struct told *told, uint32_t rank,
                                uint32_t comm, struct wf_err *err)
{
    struct wf_group group;

    if (comm == WF_COMM_WORLD || copy->writer->ops->group == NULL) {
        return WF_OK;
    }
    for (uint32_t i = told->n_comms; i-- > 0;) {
        if (told->comms[i] == comm) {
            return WF_OK;
        }
    }
    /* The writer reports an op on a communicator that the rank does not have. */
    if (!find_group(copy, rank, comm, &group)) {
        return WF_OK;
    }
    WF_PUSH(told->comms, told->n_comms, told->capacity, comm);
    return copy->writer->ops->group(copy->writer, told->to, comm, &group, err);
}

static enum wf_status copy_op(struct wf_copy *copy, struct told *told, uint32_t rank,
                              const struct wf_op *op, struct wf_err *err)
{
    enum wf_op_family family = wf_op_info(op->kind)->family;

    if (wf_op_names(op->kind) != WF_NAME_KINDS && op->tag >= 0) {
        tell_name(copy, wf_op_names(op->kind), (uint32_t)op->tag);
    }
    if (family == WF_FAMILY_COMPUTE && op->site != 0) {
        tell_name(copy, WF_NAME_SITE, op->site);
    }
    if (wf_op_has_comm(op->kind)) {
        WF_TRY(tell_comm(copy, told, rank, op->comm, err));
    }
    if (family == WF_FAMILY_COMM) {
        WF_TRY(tell_comm(copy, told, rank, op->new_comm, err));
    }
    copy->n_ops++;
    return copy->writer->ops->add(copy->writer, told->to, op, err);
}

static enum wf_status copy_rank(struct wf_copy *copy, struct told *told, uint32_t rank,
                                struct wf_err *err)
{
    struct wf_cursor cursor;
    enum wf_status status = WF_OK;
    struct wf_op op;
    int64_t ps = 0;

    memset(&cursor, 0, sizeof(cursor));
    wf_created_fini(&told->tidy.created);
    told->n_comms = 0;
    told->to = rank;
    if (copy->changes.rank_of != NULL &&
        !copy->changes.rank_of(copy->changes.arg, rank, &told->to)) {
        return WF_OK;
    }
    if (copy->wall_of != NULL && copy->writer->ops->wall != NULL &&
        copy->wall_of(copy->source, rank, &ps)) {
        copy->writer->ops->wall(copy->writer, told->to, ps);
    }
    if (copy->wall_of != NULL && copy->writer->ops->cost != NULL &&
        wf_source_cost(copy->source, rank, &ps)) {
        copy->writer->ops->cost(copy->writer, told->to, ps);
    }
    while (status == WF_OK && wf_source_next(copy->source, rank, &cursor, &op)) {
        wf_pass_op(&copy->pass, &told->progress);
        if ((copy->changes.change == NULL ||
             copy->changes.change(copy->changes.arg, rank, &op)) &&
            (!copy->tidy || wf_created_filter_op(&told->tidy, &op))) {
            status = copy_op(copy, told, rank, &op, err);
        }
    }
    if (status == WF_OK && !copy->partial) {
        status = wf_source_check(copy->source, err);
    }
    if (status == WF_OK && copy->writer->ops->rank_ends != NULL) {
        copy->writer->ops->rank_ends(copy->writer, told->to);
    }
    return status;
}

enum wf_status wf_trace_copy(struct wf_copy *copy, struct wf_err *err)
{
    struct told told = {.progress = {.n_ranks = copy->source->n_ranks}};
    enum wf_status status = WF_OK;

    copy->n_ops = 0;
    if (copy->source->any_sizes && copy->writer->ops->any_sizes != NULL) {
        copy->writer->ops->any_sizes(copy->writer);
    }
    for (uint32_t i = 0; i < WF_COUNTERS_MAX; i++) {
        tell_name(copy, WF_NAME_COUNTER, i);
    }
    for (uint32_t rank = 0; rank < copy->source->n_ranks && status == WF_OK; rank++) {
        status = copy_rank(copy, &told, rank, err);
        wf_pass_rank(&copy->pass, &told.progress);
    }
    free(told.comms);
    wf_created_filter_fini(&told.tidy);
    return status;
}
