/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The picture of the topology in a report. */

#include "base/result/doc.h"

/* Adds the topology of the scenario to `extra` as `picture`, if it can be built and drawn. */
void wf_study_picture(const struct wf_value *doc, struct wf_value *extra);

/* Whether all links of that topology fit into a report. */
bool wf_study_picture_is_small(const char *topology);
