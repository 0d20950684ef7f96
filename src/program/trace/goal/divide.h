/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Where the text of a GOAL schedule can be divided, so that several workers read it. */

#include <stdint.h>

/* Bytes of the file. */
struct wf_goal_part {
    uint64_t begin, end;
};

/* Divides the file from byte `begin` on, at lines that look like the first of a rank: "rank 3 {".
 * Returns the number of parts, one for each worker, at most WF_TRACE_WORKERS_MAX; 1 if the file is
 * short, or such lines are not found.
 *
 * Only who reads the parts finds out whether the places are right: such a line may also be in a
 * comment. Then the part before it ends within this comment, which is an error. */
uint32_t wf_goal_divide(const char *path, uint64_t begin, struct wf_goal_part *parts);
