/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of loops, tags, sizes and times as functions of the number of ranks. */
#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"
#include "program/extrapolate/model.h"

#include <math.h>
#include <stdlib.h>

/* ---- rounds ---- */

static void gather_rounds(const struct wf_ext_model *model, const struct wf_ext_step *step,
                          struct wf_ext_samples *samples)
{
    for (uint32_t c = 0; c < model->input.n_counts; c++) {
        const struct wf_ext_count *count = &model->input.counts[c];
        uint32_t most = 0;
        for (uint32_t r = 0; r < count->n; r++) {
            struct wf_ext_sample sample = {
                .count = c,
                .at = {.grid = &count->grid, .rank = r, .class = model->classes[c][r]}};
            if (step->type == WF_EXT_STEP_LOOP) {
                sample.value = wf_ext_times(model, c, r, step->statements[0]);
                if (sample.value > 0) {
                    wf_ext_samples_add(samples, &sample);
                }
                continue;
            }
            for (uint32_t i = 0; i < step->n_children; i++) {
                const struct wf_ext_step *child = &model->steps[step->children[i]];
                for (uint32_t t = most; t < child->n_statements; t++) {
                    most = wf_ext_times(model, c, r, child->statements[t]) > 0 ? t + 1 : most;
                }
            }
        }
        if (step->type == WF_EXT_STEP_ROUNDS) {
            const struct wf_ext_sample sample = {
                .count = c, .at = {.grid = &count->grid}, .value = most};
            wf_ext_samples_add(samples, &sample);
        }
    }
}

enum wf_status wf_ext_learn_rounds(struct wf_ext_model *model, struct wf_ext_step *step,
                                   struct wf_err *err)
{
    struct wf_ext_samples samples = {.all = NULL};

    gather_rounds(model, step, &samples);
    bool fits = wf_ext_integer_fit(model, &samples, &step->rounds) &&
                (step->type != WF_EXT_STEP_ROUNDS || step->rounds.law.exact);
    enum wf_status status =
        fits ? WF_OK
             : wf_ext_refuse_integer(model, step->statements[0],
                                     "no rule says how many rounds ranks execute", &samples,
                                     err);
    free(samples.all);
    return status;
}

/* ---- sizes and times ---- */

/* Values of one group of ranks and turns in one count. */
struct cell {
    uint64_t group;
    uint32_t count;
    uint32_t n;
    double sum, least, most;
};

struct cells {
    struct wf_map numbers;
    struct cell *all;
    uint32_t n, capacity;
    bool measured; /* times, with noise */
};

static void cells_fini(struct cells *cells)
{
    wf_map_fini(&cells->numbers);
    free(cells->all);
}

static void put_cell(struct cells *cells, uint64_t group, uint32_t count, double value)
{
    uint64_t *number = wf_map_put(&cells->numbers, wf_rng_mix(group + count) + group);

    if (*number == 0) {
        WF_GROW(cells->all, cells->n, cells->capacity);
        cells->all[cells->n] =
            (struct cell){.group = group, .count = count, .least = value, .most = value};
        *number = ++cells->n;
    }
    struct cell *cell = &cells->all[*number - 1];
    cell->n++;
    cell->sum += value;
    cell->least = value < cell->least ? value : cell->least;
    cell->most = value > cell->most ? value : cell->most;
}

static bool are_constant(const struct cells *cells)
{
    for (uint32_t i = 0; i < cells->n; i++) {
        if (cells->all[i].least != cells->all[i].most) {
            return false;
        }
    }
    return true;
}

/* The group of an op: its class, its turn, both or none. */
static uint64_t group_of(const struct wf_ext_quantity *quantity, uint64_t class, uint32_t turn)
{
    uint64_t group = quantity->by_class ? class : 0;

    return quantity->by_turn ? wf_rng_mix(group + turn + 1) : group;
}

static void put_op(const struct wf_ext_model *model, const struct wf_ext_ref *ref,
                   enum wf_ext_value value, uint64_t group, struct cells *cells)
{
    const struct wf_ext_rank *rank = &model->input.counts[ref->count].ranks[ref->rank];
    const struct wf_ext_op *op = &rank->ops[ref->op];
    uint32_t which = value == WF_EXT_RECV_ELEMENTS ? 1 : 0;

    if (value == WF_EXT_COMPUTE) {
        put_cell(cells, group, ref->count, (double)op->compute);
    } else if (value < WF_EXT_COMPUTE) {
        put_cell(cells, group, ref->count, (double)op->bytes[value]);
    } else {
        const uint64_t *from = &rank->words[op->arrays + (which == 1 ? op->n_elements[0] : 0)];
        for (uint32_t i = 0; i < op->n_elements[which]; i++) {
            put_cell(cells, group, ref->count, (double)from[i]);
        }
    }
}

/* Whether an op has a peer for its bytes. */
static bool has_peer(const struct wf_ext_model *model, const struct wf_ext_ref *ref,
                     enum wf_ext_value value)
{
    const struct wf_ext_rank *rank = &model->input.counts[ref->count].ranks[ref->rank];

    return rank->ops[ref->op].peer[value == WF_EXT_RECV_BYTES ? 1 : 0] != WF_PROC_NULL;
}

static void gather_values(const struct wf_ext_model *model, const struct wf_ext_step *step,
                          enum wf_ext_value value, struct cells *cells)
{
    const struct wf_ext_quantity *quantity = &step->value[value];

    for (uint32_t t = 0; t < step->n_statements; t++) {
        uint32_t s = step->statements[t];
        for (uint32_t i = model->first_ref[s]; i < model->first_ref[s + 1]; i++) {
            const struct wf_ext_ref *ref = &model->refs[i];
            if (quantity->needs_peer && !has_peer(model, ref, value)) {
                continue;
            }
            uint64_t class = model->classes[ref->count][ref->rank];
            uint64_t group = group_of(quantity, class, ref->turn);
            /* If the rounds of a loop differ, each is a group; fit_rounds() compares them. */
            put_op(model, ref, value, step->n_statements > 1 ? group + t : group, cells);
        }
    }
}

/* The law of the cells of one group. False: it is not in enough counts. */
static bool fit_group(struct wf_ext_model *model, const struct cells *cells, uint64_t group,
                      uint32_t across, struct wf_ext_law *law)
{
    const struct wf_ext_hint hint = {.target = &model->target, .across = across};
    struct wf_ext_point points[WF_EXT_COUNTS_MAX];
    uint32_t n = 0;

    for (uint32_t c = 0; c < model->input.n_counts; c++) {
        const uint64_t *number = wf_map_get(&cells->numbers, wf_rng_mix(group + c) + group);
        if (number != NULL && cells->all != NULL) {
            const struct cell *cell = &cells->all[*number - 1];
            points[n++] =
                (struct wf_ext_point){&model->input.counts[c].grid, cell->sum / cell->n};
        }
    }
    if (n > 0 && !wf_ext_law_exact(points, n, &hint, law)) {
        wf_ext_law_fit(points, n, cells->measured, law);
    }
    model->n_doubtful += n > 0 && law->doubtful ? 1 : 0;
    return n == model->input.n_counts;
}

/* The dimension in which the messages of a step move, if it is one. */
static uint32_t across_of(const struct wf_ext_step *step, enum wf_ext_value value)
{
    bool moves =
        value < WF_EXT_COMPUTE && step->has_symbol[0] && step->symbol[0].family == WF_EXT_MOVE;

    return moves ? (uint32_t)step->symbol[0].v[0] : WF_EXT_WHOLE;
}

/* In a loop whose rounds differ: whether each round has the value of the round before it times
 * the same ratio. Sets the law of round 0. */
static bool fit_rounds(struct wf_ext_model *model, const struct cells *cells,
                       const struct wf_ext_step *step, struct wf_ext_quantity *out)
{
    double ratio = 0;

    for (uint32_t i = 0; i < cells->n; i++) {
        const struct cell *cell = &cells->all[i];
        uint64_t next = cell->group + 1;
        const uint64_t *number =
            wf_map_get(&cells->numbers, wf_rng_mix(next + cell->count) + next);
        if (number == NULL || next >= step->n_statements) {
            continue;
        }
        double from = cell->least, to = cells->all[*number - 1].least;
        double found = from != 0 ? to / from : to == 0 ? 1 : HUGE_VAL;
        if (ratio != 0 && found != ratio) {
            return false;
        }
        ratio = found;
    }
    out->ratio = ratio == 0 ? 1 : ratio;
    return ratio < HUGE_VAL && fit_group(model, cells, 0, WF_EXT_WHOLE, &out->law);
}

static void add_law(struct wf_ext_quantity *quantity, uint64_t group,
                    const struct wf_ext_law *law)
{
    WF_PUSH(quantity->laws, quantity->n_laws, quantity->capacity, *law);
    *wf_map_put(&quantity->groups, group) = quantity->n_laws;
}

/* A law for each group, if values are the same within each. */
static bool fit_groups(struct wf_ext_model *model, const struct wf_ext_step *step,
                       enum wf_ext_value value, struct wf_ext_quantity *out)
{
    enum { GROUPS_MAX = 1 << 16 };
    struct cells cells = {.all = NULL};
    bool fits;

    gather_values(model, step, value, &cells);
    fits = are_constant(&cells) && cells.n <= GROUPS_MAX;
    if (fits && step->n_statements > 1) {
        fits = !out->by_class && !out->by_turn && fit_rounds(model, &cells, step, out);
        out->kind = WF_EXT_QUANTITY_LAW;
    } else if (fits && !out->by_class && !out->by_turn) {
        (void)fit_group(model, &cells, 0, across_of(step, value), &out->law);
        out->kind = cells.n == 0 ? WF_EXT_QUANTITY_NONE : WF_EXT_QUANTITY_LAW;
    } else if (fits) {
        for (uint32_t i = 0; i < cells.n; i++) {
            struct wf_ext_law law;
            if (wf_map_get(&out->groups, cells.all[i].group) == NULL) {
                /* A class that is not in all counts says nothing about more ranks. */
                fits = fit_group(model, &cells, cells.all[i].group, across_of(step, value),
                                 &law) &&
                       fits;
                add_law(out, cells.all[i].group, &law);
            }
        }
        out->kind = WF_EXT_QUANTITY_GROUPS;
    }
    if (!fits) {
        wf_map_fini(&out->groups);
        out->groups = (struct wf_map){.entries = NULL};
        out->n_laws = 0;
    }
    cells_fini(&cells);
    return fits;
}

/* Sums of times. */
struct moments {
    double n, sum, squares;
};

static double scatter(const struct moments *moments)
{
    return moments->n > 0 ? moments->squares - moments->sum * moments->sum / moments->n : 0;
}

/* Whether the times of a statement at the largest count differ between turns no more than between
 * ranks of one turn: an analysis of variance. */
static bool are_turns_alike(const struct wf_ext_model *model, uint32_t statement)
{
    enum { TURNS_MAX = 4096 };
    const struct wf_ext_count *last = &model->input.counts[model->input.n_counts - 1];
    struct moments all = {.n = 0}, *turns = wf_xcalloc(TURNS_MAX, sizeof(*turns));
    double within = 0, n_turns = 0;

    for (uint32_t i = model->first_ref[statement]; i < model->first_ref[statement + 1]; i++) {
        const struct wf_ext_ref *ref = &model->refs[i];
        if (ref->count + 1 == model->input.n_counts) {
            double time = (double)last->ranks[ref->rank].ops[ref->op].compute;
            struct moments *both[] = {&all, &turns[ref->turn % TURNS_MAX]};
            for (uint32_t j = 0; j < 2; j++) {
                both[j]->n++;
                both[j]->sum += time;
                both[j]->squares += time * time;
            }
        }
    }
    for (uint32_t t = 0; t < TURNS_MAX; t++) {
        within += scatter(&turns[t]);
        n_turns += turns[t].n > 0 ? 1 : 0;
    }
    free(turns);
    double between = scatter(&all) - within;
    /* Chance gives a ratio of 1. */
    return n_turns > 1 && all.n > n_turns &&
           between / (n_turns - 1) < 2 * within / (all.n - n_turns);
}

/* A law for the mean; single values come from the largest count. */
static void fit_mean(struct wf_ext_model *model, const struct wf_ext_step *step,
                     enum wf_ext_value value, struct wf_ext_quantity *out)
{
    struct cells cells = {.all = NULL};
    struct cells all = {.measured = value == WF_EXT_COMPUTE};

    out->by_class = out->by_turn = false;
    gather_values(model, step, value, &cells);
    for (uint32_t i = 0; i < cells.n; i++) {
        /* Means over all rounds. */
        put_cell(&all, 0, cells.all[i].count, 0);
        struct cell *to =
            &all.all[*wf_map_get(&all.numbers, wf_rng_mix(cells.all[i].count)) - 1];
        to->sum += cells.all[i].sum > 0 ? cells.all[i].sum : 0;
        to->n += cells.all[i].n - 1;
    }
    for (uint32_t i = 0; i < cells.n; i++) {
        bool is_last = cells.all[i].count + 1 == model->input.n_counts;
        out->most = is_last && cells.all[i].most > out->most ? cells.all[i].most : out->most;
    }
    (void)fit_group(model, &all, 0, WF_EXT_WHOLE, &out->law);
    out->last = wf_ext_law_at(&out->law, &model->input.counts[model->input.n_counts - 1].grid);
    out->kind = WF_EXT_QUANTITY_SAMPLED;
    out->turns_alike = value == WF_EXT_COMPUTE && step->n_statements == 1 &&
                       are_turns_alike(model, step->statements[0]);
    cells_fini(&cells);
    cells_fini(&all);
}

/* The largest of 8, 4, 2 and 1 that divides all values: the size of a number, probably. */
static int64_t unit_of(const struct wf_ext_model *model, const struct wf_ext_step *step,
                       enum wf_ext_value value)
{
    struct cells cells = {.all = NULL};
    int64_t unit = 8;

    gather_values(model, step, value, &cells);
    for (uint32_t i = 0; i < cells.n; i++) {
        while (fmod(cells.all[i].least, (double)unit) != 0 ||
               fmod(cells.all[i].most, (double)unit) != 0 ||
               fmod(cells.all[i].sum, (double)unit) != 0) {
            unit /= 2;
        }
    }
    cells_fini(&cells);
    return unit;
}

/* Whether all ops without a peer have no bytes, and others have a peer. Most traces have no sizes
 * of messages to MPI_PROC_NULL, which must not count as short ones. */
static bool needs_peer(const struct wf_ext_model *model, const struct wf_ext_step *step,
                       enum wf_ext_value value)
{
    const struct wf_ext_shape *shape = &model->input.shapes[step->shape];
    bool some = false, none = false;

    if ((uint32_t)value >= wf_ext_slots(shape) || wf_ext_rooted(shape)) {
        return false;
    }
    for (uint32_t t = 0; t < step->n_statements; t++) {
        uint32_t s = step->statements[t];
        for (uint32_t i = model->first_ref[s]; i < model->first_ref[s + 1]; i++) {
            const struct wf_ext_ref *ref = &model->refs[i];
            const struct wf_ext_rank *rank = &model->input.counts[ref->count].ranks[ref->rank];
            bool has = has_peer(model, ref, value);
            if (!has && rank->ops[ref->op].bytes[value == WF_EXT_RECV_BYTES ? 1 : 0] > 0) {
                return false;
            }
            some = some || has;
            none = none || !has;
        }
    }
    return some && none;
}

static void learn_value(struct wf_ext_model *model, struct wf_ext_step *step,
                        enum wf_ext_value value)
{
    struct wf_ext_quantity *out = &step->value[value];

    out->needs_peer = needs_peer(model, step, value);
    out->unit = value == WF_EXT_COMPUTE ? 1 : unit_of(model, step, value);
    for (uint32_t grouping = 0; grouping < 4; grouping++) {
        out->by_class = grouping % 2 != 0;
        out->by_turn = grouping >= 2;
        out->ratio = 1;
        if (fit_groups(model, step, value, out)) {
            return;
        }
    }
    fit_mean(model, step, value, out);
}

/* ---- tags ---- */

static enum wf_status learn_tag(struct wf_ext_model *model, struct wf_ext_step *step,
                                uint32_t slot, struct wf_err *err)
{
    struct wf_ext_samples samples = {.all = NULL};

    for (uint32_t t = 0; t < step->n_statements; t++) {
        uint32_t s = step->statements[t];
        for (uint32_t i = model->first_ref[s]; i < model->first_ref[s + 1]; i++) {
            const struct wf_ext_ref *ref = &model->refs[i];
            const struct wf_ext_count *count = &model->input.counts[ref->count];
            const struct wf_ext_op *op = &count->ranks[ref->rank].ops[ref->op];
            const struct wf_ext_sample sample = {
                .count = ref->count,
                .value = op->tag[slot],
                .at = {.grid = &count->grid,
                       .rank = ref->rank,
                       .class = model->classes[ref->count][ref->rank],
                       .peer = op->peer[slot],
                       .round = t,
                       .turn = ref->turn}};
            wf_ext_samples_add(&samples, &sample);
        }
    }
    bool fits = wf_ext_integer_fit(model, &samples, &step->tag[slot]) &&
                (samples.n == 0 || step->tag[slot].law.exact);
    enum wf_status status =
        fits ? WF_OK
             : wf_ext_refuse_integer(model, step->statements[0],
                                     "no rule says which tag it has", &samples, err);
    free(samples.all);
    return status;
}

enum wf_status wf_ext_learn_values(struct wf_ext_model *model, struct wf_ext_step *step,
                                   struct wf_err *err)
{
    const struct wf_ext_shape *shape = &model->input.shapes[step->shape];

    uint32_t first = model->first_ref[step->statements[0]];
    if (first < model->first_ref[step->statements[0] + 1]) {
        const struct wf_ext_ref *ref = &model->refs[first];
        step->site = model->input.counts[ref->count].ranks[ref->rank].ops[ref->op].site;
    }
    learn_value(model, step, WF_EXT_BYTES);
    learn_value(model, step, WF_EXT_COMPUTE);
    if (wf_ext_slots(shape) > 1) {
        learn_value(model, step, WF_EXT_RECV_BYTES);
    }
    if ((shape->arrays & 1) != 0) {
        learn_value(model, step, WF_EXT_ELEMENTS);
    }
    if ((shape->arrays & 2) != 0) {
        learn_value(model, step, WF_EXT_RECV_ELEMENTS);
    }
    bool tagged = wf_ext_slots(shape) > 0 && !wf_ext_rooted(shape);
    for (uint32_t slot = 0; slot < wf_ext_slots(shape) && tagged; slot++) {
        WF_TRY(learn_tag(model, step, slot, err));
    }
    return WF_OK;
}

/* ---- receives ---- */

/* What a sampled value grows by from the largest count to the target. */
static double growth_of(const struct wf_ext_model *model, const struct wf_ext_quantity *value)
{
    double grown = wf_ext_law_at(&value->law, &model->target);

    return value->last > 0 && grown > value->last ? grown / value->last : 1;
}

/* The quantity of a step that says how much it sends, or how much it can receive; or null. Only
 * if it is sampled. */
static struct wf_ext_quantity *sampled_bytes(const struct wf_ext_model *model,
                                             struct wf_ext_step *step, bool receives)
{
    if (step->type != WF_EXT_STEP_OP) {
        return NULL;
    }
    enum wf_op_kind kind = (enum wf_op_kind)model->input.shapes[step->shape].kind;
    const struct wf_op_info *info = wf_op_info(kind);
    bool both = info->family == WF_FAMILY_SENDRECV, is_recv = kind == WF_OP_RECV_INIT;
    struct wf_ext_quantity *value =
        &step->value[both && receives ? WF_EXT_RECV_BYTES : WF_EXT_BYTES];

    is_recv = is_recv || info->family == WF_FAMILY_RECV;
    bool is_send = info->family == WF_FAMILY_SEND ||
                   (info->family == WF_FAMILY_PERSISTENT && kind != WF_OP_RECV_INIT);
    bool wanted = both || (receives ? is_recv : is_send);
    return wanted && value->kind == WF_EXT_QUANTITY_SAMPLED ? value : NULL;
}

void wf_ext_learn_capacities(struct wf_ext_model *model)
{
    double growth = 1;

    for (uint32_t i = 0; i < model->n_steps; i++) {
        const struct wf_ext_quantity *sent = sampled_bytes(model, &model->steps[i], false);
        double own = sent != NULL ? growth_of(model, sent) : 1;
        growth = own > growth ? own : growth;
    }
    for (uint32_t i = 0; i < model->n_steps; i++) {
        struct wf_ext_quantity *held = sampled_bytes(model, &model->steps[i], true);
        if (held != NULL) {
            double own = growth_of(model, held);
            double most = held->most * (own > growth ? own : growth);
            held->capacity_bytes = held->unit * (1 + (int64_t)(most / (double)held->unit));
        }
    }
}
