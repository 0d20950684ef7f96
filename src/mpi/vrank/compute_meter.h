/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Measures how long this thread computes: processor time or, where the system can count them,
 * instructions. */

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum wf_vrank_meter_kind {
    WF_VRANK_METER_NONE,
    WF_VRANK_METER_TIME,
    WF_VRANK_METER_INSTRUCTIONS
};

struct wf_vrank_meter {
    enum wf_vrank_meter_kind kind;
    double ps_per_unit;
    int64_t own; /* what a reading takes, in units */
};

/* Instructions are converted to time by `rate`, instructions per second. WF_EINVAL if they
 * cannot be counted here. */
enum wf_status wf_vrank_meter_init(struct wf_vrank_meter *meter, enum wf_vrank_meter_kind kind,
                                   double rate, struct wf_err *err);

/* A reading in nanoseconds or instructions. Only differences mean something. */
int64_t wf_vrank_meter_now(const struct wf_vrank_meter *meter);

/* Picoseconds since a reading, without what a reading takes; not negative. */
int64_t wf_vrank_meter_since(const struct wf_vrank_meter *meter, int64_t then);
