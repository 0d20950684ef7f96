/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Generators of task graphs: message-driven programs whose tasks are computed on request, so
 * that half a million PEs need no memory. The generators of MPI programs are in program/gen/gen.h;
 * no name is in both lists.
 */

#include "program/ops/graph.h"

#define WF_GRAPH_GENERATOR(name) extern const struct wf_graph_ops wf_gen_##name##_ops;
#include "program/gen/graphs.def"

/* The registered generators in a fixed order, null-terminated. */
const struct wf_graph_ops *const *wf_gen_graph_table(void);

/* The generator called `name` ("leanmd"), or null. */
const struct wf_graph_ops *wf_gen_graph_find(const char *name);
