/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_TWIST_SEARCH_H
#define WF_TOPO_TWIST_SEARCH_H

/* Distances in a twisted box by search: always right, never quick. */

#include "topo/twist.h"

/* The distance between two nodes. Safe from any thread: what it needs it allocates. */
uint32_t wf_twist_search(const struct wf_twist_shape *shape, uint32_t from, uint32_t to);

/* As of wf_twist_counts(). */
uint64_t *wf_twist_search_counts(const struct wf_twist_shape *shape, uint32_t *n);

#endif
