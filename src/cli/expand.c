/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/expand.h"

#include "base/mem.h"
#include "trace/fields.h"
#include "trace/groups.h"

#include <inttypes.h>
#include <stdlib.h>

struct expander {
    struct wf_trace_writer writer;
    struct wf_trace_writer_ops ops; /* those of the inner one, but for what is different */
    struct wf_trace_writer *inner;
    struct wf_groups *groups;
    enum wf_coll_rules rules;
};

static void name_of(struct wf_trace_writer *writer, enum wf_name_kind kind, uint32_t number,
                    const char *name)
{
    struct wf_trace_writer *inner = ((struct expander *)writer)->inner;

    inner->ops->name_of(inner, kind, number, name);
}

static void wall(struct wf_trace_writer *writer, uint32_t rank, int64_t ps)
{
    struct wf_trace_writer *inner = ((struct expander *)writer)->inner;

    inner->ops->wall(inner, rank, ps);
}

static void cost(struct wf_trace_writer *writer, uint32_t rank, int64_t ps)
{
    struct wf_trace_writer *inner = ((struct expander *)writer)->inner;

    inner->ops->cost(inner, rank, ps);
}

static enum wf_status learn_group(struct wf_trace_writer *writer, uint32_t rank, uint32_t comm,
                                  const struct wf_group *group, struct wf_err *err)
{
    struct expander *e = (struct expander *)writer;
    const char *fault = wf_groups_fault(e->groups, group);

    if (fault != NULL || (comm != WF_COMM_WORLD &&
                          wf_groups_learn(e->groups, rank, comm, group) == WF_LEARNT_WRONG)) {
        return wf_err_set(err, WF_EINVAL, "communicator %" PRIu32 " of rank %" PRIu32 ": %s",
                          comm, rank, fault != NULL ? fault : "it is no member");
    }
    return e->inner->ops->group != NULL ? e->inner->ops->group(e->inner, rank, comm, group, err)
                                        : WF_OK;
}

/* A collective of a rank on its way. */
struct expansion {
    struct expander *e;
    uint32_t rank, n_open; /* requests since the last wait */
    const struct wf_op *op;
    struct wf_coll_args args;
    uint32_t n_slots;
    struct wf_err *err;
};

static enum wf_status put(const struct expansion *x, const struct wf_op *op)
{
    return x->e->inner->ops->add(x->e->inner, x->rank, op, x->err);
}

static enum wf_status message(struct expansion *x, enum wf_op_kind kind, uint32_t peer,
                              const struct wf_coll_slots *slots)
{
    const struct wf_op op = {
        .kind = kind,
        .peer = peer,
        .tag = WF_EXPAND_TAG + (int32_t)x->args.kind,
        .comm = x->op->comm,
        .request = WF_EXPAND_REQUEST + x->n_open++,
        .bytes = wf_coll_bytes(&x->args, x->n_slots, slots, kind == WF_OP_IRECV),
    };

    return put(x, &op);
}

static enum wf_status wait_for_all(struct expansion *x)
{
    const struct wf_op op = {
        .kind = WF_OP_WAITALL, .request = WF_EXPAND_REQUEST, .count = x->n_open};
    enum wf_status status = x->n_open > 0 ? put(x, &op) : WF_OK;

    x->n_open = 0;
    return status;
}

static enum wf_status expand(struct expansion *x)
{
    const struct wf_coll_ops *algorithm = wf_coll_choose(x->e->rules, &x->args);
    enum wf_status status = WF_OK;
    struct wf_coll_step step;

    x->n_slots = algorithm->n_slots(&x->args);
    for (uint32_t i = 0; status == WF_OK && algorithm->step(&x->args, i, &step); i++) {
        if (step.recv_from != WF_COLL_NOBODY) {
            status = message(x, WF_OP_IRECV, step.recv_from, &step.recv);
        }
        if (status == WF_OK && step.send_to != WF_COLL_NOBODY) {
            status = message(x, WF_OP_ISEND, step.send_to, &step.send);
        }
        if (status == WF_OK && !step.go_on) {
            status = wait_for_all(x);
        }
    }
    return status == WF_OK ? wait_for_all(x) : status;
}

static enum wf_status add(struct wf_trace_writer *writer, uint32_t rank, const struct wf_op *op,
                          struct wf_err *err)
{
    struct expander *e = (struct expander *)writer;
    const struct wf_op_info *info = wf_op_info(op->kind);
    struct wf_group group;

    e->inner->losses = e->writer.losses;
    if (info->family != WF_FAMILY_COLLECTIVE) {
        return e->inner->ops->add(e->inner, rank, op, err);
    }
    if (info->returns_request) {
        wf_losses_add(e->writer.losses, "nonblocking collectives, not expanded");
        return e->inner->ops->add(e->inner, rank, op, err);
    }
    if (!wf_groups_find(e->groups, rank, op->comm, &group) || wf_op_fault(op, &group) != NULL) {
        return wf_err_set(err, WF_EINVAL, "a %s of rank %" PRIu32 " makes no sense",
                          wf_op_name(op->kind), rank);
    }
    struct expansion x = {.e = e, .rank = rank, .op = op, .err = err};
    x.args = (struct wf_coll_args){
        .kind = (enum wf_coll_kind)info->detail,
        .rank = group.rank,
        .size = group.size,
        .root = wf_coll_has_root((enum wf_coll_kind)info->detail) ? op->root : 0,
        .bytes = op->kind == WF_OP_BARRIER ? 0 : op->bytes};
    if (wf_layout_of(op->kind)->n_arrays > 0) {
        x.args.counts = op->counts;
        x.args.recv_counts = op->recv_counts;
        x.args.sources = op->sources;
        x.args.destinations = op->destinations;
        x.args.n_sources = op->n_sources;
        x.args.n_destinations = op->n_destinations;
    }
    return expand(&x);
}

static enum wf_status finish(struct wf_trace_writer *writer, struct wf_err *err)
{
    struct expander *e = (struct expander *)writer;
    enum wf_status status = e->inner->ops->finish(e->inner, err);

    wf_groups_free(e->groups);
    free(e);
    return status;
}

static void discard(struct wf_trace_writer *writer)
{
    struct expander *e = (struct expander *)writer;

    e->inner->ops->discard(e->inner);
    wf_groups_free(e->groups);
    free(e);
}

struct wf_trace_writer *wf_expand_writer(struct wf_trace_writer *inner, uint32_t n_ranks,
                                         enum wf_coll_rules rules)
{
    struct expander *e = wf_xcalloc(1, sizeof(*e));

    e->ops = *inner->ops;
    e->ops.name_of = inner->ops->name_of != NULL ? name_of : NULL;
    e->ops.wall = inner->ops->wall != NULL ? wall : NULL;
    e->ops.cost = inner->ops->cost != NULL ? cost : NULL;
    e->ops.group = learn_group;
    e->ops.add = add;
    e->ops.add_graph = NULL;
    e->ops.finish = finish;
    e->ops.discard = discard;
    e->writer.ops = &e->ops;
    e->inner = inner;
    e->rules = rules;
    e->groups = wf_groups_new(n_ranks);
    return &e->writer;
}
