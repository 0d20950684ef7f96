/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/goal/labels.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void wf_goal_labels_fini(struct wf_goal_labels *labels)
{
    wf_buf_fini(&labels->names);
    free(labels->items);
    free(labels->table);
    *labels = (struct wf_goal_labels){.n = 0};
}

void wf_goal_labels_clear(struct wf_goal_labels *labels)
{
    labels->names.size = 0;
    labels->n = 0;
    if (labels->n_table > 0) {
        memset(labels->table, 0xff, labels->n_table * sizeof(*labels->table));
    }
}

const char *wf_goal_labels_name(const struct wf_goal_labels *labels, uint32_t label)
{
    return (const char *)labels->names.data + labels->items[label].name;
}

static uint32_t hash(const char *name)
{
    uint32_t value = 2166136261U;

    for (; *name != '\0'; name++) {
        value = (value ^ (unsigned char)*name) * 16777619U;
    }
    return value ^ value >> 15;
}

/* The place of a name in the table, or the free one where it belongs. */
static uint32_t *find_place(const struct wf_goal_labels *labels, const char *name)
{
    uint32_t at = hash(name);
    uint32_t *place = &labels->table[at & (labels->n_table - 1)];

    while (*place != UINT32_MAX && strcmp(wf_goal_labels_name(labels, *place), name) != 0) {
        place = &labels->table[++at & (labels->n_table - 1)];
    }
    return place;
}

static void grow(struct wf_goal_labels *labels)
{
    labels->n_table = labels->n_table == 0 ? 64 : labels->n_table * 2;
    labels->table = wf_xrealloc(labels->table, labels->n_table, sizeof(*labels->table));
    memset(labels->table, 0xff, labels->n_table * sizeof(*labels->table));
    for (uint32_t i = 0; i < labels->n; i++) {
        *find_place(labels, wf_goal_labels_name(labels, i)) = i;
    }
}

uint32_t wf_goal_labels_find(struct wf_goal_labels *labels, const char *name)
{
    if (labels->n * 2 >= labels->n_table) {
        grow(labels);
    }
    uint32_t *place = find_place(labels, name);
    if (*place != UINT32_MAX) {
        return *place;
    }
    if (labels->n == labels->room) {
        labels->room = labels->room * 2 + 16;
        labels->items = wf_xrealloc(labels->items, labels->room, sizeof(*labels->items));
    }
    labels->items[labels->n] =
        (struct wf_goal_label){.name = labels->names.size, .op = WF_GOAL_UNDEFINED};
    wf_buf_append(&labels->names, name, strlen(name) + 1);
    *place = labels->n;
    return labels->n++;
}
