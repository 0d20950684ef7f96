/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How far a fitted model is from the measurements, and how uncertain its parameters are. */

#include "ui/study/calibration.h"

/* Sizes of messages, in bytes, by what determines their time. */
enum {
    WF_CALIBRATION_LARGE = 16 << 10, /* from here on the bandwidth */
    WF_CALIBRATION_SMALL = 1 << 10,  /* up to here latency and overhead */
    /* From here to there a token bucket, which passes them wholly or partly at once. */
    WF_CALIBRATION_BURST_FROM = 256,
    WF_CALIBRATION_BURST_TO = 8 << 10,
};

/* Sets the residuals of the model by pattern, the uncertainty of its fitted settings, and its own,
 * from model->predicted, which has the times of all measurements. */
void wf_calibration_add_errors(const struct wf_calibration *measured,
                               struct wf_calibration_model *model);
