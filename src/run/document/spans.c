/* SPDX-License-Identifier: Apache-2.0 */

#include "base/result/doc.h"
#include "base/units.h"
#include "run/document/document.h"

#include <inttypes.h>

enum { PERCENT_DECIMALS = 3 };

/* Spans decide a prediction if it could be shorter by this part without them. */
static const double DECISIVE = 0.05;

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

void wf_sim_spans_warn(const struct wf_robust *robust, enum wf_robust_which which,
                       struct wf_value *root)
{
    double time = (double)wf_doc_get_count(root, "result.predicted_time_ps", 0);
    const struct wf_robust_outlier *longest = NULL;
    char took[WF_UNITS_TEXT_MAX], usual[WF_UNITS_TEXT_MAX];
    uint32_t rank = 0;
    int64_t excess = wf_robust_excess(robust, which, &rank, &longest);
    uint64_t n =
        which == WF_ROBUST_ALL ? robust->n_outliers : robust->n_outliers - robust->n_disturbed;

    if (longest == NULL || (double)excess < DECISIVE * time) {
        return;
    }
    double share = percent((double)excess, time);
    wf_sim_warn(root,
                "few compute spans decide the prediction: %" PRIu64 " of %" PRIu64
                " took much longer than the same place in other ranks and iterations (rank "
                "%" PRIu32 ": %s, usually %s); without them it could be up to %.0f %% "
                "shorter",
                n, robust->places->n_spans, rank, wf_human_time(longest->duration, took),
                wf_human_time(longest->expected, usual), share < 100 ? share : 100);
}

static uint64_t removed_by(const struct wf_robust *robust)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < robust->n_outliers; i++) {
        const struct wf_robust_outlier *one = &robust->outliers[i];
        if (one->disturbed) {
            sum += (uint64_t)(one->duration - one->expected);
        }
    }
    return sum;
}

void wf_sim_spans_describe(const struct wf_robust *const *programs, uint32_t n,
                           uint64_t raw_time, struct wf_value *root)
{
    struct wf_value *section = wf_doc_section(root, "robust");
    double time = (double)wf_doc_get_count(root, "result.predicted_time_ps", 0);
    uint64_t spans = 0, places = 0, witnessed = 0, outliers = 0, disturbed = 0, removed = 0;

    for (uint32_t i = 0; i < n; i++) {
        spans += programs[i]->places->n_spans;
        places += programs[i]->places->n_places;
        witnessed += programs[i]->n_witnessed;
        outliers += programs[i]->n_outliers;
        disturbed += programs[i]->n_disturbed;
        removed += removed_by(programs[i]);
    }
    wf_doc_count(section, "spans", spans);
    wf_doc_count(section, "places", places);
    wf_doc_count(section, "witnessed_spans", witnessed);
    wf_doc_count(section, "outliers", outliers);
    wf_doc_count(section, "corrected_spans", disturbed);
    wf_doc_count(section, "removed_ps", removed);
    wf_doc_count(section, "raw_time_ps", raw_time);
    wf_doc_measured(section, "change_percent",
                    percent(time - (double)raw_time, (double)raw_time), PERCENT_DECIMALS);
    for (uint32_t i = 0; i < n; i++) {
        wf_sim_spans_warn(programs[i], WF_ROBUST_UNDISTURBED, root);
    }
}
