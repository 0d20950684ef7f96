/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a text report about synthetic traffic. */
#include "report/phrase.h"

static double real_of(const struct wf_value *doc, const char *path)
{
    const struct wf_value *value = wf_doc_find(doc, path);

    return value != NULL && value->type == WF_VALUE_REAL ? value->real : 0;
}

static bool truth_of(const struct wf_value *doc, const char *path)
{
    const struct wf_value *value = wf_doc_find(doc, path);

    return value != NULL && value->type == WF_VALUE_BOOL && value->truth;
}

bool wf_word_load(const struct wf_value *doc, struct wf_phrase *out)
{
    if (wf_doc_find(doc, "result.accepted_load") == NULL) {
        return false;
    }
    wf_say(out, "%.5f offered, %.5f accepted, in phits per node and cycle%s",
           real_of(doc, "result.offered_load"), real_of(doc, "result.accepted_load"),
           truth_of(doc, "result.saturated") ? "; saturated" : "");
    return true;
}

bool wf_word_cycles(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *latency = wf_doc_find(doc, "result.latency_cycles");

    if (latency == NULL) {
        return false;
    }
    wf_say(out, "%.2f cycles mean", real_of(latency, "mean"));
    if (wf_doc_find(latency, "half_width") != NULL) {
        wf_say(out, ", +- %.2f with %g %% confidence", real_of(latency, "half_width"),
               real_of(latency, "confidence_percent"));
        wf_say(out, "%s", truth_of(doc, "result.converged") ? "" : " (not converged)");
    }
    wf_say(out, "; 99 %% within %.0f, most %.0f", real_of(latency, "p99"),
           real_of(latency, "max"));
    return true;
}

bool wf_word_links(const struct wf_value *doc, struct wf_phrase *out)
{
    if (wf_doc_find(doc, "result.network.mean_link_use") == NULL) {
        return false;
    }
    wf_say(out, "%.1f %% used, the busiest %.1f %%; %.3f hops a packet",
           100 * real_of(doc, "result.network.mean_link_use"),
           100 * real_of(doc, "result.network.busiest_link_use"),
           real_of(doc, "result.network.mean_hops"));
    return true;
}
