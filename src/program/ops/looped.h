/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A source that plays another one whose loops are repeated: what is between the begin and the end
 * of each region whose name begins with "TRACER_Loop". Loops are not nested: an inner loop is a
 * part of the outer one.
 */

#include "program/ops/source.h"

#define WF_LOOPED_REGION "TRACER_Loop"

/* Makes a source that plays `inner` and owns it, with every loop `times` >= 1 times. The source
 * keeps where the loops of each rank begin: 24 bytes each. `inner` must not be live, and must not
 * play parts of another source (program/ops/roi.h). */
struct wf_source *wf_looped_new(struct wf_source *inner, uint32_t times);
