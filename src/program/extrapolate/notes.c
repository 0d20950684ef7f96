/* SPDX-License-Identifier: Apache-2.0 */
#include "program/extrapolate/notes.h"

#include <math.h>

/* What happened to ops of the traces. */
static const struct {
    size_t offset; /* of the number in struct wf_ext_input */
    const char *text;
} changes[] = {
    {offsetof(struct wf_ext_input, n_tests),
     "tests and probes became waits, or were left out if they found nothing"},
    {offsetof(struct wf_ext_input, n_joined),
     "waits for some of several requests became waits for all of them"},
    {offsetof(struct wf_ext_input, n_neighbors),
     "neighbour collectives became messages to and from the neighbours"},
    {offsetof(struct wf_ext_input, n_corrected),
     "compute times that the operating system had disturbed were corrected"},
    {offsetof(struct wf_ext_input, n_wildcards_forgotten),
     "receives from any source: which message they matched is not carried over"},
};

static void print_changes(const struct wf_ext_input *input, FILE *out)
{
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        uint64_t n = *(const uint64_t *)(const void *)((const char *)input + changes[i].offset);
        if (n > 0) {
            (void)fprintf(out, "weft: note: %llu %s\n", (unsigned long long)n, changes[i].text);
        }
    }
    if (input->has_counters) {
        (void)fputs("weft: note: hardware counters are not carried over\n", out);
    }
}

/* A dimension that is the same in all traces, but not at the target, is a blind spot. */
static void print_blind_spots(const struct wf_ext_model *model, FILE *out)
{
    const struct wf_ext_grid *target = &model->target;
    const struct wf_ext_count *counts = model->input.counts;

    for (uint32_t d = 0; d < target->n_dims && target->n_dims > 1; d++) {
        bool same = model->input.n_counts > 1;
        for (uint32_t c = 1; c < model->input.n_counts; c++) {
            same = same && counts[c].grid.size[d] == counts[0].grid.size[d];
        }
        if (same && target->size[d] != counts[0].grid.size[d]) {
            (void)fprintf(out,
                          "weft: note: dimension %c of the grid is %u in all traces, but %u "
                          "with %u ranks, so that its influence on sizes and times is not "
                          "known; add a trace in which it differs\n",
                          "xyzw"[d], counts[0].grid.size[d], target->size[d], target->n);
        }
    }
}

/* Laws that do not meet the traces. */
struct guesses {
    uint32_t n;
    double error; /* the largest */
};

static void add_law(struct guesses *guesses, const struct wf_ext_law *law)
{
    if (!law->exact) {
        guesses->n++;
        guesses->error = law->error > guesses->error ? law->error : guesses->error;
    }
}

static void add_sizes(struct guesses *guesses, const struct wf_ext_step *step)
{
    for (uint32_t i = 0; i < WF_EXT_COMPUTE; i++) {
        const struct wf_ext_quantity *quantity = &step->value[i];
        if (quantity->kind == WF_EXT_QUANTITY_LAW) {
            add_law(guesses, &quantity->law);
        }
        for (uint32_t j = 0;
             j < (quantity->kind == WF_EXT_QUANTITY_GROUPS ? quantity->n_laws : 0); j++) {
            add_law(guesses, &quantity->laws[j]);
        }
    }
}

static void print_guesses(const struct guesses *guesses, const char *what, FILE *out)
{
    if (guesses->n > 0) {
        (void)fprintf(out,
                      "weft: note: %u %s follow no rule exactly and are guesses; predicted "
                      "from the others, a count is off by up to %.1f %%\n",
                      guesses->n, what, 100 * guesses->error);
    }
}

static void print_inexact(const struct wf_ext_model *model, FILE *out)
{
    struct guesses rounds = {.n = 0}, sizes = {.n = 0};

    for (uint32_t i = 1; i < model->n_steps && model->input.n_counts > 1; i++) {
        const struct wf_ext_step *step = &model->steps[i];
        if (step->type == WF_EXT_STEP_LOOP) {
            add_law(&rounds, &step->rounds.law);
        } else if (step->type == WF_EXT_STEP_OP) {
            add_sizes(&sizes, step);
        }
    }
    print_guesses(&rounds, "numbers of rounds of loops", out);
    print_guesses(&sizes, "sizes of messages or collectives", out);
}

/* Whether a size that is divided evenly in all traces is not at the target. */
static bool is_uneven(const struct wf_ext_model *model, const struct wf_ext_quantity *quantity)
{
    double value = wf_ext_law_at(&quantity->law, &model->target) / (double)quantity->unit;

    return quantity->kind == WF_EXT_QUANTITY_LAW && quantity->law.exact &&
           fabs(value - round(value)) > 1e-6 * fmax(1, value);
}

static void print_uneven(const struct wf_ext_model *model, FILE *out)
{
    uint32_t n = 0;

    for (uint32_t i = 1; i < model->n_steps && model->input.n_counts > 1; i++) {
        const struct wf_ext_step *step = &model->steps[i];
        for (uint32_t j = 0; j < WF_EXT_COMPUTE && step->type == WF_EXT_STEP_OP; j++) {
            n += is_uneven(model, &step->value[j]) ? 1 : 0;
        }
    }
    if (n > 0) {
        (void)fprintf(out,
                      "weft: note: %u sizes are whole numbers in all traces, but not with %u "
                      "ranks, where the program divides them unevenly in a way that no trace "
                      "shows; add a trace at such a number of ranks\n",
                      n, model->target.n);
    }
}

/* What changes from one of two traces to the other fits many rules, and no third one tells which. */
static void print_two_traces(const struct wf_ext_model *model, FILE *out)
{
    const struct wf_ext_count *counts = model->input.counts;

    if (model->input.n_counts == 2 && model->target.n != counts[0].n &&
        model->target.n != counts[1].n) {
        (void)fputs(
            "weft: note: two traces do not tell by which rule sizes and times change, and "
            "no other trace tests the rule; give three or more\n",
            out);
    }
}

void wf_ext_notes(const struct wf_ext_model *model, FILE *out)
{
    print_two_traces(model, out);
    print_blind_spots(model, out);
    if (model->n_doubtful > 0) {
        (void)fprintf(out,
                      "weft: note: %u sizes, times or numbers of rounds follow several rules "
                      "that give different values with %u ranks; a trace at a number of ranks "
                      "with another form of grid would decide\n",
                      model->n_doubtful, model->target.n);
    }
    print_inexact(model, out);
    print_uneven(model, out);
    print_changes(&model->input, out);
}
