/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The notation of topologies:
 *
 *   spec  = level { "/" level }              outermost network first
 *   level = kind [ ":" item { "," item } ]
 *   item  = value | key "=" value | key      the value of the kind's first parameter, if it is
 *                                            the first item; a parameter; a flag that is set
 *
 * Any other item belongs to the value before it: "wrap=1,0,1" needs no quotes. A "/" separates
 * levels only if a letter follows it, or, after a path, the name of a topology and a ":".
 * Vectors ("jump=4/0") and paths ("graph:nets/a.dot") need no quotes either. A parameter that
 * is given twice is an error.
 *
 * Each node of an outer network is a whole copy of the next inner one (model/topo/nested.h).
 */

#include "model/topo/topo.h"

/* One level of a spec. */
struct wf_topo_spec_level {
    const struct wf_topo_ops *ops;
    const char *text; /* where it begins in the spec */
    size_t len;
};

/* Finds the level that begins at *at (0 at first) and moves *at to its end. At the end of
 * the spec level->ops is null. An unknown kind is WF_EINVAL; the message proposes the
 * nearest one. */
enum wf_status wf_topo_spec_next(const char *spec, size_t *at, struct wf_topo_spec_level *level,
                                 struct wf_err *err);

/* Builds the topology of one level. Ownership as in ops->create. */
enum wf_status wf_topo_spec_create(const struct wf_topo_spec_level *level, struct wf_topo **out,
                                   struct wf_err *err);
