/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Classes of links: sets of links that have a name, so that each set can get its own latency
 * and bandwidth. Grids have a class for each dimension, trees for each level, dragonflies the
 * classes terminal, local and global. In a hierarchy the classes of level n, 0 being the
 * outermost, are called n.<class>: "0.x", "1.terminal".
 */

#include "model/topo/topo.h"

/* Names for topologies: one for each of 8 dimensions; the same after "terminal"; one for each
 * level of links in a tree, the lowest being "terminal"; the same with "level0" instead; and
 * those of networks of groups. */
extern const char *const wf_topo_class_dimensions[];
extern const char *const wf_topo_class_terminal_dimensions[];
extern const char *const wf_topo_class_levels[];
extern const char *const wf_topo_class_node_levels[];
extern const char *const wf_topo_class_groups[];
enum { WF_TOPO_CLASS_LEVELS_MAX = 33, WF_TOPO_CLASS_NAME_MAX = 63 /* bytes, without level */ };

/* The classes of networks of groups. */
enum wf_topo_class_group {
    WF_TOPO_CLASS_TERMINAL, /* between a node and its router */
    WF_TOPO_CLASS_LOCAL,    /* within a group */
    WF_TOPO_CLASS_GLOBAL,   /* between groups */
    WF_TOPO_CLASS_GROUPS,
};

/* The number of classes, at least 1. */
uint32_t wf_topo_n_classes(const struct wf_topo *topo);
const char *wf_topo_class_name(const struct wf_topo *topo, uint32_t number);

/* ops->link_class or its default. */
static inline uint32_t wf_topo_link_class(const struct wf_topo *topo, uint32_t vertex,
                                          uint32_t port)
{
    return topo->ops->link_class != NULL ? topo->ops->link_class(topo, vertex, port) : 0;
}

/* The number of the class called `name`, of `length` bytes. In a hierarchy a name without a
 * level is enough if only one level has such a class. WF_EINVAL if there is no such class or
 * several: the message lists the names. `err` may be null. */
enum wf_status wf_topo_class_find(const struct wf_topo *topo, const char *name, size_t length,
                                  uint32_t *out, struct wf_err *err);
