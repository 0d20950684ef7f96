/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The picture of the topology in a report. */

#include "result/doc.h"

/* A document for struct wf_write_options.extra, which the caller frees. It has the topology of
 * the scenario as `picture`, if it can be built and drawn. */
struct wf_value *wf_study_picture(const struct wf_value *doc);

/* Whether all links of that topology fit into a report. */
bool wf_study_picture_is_small(const char *topology);
