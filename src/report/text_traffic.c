/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a text report about synthetic traffic and about links. */
#include "report/phrase.h"

#include <inttypes.h>

enum { FILLERS_MAX = 3 }; /* nodes that are named */

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

bool wf_text_line_load(const struct wf_value *doc, struct wf_phrase *out)
{
    if (wf_doc_find(doc, "result.accepted_load") == NULL) {
        return false;
    }
    wf_phrase_add(out, "%.5f offered, %.5f accepted, in phits per node and cycle%s",
                  real_of(doc, "result.offered_load"), real_of(doc, "result.accepted_load"),
                  truth_of(doc, "result.saturated") ? "; saturated" : "");
    return true;
}

bool wf_text_line_cycles(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *latency = wf_doc_find(doc, "result.latency_cycles");

    if (latency == NULL) {
        return false;
    }
    wf_phrase_add(out, "%.2f cycles mean", real_of(latency, "mean"));
    if (wf_doc_find(latency, "half_width") != NULL) {
        wf_phrase_add(out, ", +- %.2f with %g %% confidence", real_of(latency, "half_width"),
                      real_of(latency, "confidence_percent"));
        wf_phrase_add(out, "%s", truth_of(doc, "result.converged") ? "" : " (not converged)");
    }
    wf_phrase_add(out, "; 99 %% within %.0f, most %.0f", real_of(latency, "p99"),
                  real_of(latency, "max"));
    return true;
}

bool wf_text_line_links(const struct wf_value *doc, struct wf_phrase *out)
{
    if (wf_doc_find(doc, "result.network.mean_link_use") == NULL) {
        return false;
    }
    wf_phrase_add(out, "%.1f %% used, the busiest %.1f %%; %.3f hops a packet",
                  100 * real_of(doc, "result.network.mean_link_use"),
                  100 * real_of(doc, "result.network.busiest_link_use"),
                  real_of(doc, "result.network.mean_hops"));
    return true;
}

bool wf_text_line_hot_link(const struct wf_value *doc, struct wf_phrase *out)
{
    const struct wf_value *hot = wf_doc_find(doc, "result.network.hot_links");
    const struct wf_value *link = hot != NULL && hot->type == WF_VALUE_LIST ? hot->first : NULL;

    if (link == NULL) {
        return false;
    }
    const struct wf_value *by = wf_doc_find(link, "filled_by");
    uint64_t bytes = wf_doc_get_count(link, "bytes", 0), n = 0;
    bool exact = wf_doc_get_count(link, "filled_by_more_bytes", 0) == 0;

    wf_phrase_add(out, "from vertex %" PRIu64 " to %" PRIu64 ", busy for %.1f %% of the time",
                  wf_doc_get_count(link, "vertex", 0), wf_doc_get_count(link, "to", 0),
                  real_of(link, "busy_percent"));
    for (const struct wf_value *v = by != NULL ? by->first : NULL; v != NULL && n < FILLERS_MAX;
         v = v->next, n++) {
        double share =
            (double)wf_doc_get_count(v, "bytes", 0) / (double)(bytes > 0 ? bytes : 1);
        wf_phrase_add(out, "%s %" PRIu64 " (%s%.0f %%)", n == 0 ? "; filled by node" : ",",
                      wf_doc_get_count(v, "node", 0), exact ? "" : "at least ", 100 * share);
    }
    return true;
}
