/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The items of net.fail with their times. Private to net/fault. */

#include "model/topo/damage.h"

enum { WF_FAULT_ITEM_MAX = 64 };

struct wf_fault_item {
    char text[WF_FAULT_ITEM_MAX]; /* as the user wrote it */
    bool has_time;
    int64_t from, until; /* WF_TIME_MAX: for good */
    uint32_t *links;     /* numbers of directed links, ascending */
    uint32_t *vertices;  /* failed vertices, ascending; their links are not in `links` */
    uint32_t n_links, n_vertices;
    uint32_t n_all_links; /* directed links that fail, with those of the vertices */
};

struct wf_fault_items {
    struct wf_fault_item *at;
    uint32_t n, capacity;
};

/* Reads the text. WF_EINVAL names the item that makes no sense, cuts off a node from the start,
 * or fails again before it is repaired. The caller releases `items`, also after a failure. */
enum wf_status wf_fault_items_read(struct wf_fault_items *items, const struct wf_topo *topo,
                                   const char *text, struct wf_err *err);
void wf_fault_items_fini(struct wf_fault_items *items);

/* Whether a link fails with this item. */
bool wf_fault_item_has(const struct wf_fault_item *item, const struct wf_topo *topo,
                       uint32_t vertex, uint32_t port);
