/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/study/fit_file.h"

#include "base/units.h"

#include <inttypes.h>

bool wf_fit_machine(struct wf_fit_machine *machine)
{
    return wf_fit(&machine->input, &machine->fit);
}

/* ---- the machine file ---- */

static void write_samples(FILE *out, const struct wf_fit_machine *machine, const char *mpi)
{
    const struct wf_fit *fit = &machine->fit;

    (void)fprintf(out,
                  "# Measured by weft calibrate: half round trips between two ranks of %s.\n"
                  "# The model differs from them by %.1f %% on average, %.1f %% at most:\n#\n"
                  "# %10s %12s %12s %8s %14s %12s\n",
                  mpi, fit->mean_error * 100, fit->max_error * 100, "bytes", "measured us",
                  "model us", "error %", "both ways us", "model us");
    for (size_t i = 0; i < machine->input.n; i++) {
        const struct wf_fit_sample *s = &machine->samples[i];
        double model = wf_fit_time(fit, s->bytes);
        (void)fprintf(out, "# %10" PRIu64 " %12.3f %12.3f %8.1f %14.3f %12.3f\n", s->bytes,
                      s->ns / 1e3, model / 1e3, (model / s->ns - 1) * 100, s->both / 1e3,
                      wf_fit_both(fit, s->bytes) / 1e3);
    }
    (void)fprintf(out,
                  "#\n# A call that sends a byte takes %.0f ns, one that receives a byte that "
                  "has arrived %.0f ns,\n# one of a stream of messages %.0f ns.\n",
                  machine->input.send, machine->input.take, machine->input.stream);
}

void wf_fit_points_write(const struct wf_fit_points *points, FILE *out)
{
    char text[WF_UNITS_TEXT_MAX];

    for (size_t i = 0; i < points->n; i++) {
        (void)fprintf(out, "%s%" PRIu64 ":%s", i > 0 ? "," : "", points->at[i].bytes,
                      wf_format_measured_time(points->at[i].ns * 1e3, text));
    }
}

static void write_points(FILE *out, const char *name, const struct wf_fit_points *points)
{
    (void)fprintf(out, "  %s: \"", name);
    wf_fit_points_write(points, out);
    (void)fprintf(out, "\"\n");
}

void wf_fit_machine_write(const struct wf_fit_machine *machine, const char *host,
                          const char *mpi, FILE *out)
{
    const struct wf_fit *fit = &machine->fit;

    write_samples(out, machine, mpi);
    (void)fprintf(out, "name: %s\nsummary: measured with two ranks of %s\n", host, mpi);
    char text[3][WF_UNITS_TEXT_MAX];

    (void)fprintf(out, "network:\n  model: loggp\n  L: %s\n  o: %s\n  g: %s\n",
                  wf_format_measured_time(fit->L * 1e3, text[0]),
                  wf_format_measured_time(fit->o * 1e3, text[1]),
                  wf_format_measured_time(fit->g * 1e3, text[2]));
    (void)fprintf(out, "  bandwidth: %s\n",
                  wf_format_measured_rate(fit->G > 1e-6 ? 1e9 / fit->G : 1e15, text[0]));
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
