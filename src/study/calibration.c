/* SPDX-License-Identifier: Apache-2.0 */
#include "study/calibration.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The rest of a line after its first word; null if the line begins with another word. */
static const char *after(const char *line, const char *word)
{
    size_t length = strlen(word);

    return strncmp(line, word, length) == 0 ? line + length : NULL;
}

static void read_size(const char *numbers, bool both, struct wf_calibration *calibration)
{
    char *rest = NULL;
    uint64_t bytes = strtoull(numbers, &rest, 10);
    double ns = strtod(rest, NULL);
    size_t n = calibration->input.n;

    if (both && n > 0 && calibration->samples[n - 1].bytes == bytes) {
        calibration->samples[n - 1].both = ns;
    } else if (!both && n < WF_CALIBRATION_SAMPLES_MAX && bytes > 0 && ns > 0) {
        calibration->samples[calibration->input.n++] = (struct wf_fit_sample){bytes, ns, 0};
    }
}

static void read_line(const char *line, struct wf_calibration *calibration)
{
    const struct {
        const char *word;
        double *ns;
    } singles[] = {{"send ", &calibration->input.send},
                   {"take ", &calibration->input.take},
                   {"stream ", &calibration->input.stream}};
    const char *half = after(line, "half "), *both = after(line, "both "),
               *eager = after(line, "eager ");

    if (half != NULL || both != NULL) {
        read_size(half != NULL ? half : both, both != NULL, calibration);
    } else if (eager != NULL) {
        calibration->input.eager_max = strtoull(eager, NULL, 10);
    }
    for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++) {
        const char *number = after(line, singles[i].word);
        *singles[i].ns = number != NULL ? strtod(number, NULL) : *singles[i].ns;
    }
}

void wf_calibration_read(struct wf_calibration *calibration, FILE *in)
{
    char line[256];

    *calibration = (struct wf_calibration){.input = {.n = 0}};
    calibration->input.samples = calibration->samples;
    while (fgets(line, sizeof(line), in) != NULL) {
        read_line(line, calibration);
    }
}

bool wf_calibration_fit(struct wf_calibration *calibration)
{
    return wf_fit(&calibration->input, &calibration->fit);
}

/* ---- the machine file ---- */

static void write_samples(FILE *out, const struct wf_calibration *calibration, const char *mpi)
{
    const struct wf_fit *fit = &calibration->fit;

    (void)fprintf(out,
                  "# Measured by weft calibrate: half round trips between two ranks of %s.\n"
                  "# The model differs from them by %.1f %% on average, %.1f %% at most:\n#\n"
                  "# %10s %12s %12s %8s %14s %12s\n",
                  mpi, fit->mean_error * 100, fit->max_error * 100, "bytes", "measured us",
                  "model us", "error %", "both ways us", "model us");
    for (size_t i = 0; i < calibration->input.n; i++) {
        const struct wf_fit_sample *s = &calibration->samples[i];
        double model = wf_fit_time(fit, s->bytes);
        (void)fprintf(out, "# %10" PRIu64 " %12.3f %12.3f %8.1f %14.3f %12.3f\n", s->bytes,
                      s->ns / 1e3, model / 1e3, (model / s->ns - 1) * 100, s->both / 1e3,
                      wf_fit_both(fit, s->bytes) / 1e3);
    }
    (void)fprintf(out,
                  "#\n# A call that sends a byte takes %.0f ns, one that receives a byte that "
                  "has arrived %.0f ns,\n# one of a stream of messages %.0f ns.\n",
                  calibration->input.send, calibration->input.take, calibration->input.stream);
}

static void write_points(FILE *out, const char *name, const struct wf_fit_points *points)
{
    (void)fprintf(out, "  %s: \"", name);
    for (size_t i = 0; i < points->n; i++) {
        (void)fprintf(out, "%s%" PRIu64 ":%.0fps", i > 0 ? "," : "", points->at[i].bytes,
                      points->at[i].ns * 1e3);
    }
    (void)fprintf(out, "\"\n");
}

void wf_calibration_write(const struct wf_calibration *calibration, const char *host,
                          const char *mpi, FILE *out)
{
    const struct wf_fit *fit = &calibration->fit;

    write_samples(out, calibration, mpi);
    (void)fprintf(out, "name: %s\nsummary: measured with two ranks of %s\n", host, mpi);
    (void)fprintf(out, "network:\n  model: loggp\n  L: %.0fps\n  o: %.0fps\n  g: %.0fps\n",
                  fit->L * 1e3, fit->o * 1e3, fit->g * 1e3);
    (void)fprintf(out, "  bandwidth: %.0fMB/s\n", fit->G > 1e-6 ? 1e3 / fit->G : 1e9);
    (void)fprintf(out, "  shared: %.3f\n", fit->shared);
    write_points(out, "sizes", &fit->tail);
    if (fit->held.n > 0) {
        write_points(out, "held", &fit->held);
    }
    (void)fprintf(out, "mpi:\n  rules: %s\n", mpi);
    if (fit->has_limit) {
        (void)fprintf(out, "  eager_max: %" PRIu64 "\n", fit->eager_max);
    }
}
