/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How far a network model was from what `weft calibrate` measured: `residuals` in a machine
 * file. They describe the file and have no effect on predictions. */

#include "base/param.h"

/* The errors of a model over all sizes of one pattern of messages. */
struct wf_machine_residual {
    char *model, *pattern;
    double mean_percent, worst_percent;
};

/* The members that a file sets. */
extern const struct wf_param wf_machine_residual_params[];
