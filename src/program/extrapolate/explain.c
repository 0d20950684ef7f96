/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/explain.h"

#include <inttypes.h>

static void print_guard(const struct wf_ext_guard *guard, const char *before, FILE *out)
{
    char text[512];

    if (guard->n_terms > 0) {
        (void)fprintf(out, "%s%s", before, wf_ext_guard_text(guard, text, sizeof(text)));
    }
}

static void print_error(const struct wf_ext_law *law, FILE *out)
{
    if (!law->exact) {
        (void)fprintf(out, " (+-%.1f %%)", 100 * law->error);
    }
}

static void print_integer(const struct wf_ext_integer *integer, FILE *out)
{
    static const char *const names[] = {"", "x", "y", "z", "w", "rank", "peer", "t", "turn"};
    char text[128];

    if (integer->n_parts > 0) {
        (void)fprintf(out, "%" PRIu32 " rules by place, as ", integer->n_parts);
        integer = &integer->parts[0];
    }
    (void)fprintf(out, "%s", wf_ext_law_text(&integer->law, text, sizeof(text)));
    for (uint32_t i = 0; i < WF_EXT_INTEGER_FACTORS; i++) {
        if (integer->factor[i] != WF_EXT_FACTOR_NONE) {
            (void)fprintf(out, "%+" PRId64 "*%s", integer->times[i], names[integer->factor[i]]);
        }
    }
    if (integer->series.n > 0) {
        (void)fprintf(out, "+a series of %" PRIu32 " turns%s", integer->series.n,
                      integer->series.repeats ? ", again and again" : "");
    }
    print_error(&integer->law, out);
}

static void print_quantity(const struct wf_ext_quantity *quantity, const char *name, FILE *out)
{
    char text[128];

    switch ((enum wf_ext_quantity_kind)quantity->kind) {
    case WF_EXT_QUANTITY_NONE:
        break;
    case WF_EXT_QUANTITY_LAW:
        if (quantity->law.form == WF_EXT_CONSTANT && quantity->law.c0 <= 0) {
            break;
        }
        (void)fprintf(out, " %s=%s", name, wf_ext_law_text(&quantity->law, text, sizeof(text)));
        if (quantity->ratio != 1) {
            (void)fprintf(out, "*%g^t", quantity->ratio);
        }
        print_error(&quantity->law, out);
        break;
    case WF_EXT_QUANTITY_GROUPS:
        (void)fprintf(out, " %s=%u laws by%s%s, as %s", name, quantity->n_laws,
                      quantity->by_class ? " class" : "", quantity->by_turn ? " turn" : "",
                      wf_ext_law_text(&quantity->laws[0], text, sizeof(text)));
        print_error(&quantity->laws[0], out);
        break;
    case WF_EXT_QUANTITY_SAMPLED:
        (void)fprintf(out, " %s~%s", name, wf_ext_law_text(&quantity->law, text, sizeof(text)));
        print_error(&quantity->law, out);
        break;
    }
}

static void print_peer(const struct wf_ext_step *step, uint32_t slot, FILE *out)
{
    const struct wf_ext_progress *progress = &step->progress[slot];
    char text[96], index[48];
    int32_t base = step->symbol[slot].v[progress->which];

    if (!progress->varies) {
        (void)fprintf(out, " %s",
                      wf_ext_symbol_text(&step->symbol[slot], NULL, text, sizeof(text)));
        return;
    }
    if (progress->how == 0) {
        (void)snprintf(index, sizeof(index), "(%d%+d*t)", base, progress->step);
    } else {
        (void)snprintf(index, sizeof(index), progress->how == 1 ? "%d*2^t" : "%d/2^t", base);
    }
    (void)fprintf(out, " %s",
                  wf_ext_symbol_text(&step->symbol[slot], index, text, sizeof(text)));
}

static void print_op(const struct wf_ext_model *model, const struct wf_ext_step *step,
                     FILE *out)
{
    const struct wf_ext_shape *shape = &model->input.shapes[step->shape];
    char text[96];

    if (shape->kind == WF_OP_COMPUTE) {
        (void)fputs(model->input.attached ? "end" : "compute", out);
    } else {
        (void)fputs(wf_op_name((enum wf_op_kind)shape->kind), out);
    }
    for (uint32_t slot = 0; slot < wf_ext_slots(shape); slot++) {
        if ((shape->any >> slot & 1) != 0) {
            (void)fputs(" any", out);
        } else if (step->has_symbol[slot]) {
            print_peer(step, slot, out);
        } else {
            (void)fputs(" none", out);
        }
        print_guard(&step->null_guard[slot], " none if ", out);
    }
    if (shape->comm > 0) {
        (void)fprintf(out, " in (%s)",
                      wf_ext_group_text(&model->groups[shape->comm], text, sizeof(text)));
    }
    if (shape->name > 0) {
        (void)fprintf(out, " %s", wf_strings_at(&model->input.names, shape->name - 1));
    }
    if (wf_ext_slots(shape) > 0 && !wf_ext_rooted(shape)) {
        (void)fputs(" tag=", out);
        print_integer(&step->tag[0], out);
    }
    print_quantity(&step->value[WF_EXT_BYTES], "bytes", out);
    print_quantity(&step->value[WF_EXT_RECV_BYTES], "recv_bytes", out);
    print_quantity(&step->value[WF_EXT_ELEMENTS], "counts", out);
    print_quantity(&step->value[WF_EXT_RECV_ELEMENTS], "recv_counts", out);
    print_quantity(&step->value[WF_EXT_COMPUTE], "compute_ps", out);
}

static void print_list(const struct wf_ext_model *model, const struct wf_ext_step *list,
                       uint32_t depth, FILE *out)
{
    for (uint32_t i = 0; i < list->n_children; i++) {
        const struct wf_ext_step *step = &model->steps[list->children[i]];
        (void)fprintf(out, "%*s", (int)(2 + 2 * depth), "");
        if (step->type == WF_EXT_STEP_OP) {
            print_op(model, step, out);
        } else {
            (void)fputs(step->type == WF_EXT_STEP_LOOP ? "loop "
                        : step->backwards              ? "loop with t down from "
                                                       : "loop with t up to ",
                        out);
            print_integer(&step->rounds, out);
        }
        print_guard(&model->steps[step->same_as].guard, " if ", out);
        (void)fputc('\n', out);
        if (step->type != WF_EXT_STEP_OP) {
            print_list(model, step, depth + 1, out);
        }
    }
}

void wf_ext_explain(const struct wf_ext_model *model, const struct wf_ext_grid *target,
                    FILE *out)
{
    char text[128];

    (void)fprintf(out, "grid: %s\n", wf_ext_rule_text(&model->rule, text, sizeof(text)));
    for (uint32_t c = 0; c < model->input.n_counts; c++) {
        const struct wf_ext_count *count = &model->input.counts[c];
        (void)fprintf(out, "  %u ranks: %s\n", count->n,
                      wf_ext_grid_text(&count->grid, text, sizeof(text)));
    }
    (void)fprintf(out, "  %u ranks: %s, extrapolated\n", target->n,
                  wf_ext_grid_text(target, text, sizeof(text)));
    for (uint32_t i = 1; i < model->n_groups; i++) {
        (void)fprintf(out, "communicator %u: %s\n", i,
                      wf_ext_group_text(&model->groups[i], text, sizeof(text)));
    }
    (void)fprintf(out, "classes of ranks with %u ranks: %zu\nprogram:\n",
                  model->input.counts[model->input.n_counts - 1].n, model->samples.n);
    print_list(model, &model->steps[0], 0, out);
}
