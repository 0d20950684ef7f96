/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/model.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

/* ---- facts about statements ---- */

struct counting {
    struct wf_ext_model *model;
    uint32_t count, rank, op;
    uint32_t *next; /* by statement: where its next ref goes */
};

static uint32_t *times_of(const struct counting *counting, uint32_t statement)
{
    const struct wf_ext_model *model = counting->model;

    return &model->times[counting->count][(size_t)counting->rank * model->merged.n + statement];
}

static void count_op(void *arg, uint32_t statement, struct wf_ext_op *op, uint32_t rounds)
{
    struct counting *counting = arg;
    uint32_t *times = times_of(counting, statement);

    *times = op != NULL ? *times + 1 : rounds;
    counting->next[statement] += op != NULL ? 1 : 0;
}

static void put_ref(void *arg, uint32_t statement, struct wf_ext_op *op, uint32_t rounds)
{
    struct counting *counting = arg;
    struct wf_ext_model *model = counting->model;

    (void)rounds;
    if (op != NULL && model->refs != NULL) {
        uint32_t place = counting->next[statement]++;
        const struct wf_ext_ref *before =
            place > model->first_ref[statement] ? &model->refs[place - 1] : NULL;
        bool again = before != NULL && before->count == counting->count &&
                     before->rank == counting->rank;
        model->refs[place] = (struct wf_ext_ref){.count = counting->count,
                                                 .rank = counting->rank,
                                                 .op = counting->op++,
                                                 .turn = again ? before->turn + 1 : 0};
    }
}

static void walk_all(struct counting *counting, const struct wf_ext_walk *walk)
{
    struct wf_ext_input *input = &counting->model->input;

    for (counting->count = 0; counting->count < input->n_counts; counting->count++) {
        struct wf_ext_count *count = &input->counts[counting->count];
        for (counting->rank = 0; counting->rank < count->n; counting->rank++) {
            counting->op = 0;
            wf_ext_walk(&counting->model->kinds, &count->ranks[counting->rank], walk);
        }
    }
}

static void count_statements(struct wf_ext_model *model)
{
    uint32_t n = model->merged.n, total = 0;
    struct counting counting = {.model = model, .next = wf_xcalloc(n, sizeof(uint32_t))};
    const struct wf_ext_walk counts = {.visit = count_op, .arg = &counting};
    const struct wf_ext_walk refs = {.visit = put_ref, .arg = &counting};

    for (uint32_t c = 0; c < model->input.n_counts; c++) {
        model->times[c] =
            wf_xcalloc((size_t)model->input.counts[c].n * n, sizeof(*model->times[c]));
    }
    walk_all(&counting, &counts);
    model->first_ref = wf_xcalloc((size_t)n + 1, sizeof(*model->first_ref));
    for (uint32_t i = 0; i < n; i++) {
        model->first_ref[i] = total;
        total += counting.next[i];
        counting.next[i] = model->first_ref[i];
    }
    model->first_ref[n] = total;
    model->refs = wf_xcalloc((size_t)total + 1, sizeof(*model->refs));
    walk_all(&counting, &refs);
    free(counting.next);
}

/* ---- the steps ---- */

static uint32_t add_step(struct wf_ext_model *model, uint32_t parent,
                         const struct wf_ext_step *step)
{
    WF_GROW(model->steps, model->n_steps, model->capacity);
    uint32_t number = model->n_steps++;
    model->steps[number] = *step;
    model->steps[number].parent = parent;
    model->steps[number].same_as = number;
    if (number != parent) {
        struct wf_ext_step *of = &model->steps[parent];
        WF_PUSH(of->children, of->n_children, of->capacity, number);
    }
    return number;
}

static void set_statements(struct wf_ext_step *step, uint32_t n)
{
    step->statements = wf_xcalloc(n, sizeof(*step->statements));
    step->n_statements = n;
}

/* A step of one statement. */
static struct wf_ext_step plain_step(const struct wf_ext_model *model, uint32_t statement)
{
    const struct wf_ext_statement *s = &model->merged.all[statement];
    struct wf_ext_step step = {.type = s->loop ? WF_EXT_STEP_LOOP : WF_EXT_STEP_OP,
                               .shape = s->shape};

    set_statements(&step, 1);
    step.statements[0] = statement;
    for (uint32_t slot = 0; slot < WF_EXT_SLOTS && !s->loop; slot++) {
        uint32_t n = 0;
        const uint64_t *symbols = wf_ext_set_at(&model->sets, s->set[slot], &n);
        step.has_symbol[slot] = n > 0;
        if (n > 0) {
            step.symbol[slot] = wf_ext_symbol_unpack(symbols[0]);
        }
    }
    return step;
}

/* Adds a loop whose rounds differ. */
static void add_rounds(struct wf_ext_model *model, uint32_t parent, uint32_t statement,
                       uint32_t at, const struct wf_ext_run *run, struct wf_ext_step *steps)
{
    struct wf_ext_step all = {.type = WF_EXT_STEP_ROUNDS, .backwards = run->backwards};

    set_statements(&all, 1);
    all.statements[0] = model->merged.all[statement].children[at];
    uint32_t number = add_step(model, parent, &all);
    for (uint32_t j = 0; j < run->period; j++) {
        set_statements(&steps[j], run->rounds);
        for (uint32_t t = 0; t < run->rounds; t++) {
            uint32_t round = run->backwards ? run->rounds - 1 - t : t;
            steps[j].statements[round] =
                model->merged.all[statement].children[at + t * run->period + j];
        }
        steps[j].type = WF_EXT_STEP_OP;
        steps[j].shape = model->merged.all[steps[j].statements[0]].shape;
        (void)add_step(model, number, &steps[j]);
    }
}

static void add_list(struct wf_ext_model *model, uint32_t parent, uint32_t statement)
{
    struct wf_ext_step *steps = wf_xcalloc(WF_EXT_PERIOD_MAX, sizeof(*steps));
    struct wf_ext_run run;

    for (uint32_t i = 0; i < model->merged.all[statement].n_children;) {
        if (wf_ext_find_run(model, statement, i, &run, steps)) {
            add_rounds(model, parent, statement, i, &run, steps);
            i += run.period * run.rounds;
            continue;
        }
        uint32_t child = model->merged.all[statement].children[i++];
        const struct wf_ext_step step = plain_step(model, child);
        uint32_t number = add_step(model, parent, &step);
        if (step.type == WF_EXT_STEP_LOOP) {
            add_list(model, number, child);
        }
    }
    free(steps);
}

/* ---- guards ---- */

/* The step in whose rounds a step is, or null. */
static const struct wf_ext_step *rounds_of(const struct wf_ext_model *model,
                                           const struct wf_ext_step *step)
{
    const struct wf_ext_step *parent = &model->steps[step->parent];

    return parent->type == WF_EXT_STEP_ROUNDS ? parent : NULL;
}

struct wf_ext_where wf_ext_where(const struct wf_ext_step *step, const struct wf_ext_grid *grid,
                                 uint32_t rank, uint32_t round)
{
    struct wf_ext_where where = {.grid = grid, .rank = rank, .round = round};

    where.in_rounds = step->n_statements > 1;
    for (uint32_t slot = 0; slot < WF_EXT_SLOTS; slot++) {
        if (step->has_symbol[slot] && where.distance == 0) {
            const struct wf_ext_symbol symbol = wf_ext_step_symbol(step, slot, round);
            uint32_t which = 0;
            uint32_t size =
                grid->size[symbol.family == WF_EXT_VECTOR ? WF_EXT_WHOLE : symbol.v[0]];
            where.has_peer = wf_ext_peer(grid, &symbol, rank, &where.peer);
            where.swaps = symbol.family == WF_EXT_SWAP;
            if (wf_ext_symbol_varies(&symbol, &which)) {
                where.distance = (uint32_t)abs(symbol.v[which]);
                where.distance =
                    symbol.family == WF_EXT_XOR_TOP ? size >> symbol.v[1] : where.distance;
            }
        }
    }
    return where;
}

static const struct wf_ext_op *op_of(const struct wf_ext_model *model,
                                     const struct wf_ext_ref *ref)
{
    return &model->input.counts[ref->count].ranks[ref->rank].ops[ref->op];
}

/* Whether a rank executes a step in a round. */
static bool executes(const struct wf_ext_model *model, const struct wf_ext_step *step,
                     uint32_t count, uint32_t rank, uint32_t round)
{
    return wf_ext_times(model, count, rank, step->statements[round]) > 0;
}

/* The rounds of a step in a count: the most that any rank executes. */
static uint32_t rounds_in(const struct wf_ext_model *model, const struct wf_ext_step *step,
                          uint32_t count)
{
    const struct wf_ext_step *loop = rounds_of(model, step);
    uint32_t most = 0;

    for (uint32_t i = 0; loop != NULL && i < loop->n_children; i++) {
        const struct wf_ext_step *child = &model->steps[loop->children[i]];
        for (uint32_t t = most; t < child->n_statements; t++) {
            for (uint32_t r = 0; r < model->input.counts[count].n; r++) {
                most = executes(model, child, count, r, t) ? t + 1 : most;
            }
        }
    }
    return loop == NULL ? 1 : most;
}

/* The loop around a step, above a loop whose rounds differ. */
static const struct wf_ext_step *outer_loop(const struct wf_ext_model *model,
                                            const struct wf_ext_step *step)
{
    const struct wf_ext_step *parent = &model->steps[step->parent];

    return parent->type == WF_EXT_STEP_ROUNDS ? &model->steps[parent->parent] : parent;
}

struct examples {
    struct wf_ext_example *all;
    uint32_t n, capacity;
};

/* Adds what a rank of a count does in each round of a step. */
static void add_examples(const struct wf_ext_model *model, const struct wf_ext_step *step,
                         uint32_t c, uint32_t r, struct examples *out)
{
    uint32_t rounds = rounds_in(model, step, c);

    for (uint32_t t = 0; t < rounds && t < step->n_statements; t++) {
        WF_PUSH(out->all, out->n, out->capacity,
                (struct wf_ext_example){
                    .where = wf_ext_where(step, &model->input.counts[c].grid, r, t),
                    .holds = executes(model, step, c, r, t),
                });
    }
}

static void gather_examples(const struct wf_ext_model *model, const struct wf_ext_step *step,
                            struct examples *out)
{
    const struct wf_ext_step *outer = outer_loop(model, step);

    out->n = 0;
    for (uint32_t c = 0; c < model->input.n_counts; c++) {
        for (uint32_t r = 0; r < model->input.counts[c].n; r++) {
            if (outer->statements[0] == 0 || executes(model, outer, c, r, 0)) {
                add_examples(model, step, c, r, out);
            }
        }
    }
}

/* Examples of ranks without a peer in a slot. Returns the number of those that have none. */
static uint32_t gather_nulls(const struct wf_ext_model *model, const struct wf_ext_step *step,
                             uint32_t slot, struct examples *out)
{
    uint32_t nulls = 0;

    out->n = 0;
    for (uint32_t t = 0; t < step->n_statements; t++) {
        uint32_t s = step->statements[t];
        for (uint32_t i = model->first_ref[s]; i < model->first_ref[s + 1]; i++) {
            const struct wf_ext_ref *ref = &model->refs[i];
            if (ref->turn > 0) {
                continue;
            }
            WF_GROW(out->all, out->n, out->capacity);
            struct wf_ext_example *example = &out->all[out->n++];
            example->where =
                wf_ext_where(step, &model->input.counts[ref->count].grid, ref->rank, t);
            example->holds = op_of(model, ref)->set[slot] == WF_EXT_SET_NULL;
            nulls += example->holds ? 1 : 0;
        }
    }
    return nulls;
}

bool wf_ext_executes(const struct wf_ext_model *model, const struct wf_ext_step *step,
                     const struct wf_ext_grid *grid, uint32_t rank, uint32_t round)
{
    const struct wf_ext_step *decides = &model->steps[step->same_as];
    const struct wf_ext_where where = wf_ext_where(decides, grid, rank, round);

    return wf_ext_guard_holds(&decides->guard, &where);
}

/* Whether the same ranks execute two steps, in the same rounds. */
static bool go_together(const struct wf_ext_model *model, const struct wf_ext_step *a,
                        const struct wf_ext_step *b)
{
    if (a->n_statements != b->n_statements || b->type != WF_EXT_STEP_OP) {
        return false;
    }
    for (uint32_t c = 0; c < model->input.n_counts; c++) {
        for (uint32_t r = 0; r < model->input.counts[c].n; r++) {
            for (uint32_t t = 0; t < a->n_statements; t++) {
                if (executes(model, a, c, r, t) != executes(model, b, c, r, t)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* An op without a rule of its own, such as a wait, is often executed by the ranks that execute
 * another one beside it. */
static bool find_companion(const struct wf_ext_model *model, struct wf_ext_step *step)
{
    const struct wf_ext_step *parent = &model->steps[step->parent];

    for (uint32_t i = 0; i < parent->n_children; i++) {
        const struct wf_ext_step *other = &model->steps[parent->children[i]];
        if (other->guard.n_terms > 0 && other->same_as == parent->children[i] &&
            go_together(model, step, other)) {
            step->same_as = parent->children[i];
            return true;
        }
    }
    return false;
}

static enum wf_status learn_guard(const struct wf_ext_model *model, struct wf_ext_step *step,
                                  struct wf_err *err)
{
    struct examples examples = {.all = NULL};
    enum wf_status status = WF_OK;

    gather_examples(model, step, &examples);
    if (!wf_ext_guard_learn(examples.all, examples.n, &step->guard)) {
        step->guard = (struct wf_ext_guard){.n_terms = 0};
        status = find_companion(model, step)
                     ? WF_OK
                     : wf_ext_refuse_guard(model, step->statements[0], err);
    }
    for (uint32_t slot = 0; slot < WF_EXT_SLOTS && status == WF_OK; slot++) {
        uint32_t nulls = gather_nulls(model, step, slot, &examples);
        step->null_guard[slot] = (struct wf_ext_guard){.negated = true};
        if (nulls > 0 &&
            !wf_ext_guard_learn(examples.all, examples.n, &step->null_guard[slot])) {
            status = wf_ext_refuse(model, step->statements[0],
                                   "no rule says which ranks have no peer", err);
        }
    }
    free(examples.all);
    return status;
}

/* ---- classes of ranks ---- */

uint64_t wf_ext_class(const struct wf_ext_model *model, const struct wf_ext_grid *grid,
                      uint32_t rank)
{
    uint64_t hash = 0;

    for (uint32_t i = 1; i < model->n_steps; i++) {
        const struct wf_ext_step *step = &model->steps[i];
        if (step->type == WF_EXT_STEP_ROUNDS || step->n_statements > 1) {
            continue;
        }
        const struct wf_ext_where where = wf_ext_where(step, grid, rank, 0);
        uint64_t bits = wf_ext_executes(model, step, grid, rank, 0) ? 1 : 0;
        for (uint32_t slot = 0; slot < WF_EXT_SLOTS; slot++) {
            bits = bits << 1 | (wf_ext_guard_holds(&step->null_guard[slot], &where) ? 1 : 0);
        }
        hash = wf_rng_mix(hash * WF_RNG_GOLDEN + bits + 1);
    }
    return hash;
}

static void find_classes(struct wf_ext_model *model)
{
    uint32_t last = model->input.n_counts - 1, n = model->input.counts[last].n;

    for (uint32_t c = 0; c <= last; c++) {
        const struct wf_ext_count *count = &model->input.counts[c];
        model->classes[c] = wf_xcalloc(count->n, sizeof(*model->classes[c]));
        for (uint32_t r = 0; r < count->n; r++) {
            model->classes[c][r] = wf_ext_class(model, &count->grid, r);
        }
    }
    model->next_sample = wf_xcalloc(n, sizeof(*model->next_sample));
    model->class_size = wf_xcalloc(n, sizeof(*model->class_size));
    for (uint32_t r = n; r-- > 0;) {
        uint64_t *first = wf_map_put(&model->samples, model->classes[last][r]);
        model->next_sample[r] = *first == 0 ? WF_PROC_NULL : (uint32_t)*first - 1;
        model->class_size[r] = *first == 0 ? 1 : 1 + model->class_size[*first - 1];
        *first = (uint64_t)r + 1;
    }
}

/* ---- all of it ---- */

static enum wf_status find_groups(struct wf_ext_model *model, struct wf_err *err)
{
    model->n_groups = wf_ext_groups_count(&model->input);
    model->groups = wf_xcalloc(model->n_groups, sizeof(*model->groups));
    for (uint32_t i = 1; i < model->n_groups; i++) {
        uint32_t c = 0, r = 0;
        if (!wf_ext_group_find(&model->input, i, &model->groups[i], &c, &r)) {
            const struct wf_ext_count *count = &model->input.counts[c];
            return wf_err_set(err, WF_EINVAL,
                              "communicator %u of rank %u in '%.100s' has %u members, and no "
                              "rule says which ranks belong to it",
                              count->ranks[r].comms[i].number, r, count->path,
                              count->ranks[r].comms[i].size);
        }
    }
    return WF_OK;
}

/* Ranks that all do something else follow no rule, and merging them would take very long. */
static enum wf_status check_kinds(const struct wf_ext_model *model, struct wf_err *err)
{
    enum { KINDS_MIN = 64, SHARE = 8, LENGTH_MAX = 30000 };

    for (uint32_t c = 0; c < model->input.n_counts; c++) {
        const struct wf_ext_count *count = &model->input.counts[c];
        uint32_t n = 0;
        for (uint32_t i = 0; i < model->kinds.n; i++) {
            const struct wf_ext_kind *kind = &model->kinds.all[i];
            n += kind->count == c ? 1 : 0;
            if (kind->count == c && kind->nodes[0].n_children > LENGTH_MAX) {
                return wf_err_set(err, WF_EINVAL,
                                  "rank %u in '%.100s' does not repeat what it does: %u ops "
                                  "are too many for a program without loops",
                                  kind->rank, count->path, kind->nodes[0].n_children);
            }
        }
        if (n > KINDS_MIN + count->n / SHARE) {
            return wf_ext_refuse_kinds(model, c, n, err);
        }
    }
    return WF_OK;
}

enum wf_status wf_ext_model_build(struct wf_ext_model *model, uint32_t target,
                                  struct wf_err *err)
{
    const struct wf_ext_step all = {.type = WF_EXT_STEP_LOOP};

    wf_ext_choose_grid(&model->input, target, &model->rule);
    if (!wf_ext_grid_make(&model->rule, target, &model->target)) {
        return wf_err_set(err, WF_EUSAGE, "%u ranks do not fit the grid of the program",
                          target);
    }
    WF_TRY(find_groups(model, err));
    WF_TRY(wf_ext_assign(&model->input, &model->sets, err));
    wf_ext_fold(&model->input, &model->kinds);
    WF_TRY(check_kinds(model, err));
    wf_ext_merge(&model->input, &model->kinds, &model->sets, &model->merged);
    count_statements(model);
    (void)add_step(model, 0, &all);
    set_statements(&model->steps[0], 1);
    add_list(model, 0, 0);
    /* Steps with peers first: others may go together with them. */
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 1; i < model->n_steps; i++) {
            struct wf_ext_step *step = &model->steps[i];
            if (step->type != WF_EXT_STEP_ROUNDS && step->has_symbol[0] == (pass == 0)) {
                WF_TRY(learn_guard(model, step, err));
            }
        }
    }
    find_classes(model);
    for (uint32_t i = 1; i < model->n_steps; i++) {
        struct wf_ext_step *step = &model->steps[i];
        WF_TRY(step->type == WF_EXT_STEP_OP ? wf_ext_learn_values(model, step, err)
                                            : wf_ext_learn_rounds(model, step, err));
    }
    wf_ext_learn_capacities(model);
    return WF_OK;
}

void wf_ext_model_forget(struct wf_ext_model *model)
{
    for (uint32_t i = 0; i < model->n_steps; i++) {
        struct wf_ext_step *step = &model->steps[i];
        for (uint32_t v = 0; v < WF_EXT_VALUES; v++) {
            wf_map_fini(&step->value[v].groups);
            free(step->value[v].laws);
        }
        for (uint32_t slot = 0; slot < WF_EXT_SLOTS; slot++) {
            wf_ext_integer_fini(&step->tag[slot]);
        }
        wf_ext_integer_fini(&step->rounds);
        free(step->children);
        free(step->statements);
    }
    for (uint32_t c = 0; c < model->input.n_counts; c++) {
        free(model->times[c]);
        free(model->classes[c]);
    }
    free(model->steps);
    free(model->refs);
    free(model->first_ref);
    free(model->groups);
    free(model->next_sample);
    free(model->class_size);
    wf_map_fini(&model->samples);
    wf_ext_merged_fini(&model->merged);
    wf_ext_kinds_fini(&model->kinds);
    wf_strings_fini(&model->sets.table);
    const struct wf_ext_input input = model->input;
    memset(model, 0, sizeof(*model));
    model->input = input;
}

void wf_ext_model_fini(struct wf_ext_model *model)
{
    wf_ext_model_forget(model);
    wf_ext_input_fini(&model->input);
}
