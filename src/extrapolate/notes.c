/* SPDX-License-Identifier: Apache-2.0 */
#include "extrapolate/notes.h"

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

void wf_ext_notes(const struct wf_ext_model *model, FILE *out)
{
    print_blind_spots(model, out);
    if (model->n_doubtful > 0) {
        (void)fprintf(out,
                      "weft: note: %u sizes, times or numbers of rounds follow several rules "
                      "that give different values with %u ranks; a trace at a number of ranks "
                      "with another form of grid would decide\n",
                      model->n_doubtful, model->target.n);
    }
    print_changes(&model->input, out);
}
