/* SPDX-License-Identifier: Apache-2.0 */
#include "study/expand_round.h"

#include "ops/fields.h"

#include <string.h>

#define ALGORITHM(kind, text, rooted)                                                     \
    {.name = (text),                                                                      \
     .type = WF_PARAM_TEXT,                                                               \
     .offset =                                                                            \
         offsetof(struct wf_expand_choice, algorithms) + WF_COLL_##kind * sizeof(char *), \
     .def = "auto",                                                                       \
     .doc = "Algorithm of " text "; auto is what the rules choose"},

const struct wf_param wf_expand_params[] = {
    WF_PARAM_ROW(struct wf_expand_choice, rules, ENUM, .def = "mpich",
                 .choices = wf_coll_rules_names,
                 .doc = "Whose choice of algorithms for collectives is followed"),
    WF_COLL_MAP(ALGORITHM) WF_PARAM_END,
};

static bool is_auto(const char *name)
{
    return name == NULL || strcmp(name, "auto") == 0;
}

enum wf_status wf_expand_check(const struct wf_expand_choice *choice, struct wf_err *err)
{
    for (int i = 0; i < WF_COLL_KINDS; i++) {
        enum wf_coll_kind kind = (enum wf_coll_kind)i;
        const char *name = choice->algorithms[kind];

        if (!is_auto(name) && wf_coll_find(kind, name) == NULL) {
            return wf_err_set(err, WF_EUSAGE,
                              "mpi.%s: no algorithm '%.64s' of messages; 'weft coll list' "
                              "shows all",
                              wf_coll_name(kind), name);
        }
    }
    return WF_OK;
}

/* As a replay does: what does not apply is left to the rules. */
static const struct wf_coll_ops *choose(const struct wf_expand_choice *choice,
                                        const struct wf_coll_args *args)
{
    const char *name = choice->algorithms[args->kind];
    const struct wf_coll_ops *ops = is_auto(name) ? NULL : wf_coll_find(args->kind, name);

    return ops != NULL && wf_coll_applies(ops, args)
               ? ops
               : wf_coll_choose((enum wf_coll_rules)choice->rules, args);
}

void wf_expansion_begin(struct wf_expansion *x, const struct wf_op *op,
                        const struct wf_group *group, const struct wf_expand_choice *choice)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    enum wf_coll_kind kind = (enum wf_coll_kind)info->detail;

    *x = (struct wf_expansion){.comm = op->comm};
    x->args = (struct wf_coll_args){.kind = kind,
                                    .rank = group->rank,
                                    .size = group->size,
                                    .root = wf_coll_has_root(kind) ? op->root : 0,
                                    .bytes = kind == WF_COLL_BARRIER ? 0 : op->bytes};
    if (wf_layout_of(op->kind)->n_arrays > 0) {
        x->args.counts = op->counts;
        x->args.recv_counts = op->recv_counts;
        x->args.sources = op->sources;
        x->args.destinations = op->destinations;
        x->args.n_sources = op->n_sources;
        x->args.n_destinations = op->n_destinations;
    }
    x->algorithm = choose(choice, &x->args);
    x->n_slots = x->algorithm->n_slots(&x->args);
}

static void add(struct wf_expansion *x, enum wf_op_kind kind, uint32_t peer,
                const struct wf_coll_slots *slots, struct wf_buf *out)
{
    struct wf_op op = {.kind = kind, .peer = peer, .tag = x->tag, .comm = x->comm};

    /* Nobody, or a neighbour that is none. */
    if (peer >= x->args.size) {
        return;
    }
    op.request = x->first + x->n++;
    op.bytes = wf_coll_bytes(&x->args, x->n_slots, slots, kind == WF_OP_IRECV);
    wf_buf_append(out, &op, sizeof(op));
}

void wf_expansion_round(struct wf_expansion *x, uint32_t first, struct wf_buf *out)
{
    struct wf_coll_step step = {.go_on = true};

    out->size = 0;
    x->first = first;
    x->n = 0;
    /* A round without messages is none. */
    while ((step.go_on || x->n == 0) && !x->over) {
        if (x->algorithm->step(&x->args, x->step++, &step)) {
            add(x, WF_OP_ISEND, step.send_to, &step.send, out);
            add(x, WF_OP_IRECV, step.recv_from, &step.recv, out);
        } else {
            x->over = true;
        }
    }
}
