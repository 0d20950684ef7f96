/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_GOAL_LABELS_H
#define WF_TRACE_GOAL_LABELS_H

/* The labels of a rank in a GOAL schedule. A zeroed struct has none. */

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define WF_GOAL_UNDEFINED UINT32_MAX

struct wf_goal_label {
    uint64_t name; /* its place among the names */
    uint32_t op;   /* or WF_GOAL_UNDEFINED */
};

struct wf_goal_labels {
    struct wf_buf names;
    struct wf_goal_label *items;
    uint32_t n, room;
    uint32_t *table; /* of items, by a hash of their names */
    uint32_t n_table;
};

void wf_goal_labels_fini(struct wf_goal_labels *labels);
void wf_goal_labels_clear(struct wf_goal_labels *labels);

/* The number of the label with this name, which may be new: then its op is undefined. */
uint32_t wf_goal_labels_find(struct wf_goal_labels *labels, const char *name);

const char *wf_goal_labels_name(const struct wf_goal_labels *labels, uint32_t label);

#endif
