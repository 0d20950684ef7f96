/* SPDX-License-Identifier: Apache-2.0 */
/* Loops whose rounds differ: the steps of a hypercube, the partners of an exchange of all with
 * all, the levels of a tree. In the merged program they are a run of similar statements, more of
 * them in larger counts. */
#include "program/extrapolate/model.h"

#include <string.h>

enum { ROUNDS_MIN = 3 };

static const struct wf_ext_statement *child(const struct wf_ext_model *model,
                                            uint32_t statement, uint32_t i)
{
    const struct wf_ext_statement *s = &model->merged.all[statement];

    return &model->merged.all[s->children[i]];
}

static bool in_set(const struct wf_ext_model *model, uint32_t set,
                   const struct wf_ext_symbol *symbol)
{
    uint32_t n = 0;
    const uint64_t *symbols = wf_ext_set_at(&model->sets, set, &n);
    uint64_t packed = wf_ext_symbol_pack(symbol);

    for (uint32_t i = 0; i < n; i++) {
        if (symbols[i] == packed) {
            return true;
        }
    }
    return set == WF_EXT_SET_NULL;
}

static int32_t advanced(const struct wf_ext_progress *progress, int32_t from, uint32_t rounds)
{
    int64_t to = from;

    for (uint32_t i = 0; i < rounds && to < INT32_MAX / 4 && to > INT32_MIN / 4; i++) {
        to = progress->how == 0 ? to + progress->step : progress->how == 1 ? 2 * to : to / 2;
        if (progress->how == 0) {
            to += (int64_t)progress->step * (rounds - 1);
            break;
        }
    }
    return (int32_t)to;
}

struct wf_ext_symbol wf_ext_step_symbol(const struct wf_ext_step *step, uint32_t slot,
                                        uint32_t round)
{
    struct wf_ext_symbol symbol = step->symbol[slot];
    const struct wf_ext_progress *progress = &step->progress[slot];

    if (progress->varies) {
        symbol.v[progress->which] = advanced(progress, symbol.v[progress->which], round);
    }
    return symbol;
}

/* The number of rounds in which the symbols of the slot are those of the step. */
static uint32_t reach(const struct wf_ext_model *model, const struct wf_ext_step *step,
                      uint32_t slot, const uint32_t *sets, uint32_t rounds)
{
    uint32_t n = 0;

    while (n < rounds) {
        const struct wf_ext_symbol symbol = wf_ext_step_symbol(step, slot, n);
        bool small = true;
        for (uint32_t i = 0; i < 4; i++) {
            small = small && symbol.v[i] < 8192 && symbol.v[i] > -8192;
        }
        if (!small || !in_set(model, sets[n], &symbol)) {
            break;
        }
        n++;
    }
    return n;
}

/* The ways to come from one symbol to the next: sets progress; false after the last. */
static bool progress_at(uint32_t i, const struct wf_ext_symbol *a,
                        const struct wf_ext_symbol *b, struct wf_ext_progress *out)
{
    uint32_t which = 0;

    if (i == 0) {
        *out = (struct wf_ext_progress){.varies = false};
        return memcmp(a->v, b->v, sizeof(a->v)) == 0 && a->family == b->family;
    }
    if (a->family != b->family || !wf_ext_symbol_varies(a, &which)) {
        return false;
    }
    for (uint32_t j = 0; j < 4; j++) {
        if (j != which && a->v[j] != b->v[j]) {
            return false;
        }
    }
    *out = (struct wf_ext_progress){.varies = true,
                                    .which = (uint8_t)which,
                                    .how = (uint8_t)(i - 1),
                                    .step = b->v[which] - a->v[which]};
    return i == 1   ? out->step != 0
           : i == 2 ? a->v[which] != 0 && b->v[which] == 2 * a->v[which]
                    : b->v[which] != 0 && a->v[which] == 2 * b->v[which];
}

/* Finds the progress of a slot that reaches furthest. Returns its rounds. */
static uint32_t find_progress(const struct wf_ext_model *model, struct wf_ext_step *step,
                              uint32_t slot, const uint32_t *sets, uint32_t rounds)
{
    uint32_t n_a = 0, n_b = 0, best = 0;
    const uint64_t *a = wf_ext_set_at(&model->sets, sets[0], &n_a);
    const uint64_t *b = wf_ext_set_at(&model->sets, sets[1], &n_b);
    struct wf_ext_step trial = *step;

    step->has_symbol[slot] = n_a > 0;
    if (n_a == 0) {
        while (best < rounds && sets[best] == sets[0]) {
            best++;
        }
        return best;
    }
    for (uint32_t i = 0; i < n_a; i++) {
        for (uint32_t j = 0; j < n_b; j++) {
            const struct wf_ext_symbol next = wf_ext_symbol_unpack(b[j]);
            trial.symbol[slot] = wf_ext_symbol_unpack(a[i]);
            for (uint32_t k = 0; k < 4; k++) {
                if (!progress_at(k, &trial.symbol[slot], &next, &trial.progress[slot])) {
                    continue;
                }
                uint32_t n = reach(model, &trial, slot, sets, rounds);
                if (n > best) {
                    best = n;
                    step->symbol[slot] = trial.symbol[slot];
                    step->progress[slot] = trial.progress[slot];
                }
            }
        }
    }
    return best;
}

/* The number of equal shapes at distance `period`, in rounds of all `period` of them. */
static uint32_t similar(const struct wf_ext_model *model, uint32_t statement, uint32_t at,
                        uint32_t period)
{
    uint32_t n = model->merged.all[statement].n_children, i = at;

    for (; i < n; i++) {
        const struct wf_ext_statement *one = child(model, statement, i);
        if (one->loop || one->shape != child(model, statement, at + (i - at) % period)->shape) {
            break;
        }
    }
    return (i - at) / period;
}

static bool executed(const struct wf_ext_model *model, uint32_t count, uint32_t statement)
{
    for (uint32_t r = 0; r < model->input.counts[count].n; r++) {
        if (wf_ext_times(model, count, r, statement) > 0) {
            return true;
        }
    }
    return false;
}

/* The number of statements of a round that any rank of the count executes. */
static uint32_t executed_of(const struct wf_ext_model *model, uint32_t statement,
                            uint32_t count, uint32_t first, uint32_t period)
{
    uint32_t n = 0;

    for (uint32_t i = first; i < first + period; i++) {
        n += executed(model, count, model->merged.all[statement].children[i]) ? 1 : 0;
    }
    return n;
}

/* Whether larger counts execute more of the rounds, always the first or always the last ones. Tells
 * whether they execute each of them as a whole. */
static bool grows(const struct wf_ext_model *model, uint32_t statement, uint32_t at,
                  struct wf_ext_run *run)
{
    bool first = true, last = true, differ = false;

    run->whole = true;

    for (uint32_t c = 0; c < model->input.n_counts; c++) {
        uint32_t n = 0, from_first = 0, from_last = 0;
        for (uint32_t t = 0; t < run->rounds; t++) {
            uint32_t parts =
                executed_of(model, statement, c, at + t * run->period, run->period);
            bool done = parts > 0;
            run->whole = run->whole && (!done || parts == run->period);
            n += done ? 1 : 0;
            from_first += done && from_first == t ? 1 : 0;
        }
        for (uint32_t t = run->rounds; t-- > 0;) {
            bool done = executed_of(model, statement, c, at + t * run->period, run->period) > 0;
            from_last += done && from_last == run->rounds - 1 - t ? 1 : 0;
        }
        first = first && from_first == n;
        last = last && from_last == n;
        differ = differ || n != run->rounds;
    }
    run->backwards = !first;
    return differ && (first || last);
}

/* Counts rounds from the last one. */
static void turn_round(struct wf_ext_step *step, uint32_t rounds)
{
    step->backwards = true;
    for (uint32_t slot = 0; slot < WF_EXT_SLOTS; slot++) {
        struct wf_ext_progress *progress = &step->progress[slot];
        if (progress->varies) {
            step->symbol[slot] = wf_ext_step_symbol(step, slot, rounds - 1);
            progress->step = -progress->step;
            progress->how = progress->how == 0 ? 0 : (uint8_t)(3 - progress->how);
        }
    }
}

static bool find_period(const struct wf_ext_model *model, uint32_t statement, uint32_t at,
                        struct wf_ext_run *run, struct wf_ext_step *steps)
{
    enum { ROUNDS_MAX = 8192 };
    static const struct wf_ext_step none;
    uint32_t sets[ROUNDS_MAX];
    bool varies = false;

    run->rounds = similar(model, statement, at, run->period);
    run->rounds = run->rounds > ROUNDS_MAX ? ROUNDS_MAX : run->rounds;
    for (uint32_t j = 0; j < run->period && run->rounds >= ROUNDS_MIN; j++) {
        steps[j] = none;
        for (uint32_t slot = 0; slot < WF_EXT_SLOTS && run->rounds >= ROUNDS_MIN; slot++) {
            for (uint32_t t = 0; t < run->rounds; t++) {
                sets[t] = child(model, statement, at + t * run->period + j)->set[slot];
            }
            run->rounds = find_progress(model, &steps[j], slot, sets, run->rounds);
            varies = varies || steps[j].progress[slot].varies;
        }
    }
    if (run->rounds < ROUNDS_MIN || !varies || !grows(model, statement, at, run)) {
        return false;
    }
    for (uint32_t j = 0; j < run->period && run->backwards; j++) {
        turn_round(&steps[j], run->rounds);
    }
    return true;
}

/* Whether rounds that are executed as a whole begin within the first one. */
static bool begins_later(const struct wf_ext_model *model, uint32_t statement, uint32_t at,
                         uint32_t period)
{
    struct wf_ext_step steps[WF_EXT_PERIOD_MAX];
    struct wf_ext_run run = {.period = period};

    for (uint32_t i = 1; i < period; i++) {
        if (find_period(model, statement, at + i, &run, steps) && run.whole) {
            return true;
        }
    }
    return false;
}

bool wf_ext_find_run(const struct wf_ext_model *model, uint32_t statement, uint32_t at,
                     struct wf_ext_run *run, struct wf_ext_step *steps)
{
    uint32_t n = model->merged.all[statement].n_children;

    for (uint32_t period = 1; period <= WF_EXT_PERIOD_MAX && at + period * ROUNDS_MIN <= n;
         period++) {
        run->period = period;
        if (find_period(model, statement, at, run, steps) &&
            (run->whole || !begins_later(model, statement, at, period))) {
            return true;
        }
    }
    return false;
}
