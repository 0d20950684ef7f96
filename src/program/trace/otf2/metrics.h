/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Metrics of an OTF2 archive that measure time, such as the processor time that the system counts
 * for a process. Their increase between calls can be the computing of a rank, instead of the time
 * that the clock shows: if ranks shared processors with others, it is right and the clock is not.
 *
 * Only metrics count whose unit is one of time and whose values are sums since the beginning.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_otf2_metric {
    uint32_t id, name, unit; /* name and unit: numbers of strings */
    bool grows;              /* values are sums since the beginning */
    double factor;           /* values are in so many units */
    double ps;               /* of 1 in a value; 0: it is no time that grows */
    bool is_used;
};

/* Metrics whose values one event has. */
struct wf_otf2_metric_class {
    uint32_t id, n;
    uint64_t *members; /* ids */
};

struct wf_otf2_metrics {
    struct wf_otf2_metric *metrics;
    struct wf_otf2_metric_class *classes;
    uint32_t n_metrics, n_classes, metrics_capacity, classes_capacity;
    uint32_t n_used;
};

struct wf_otf2_defs;

void wf_otf2_metrics_fini(struct wf_otf2_metrics *metrics);

/* All definitions are there, and strings can be found. */
void wf_otf2_metrics_finish(struct wf_otf2_defs *defs);

/* Computing is the sum of these metrics, whose names + separates; "" is none. WF_EINVAL if the
 * archive does not have one of them. */
void wf_otf2_metrics_use(struct wf_otf2_defs *defs, const char *names, const char *path,
                         struct wf_err *err);

/* Writes the names of metrics that can be used, at most `size` bytes; "" if there are none. */
void wf_otf2_metrics_list(const struct wf_otf2_defs *defs, char *text, size_t size);

/* The class with this id, and a metric; null if there is none. */
const struct wf_otf2_metric_class *wf_otf2_metrics_class(const struct wf_otf2_metrics *metrics,
                                                         uint32_t id);
const struct wf_otf2_metric *wf_otf2_metrics_find(const struct wf_otf2_metrics *metrics,
                                                  uint32_t id);
