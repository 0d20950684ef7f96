/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_SPEC_H
#define WF_TOPO_SPEC_H

/*
 * How topologies are written:
 *
 *   spec  = level { "/" level }              outermost network first
 *   level = kind [ ":" item { "," item } ]
 *   item  = value | key "=" value | key      the value of the kind's first parameter, if it is
 *                                            the first item; a parameter; a flag that is set
 *
 * An item that is neither belongs to the value before it: "wrap=1,0,1" needs no quotes. A "/"
 * separates levels only where a letter follows, and behind a path only where the name of a
 * topology and a ":" do, so that vectors ("jump=4/0") and paths ("graph:nets/a.dot") need none
 * either. No parameter is given twice.
 *
 * Between a network and the one nested in it, each node of the outer one is a whole copy of the
 * inner one (topo/nested.h).
 */

#include "topo/topo.h"

/* One level of a spec. */
struct wf_topo_spec_level {
    const struct wf_topo_ops *ops;
    const char *text; /* where it begins in the spec */
    size_t len;
};

/* Finds the level that begins at *at (0 at first) and moves *at behind it; sets level->ops to
 * null at the end of the spec. An unknown kind is WF_EINVAL and proposes the nearest known one.
 */
WF_NODISCARD
enum wf_status wf_topo_spec_next(const char *spec, size_t *at, struct wf_topo_spec_level *level,
                                 struct wf_err *err);

/* Builds the topology of one level. Ownership as in ops->create. */
WF_NODISCARD
enum wf_status wf_topo_spec_create(const struct wf_topo_spec_level *level, struct wf_topo **out,
                                   struct wf_err *err);

#endif
