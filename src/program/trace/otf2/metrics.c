/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/otf2/metrics.h"

#include "base/lookup.h"
#include "program/trace/otf2/defs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wf_otf2_metrics_fini(struct wf_otf2_metrics *metrics)
{
    for (uint32_t i = 0; i < metrics->n_classes; i++) {
        free(metrics->classes[i].members);
    }
    free(metrics->metrics);
    free(metrics->classes);
}

/* The picoseconds of a unit; 0 if it is not one of time. */
static double ps_of(const char *unit)
{
    static const struct {
        const char *name;
        double ps;
    } units[] = {{"s", 1e12},   {"sec", 1e12}, {"ms", 1e9},   {"msec", 1e9},   {"us", 1e6},
                 {"usec", 1e6}, {"ns", 1e3},   {"nsec", 1e3}, {"\u00b5s", 1e6}};

    const size_t n = sizeof(units) / sizeof(units[0]);
    size_t i = WF_LOOKUP_INDEX(units, n, unit);

    return i < n ? units[i].ps : 0;
}

void wf_otf2_metrics_finish(struct wf_otf2_defs *defs)
{
    for (uint32_t i = 0; i < defs->metrics.n_metrics; i++) {
        struct wf_otf2_metric *metric = &defs->metrics.metrics[i];
        metric->ps = metric->grows
                         ? ps_of(wf_otf2_defs_string_at(defs, metric->unit)) * metric->factor
                         : 0;
    }
}

void wf_otf2_metrics_list(const struct wf_otf2_defs *defs, char *text, size_t size)
{
    size_t n = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < defs->metrics.n_metrics; i++) {
        const struct wf_otf2_metric *metric = &defs->metrics.metrics[i];
        if (metric->ps > 0 && n < size) {
            int more = snprintf(text + n, size - n, "%s%s", n > 0 ? ", " : "",
                                wf_otf2_defs_string_at(defs, metric->name));
            n += more > 0 ? (size_t)more : 0;
        }
    }
}

/* Uses the metrics with a name: each class may have its own. False if there is none. */
static bool use_name(struct wf_otf2_defs *defs, const char *name, size_t length)
{
    bool found = false;

    for (uint32_t i = 0; i < defs->metrics.n_metrics; i++) {
        struct wf_otf2_metric *metric = &defs->metrics.metrics[i];
        const char *own = wf_otf2_defs_string_at(defs, metric->name);
        if (metric->ps > 0 && strlen(own) == length && memcmp(own, name, length) == 0) {
            defs->metrics.n_used += metric->is_used ? 0 : 1;
            metric->is_used = true;
            found = true;
        }
    }
    return found;
}

void wf_otf2_metrics_use(struct wf_otf2_defs *defs, const char *names, const char *path,
                         struct wf_err *err)
{
    char known[200];

    while (*names != '\0' && err->status == WF_OK) {
        size_t length = strcspn(names, "+");
        if (!use_name(defs, names, length)) {
            wf_otf2_metrics_list(defs, known, sizeof(known));
            (void)wf_err_set(
                err, WF_EINVAL,
                "%.200s: no metric of any rank is called '%.*s' and counts time from "
                "the beginning; %s%s",
                path, length < 60 ? (int)length : 60, names,
                known[0] != '\0' ? "such are " : "there is no such metric", known);
        }
        names += length + (names[length] == '+' ? 1 : 0);
    }
}

const struct wf_otf2_metric_class *wf_otf2_metrics_class(const struct wf_otf2_metrics *metrics,
                                                         uint32_t id)
{
    for (uint32_t i = 0; i < metrics->n_classes; i++) {
        if (metrics->classes[i].id == id) {
            return &metrics->classes[i];
        }
    }
    return NULL;
}

const struct wf_otf2_metric *wf_otf2_metrics_find(const struct wf_otf2_metrics *metrics,
                                                  uint32_t id)
{
    for (uint32_t i = 0; i < metrics->n_metrics; i++) {
        if (metrics->metrics[i].id == id) {
            return &metrics->metrics[i];
        }
    }
    return NULL;
}
