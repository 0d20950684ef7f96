/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"
#include "ui/study/tune.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Where the time of a step goes. */
static const struct {
    const char *path, *words;
} shares[] = {
    {"result.training.compute_percent", "computing"},
    {"result.training.bubble_percent", "waiting in the pipeline"},
    {"result.training.exposed_communication_percent", "exposed communication"},
};
enum { N_SHARES = sizeof(shares) / sizeof(shares[0]) };

static const char *short_name(const char *key)
{
    return strncmp(key, "gen.", 4) == 0 ? key + 4 : key;
}

static void print_row(const struct wf_tune *tune, size_t i, FILE *out)
{
    const struct wf_study_point *point = &tune->study.points[tune->order[i]];
    char time[WF_UNITS_TEXT_MAX], memory[WF_UNITS_TEXT_MAX];

    for (size_t k = 0; k < tune->study.n_keys; k++) {
        (void)fprintf(out, "%9s  ", point->values[k]->text);
    }
    (void)fprintf(
        out, "%9s  %8.1f  %6.1f  %10s  %s\n",
        wf_human_time((int64_t)wf_doc_get_count(point->doc, "result.predicted_time_ps", 0),
                      time),
        wf_doc_get_real(point->doc, "result.training.tokens_per_second_and_device", 0),
        wf_doc_get_real(point->doc, "result.training.mfu_percent", 0),
        wf_human_size(wf_doc_get_count(point->doc, "result.training.memory.total_bytes", 0),
                      memory),
        i < tune->n_detailed ? "detailed" : "fast");
}

/* The best point on the fast model that has another value of a key; SIZE_MAX if there is none. */
static size_t best_without(const struct wf_tune *tune, size_t winner, size_t key)
{
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < tune->n_order; i++) {
        size_t point = tune->order[i];
        if (tune->fast_ps[point] > 0 &&
            tune->study.points[point].values[key] != tune->study.points[winner].values[key] &&
            (found == SIZE_MAX || tune->fast_ps[point] < tune->fast_ps[found])) {
            found = point;
        }
    }
    return found;
}

/* What takes longer at another point, by shares of its time and of the winner's. */
static size_t reason(const struct wf_tune *tune, size_t winner, size_t other)
{
    double most = 0;
    size_t found = N_SHARES;

    for (size_t s = 0; s < N_SHARES; s++) {
        double more = wf_doc_get_real(tune->study.points[other].doc, shares[s].path, 0) *
                          (double)tune->fast_ps[other] -
                      wf_doc_get_real(tune->study.points[winner].doc, shares[s].path, 0) *
                          (double)tune->fast_ps[winner];
        if (more > most) {
            most = more;
            found = s;
        }
    }
    return found;
}

static void print_reasons(const struct wf_tune *tune, FILE *out)
{
    const struct wf_study *study = &tune->study;
    size_t winner = tune->order[0];
    const double least_percent = 0.05; /* that the table would show */

    (void)fputs("\nThe best with another value, on the fast model:\n", out);
    for (size_t k = 0; k < study->n_keys; k++) {
        size_t other = best_without(tune, winner, k);
        const char *key = short_name(study->keys[k]);
        if (other == SIZE_MAX) {
            (void)fprintf(out, "  %s: no other value fits\n", key);
            continue;
        }
        double more = 100 * ((double)tune->fast_ps[other] / (double)tune->fast_ps[winner] - 1);
        size_t why = reason(tune, winner, other);
        (void)fprintf(out, "  %s %s instead of %s: ", key, study->points[other].values[k]->text,
                      study->points[winner].values[k]->text);
        if (fabs(more) < least_percent) {
            (void)fputs("as fast\n", out);
            continue;
        }
        (void)fprintf(out, "%.1f %% %s", fabs(more), more < 0 ? "shorter" : "longer");
        if (why < N_SHARES && more > 0) {
            (void)fprintf(out, ", most of it %s (%.1f %% of the step instead of %.1f %%)",
                          shares[why].words,
                          wf_doc_get_real(study->points[other].doc, shares[why].path, 0),
                          wf_doc_get_real(study->points[winner].doc, shares[why].path, 0));
        }
        (void)fputc('\n', out);
    }
}

void wf_study_tune_print(const struct wf_tune *tune, FILE *out)
{
    (void)fprintf(
        out,
        "%zu combinations: %zu impossible, %zu need more memory than a device has, %zu "
        "recompute needlessly, %zu compute for longer than others take, %zu ranked, %zu "
        "simulated in detail\n\n",
        tune->study.n_points, tune->counts[WF_TUNE_IMPOSSIBLE], tune->counts[WF_TUNE_TOO_LARGE],
        tune->counts[WF_TUNE_NEEDLESS], tune->counts[WF_TUNE_SLOW], tune->n_order,
        tune->n_detailed);
    for (size_t k = 0; k < tune->study.n_keys; k++) {
        (void)fprintf(out, "%9s  ", short_name(tune->study.keys[k]));
    }
    (void)fputs("     step  tokens/s     MFU      memory  model\n", out);
    for (size_t i = 0; i < tune->n_order && i < WF_TUNE_SHOWN; i++) {
        print_row(tune, i, out);
    }
    print_reasons(tune, out);
}
