/* SPDX-License-Identifier: Apache-2.0 */
/* Error messages for programs that follow no rule: the op, the ranks, and what they do. */
#include "program/extrapolate/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WHY_MAX = 200 };

static const char *name_of(const struct wf_ext_model *model, const struct wf_ext_op *op)
{
    return wf_op_name((enum wf_op_kind)model->input.shapes[op->shape].kind);
}

enum wf_status wf_ext_refuse(const struct wf_ext_model *model, uint32_t statement,
                             const char *what, struct wf_err *err)
{
    uint32_t first = statement;

    while (model->merged.all[first].loop && model->merged.all[first].n_children > 0) {
        first = model->merged.all[first].children[0];
    }
    if (model->first_ref[first] == model->first_ref[first + 1]) {
        return wf_err_set(err, WF_EINVAL, "the program is not understood: %s", what);
    }
    const struct wf_ext_ref *ref = &model->refs[model->first_ref[first]];
    const struct wf_ext_ref *last = &model->refs[model->first_ref[first + 1] - 1];
    const struct wf_ext_op *op = &model->input.counts[ref->count].ranks[ref->rank].ops[ref->op];
    return wf_err_set(
        err, WF_EINVAL, "%s%s, op %u of rank %u in '%.100s' and up to rank %u in '%.100s': %s",
        model->merged.all[statement].loop ? "the loop that begins with " : "",
        name_of(model, op), ref->op, ref->rank, model->input.counts[ref->count].path,
        last->rank, model->input.counts[last->count].path, what);
}

enum wf_status wf_ext_refuse_guard(const struct wf_ext_model *model, uint32_t statement,
                                   struct wf_err *err)
{
    char why[WHY_MAX];
    int n = snprintf(why, sizeof(why), "no rule says which ranks execute it:");

    for (uint32_t c = 0; c < model->input.n_counts && (size_t)n < sizeof(why); c++) {
        uint32_t who = 0;
        for (uint32_t r = 0; r < model->input.counts[c].n; r++) {
            who += wf_ext_times(model, c, r, statement) > 0 ? 1 : 0;
        }
        n += snprintf(why + n, sizeof(why) - (size_t)n, "%s %" PRIu32 " of %" PRIu32,
                      c == 0 ? "" : ",", who, model->input.counts[c].n);
    }
    return wf_ext_refuse(model, statement, why, err);
}

enum wf_status wf_ext_refuse_integer(const struct wf_ext_model *model, uint32_t statement,
                                     const char *what, const struct wf_ext_samples *samples,
                                     struct wf_err *err)
{
    char why[WHY_MAX];
    int n = snprintf(why, sizeof(why), "%s:", what);

    for (uint32_t c = 0; c < model->input.n_counts && (size_t)n < sizeof(why); c++) {
        int64_t least = INT64_MAX, most = INT64_MIN;
        for (uint32_t i = 0; i < samples->n; i++) {
            int64_t value = samples->all[i].value;
            if (samples->all[i].count == c) {
                least = value < least ? value : least;
                most = value > most ? value : most;
            }
        }
        if (least <= most) {
            n += snprintf(why + n, sizeof(why) - (size_t)n, "%s %" PRId64, c == 0 ? "" : ",",
                          least);
        }
        if (least < most && (size_t)n < sizeof(why)) {
            n += snprintf(why + n, sizeof(why) - (size_t)n, " to %" PRId64, most);
        }
        if (least <= most && (size_t)n < sizeof(why)) {
            n += snprintf(why + n, sizeof(why) - (size_t)n, " with %" PRIu32 " ranks",
                          model->input.counts[c].n);
        }
    }
    return wf_ext_refuse(model, statement, why, err);
}

/* The first op in which two ranks differ; the number of ops that both have if there is none. */
static uint32_t first_difference(const struct wf_ext_rank *a, const struct wf_ext_rank *b)
{
    uint32_t i = 0;

    while (i < a->n && i < b->n && a->ops[i].shape == b->ops[i].shape &&
           memcmp(a->ops[i].set, b->ops[i].set, sizeof(a->ops[i].set)) == 0) {
        i++;
    }
    return i;
}

enum wf_status wf_ext_refuse_kinds(const struct wf_ext_model *model, uint32_t c,
                                   uint32_t n_kinds, struct wf_err *err)
{
    const struct wf_ext_count *count = &model->input.counts[c];
    const struct wf_ext_rank *a = &count->ranks[0], *b = a;

    for (uint32_t r = 1; r < count->n && b->kind == a->kind; r++) {
        b = &count->ranks[r];
    }
    uint32_t at = first_difference(a, b);
    const char *own = at < a->n ? name_of(model, &a->ops[at]) : "missing";
    const char *other = at < b->n ? name_of(model, &b->ops[at]) : "missing";
    return wf_err_set(err, WF_EINVAL,
                      "the %u ranks in '%.100s' have %u different programs; no rule says what "
                      "more ranks would do: op %u is %s in rank 0, and %s in rank %u",
                      count->n, count->path, n_kinds, at, own,
                      own == other ? "the same with a peer of another rule" : other,
                      (uint32_t)(b - count->ranks));
}
