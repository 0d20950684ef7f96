/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Counts what a format cannot hold of a trace that is written in it. */

#include <stddef.h>
#include <stdint.h>

enum { WF_LOSSES_MAX = 24 };

struct wf_losses {
    uint32_t n;
    struct {
        const char *what; /* "sends of another mode, written as standard ones" */
        uint64_t count;
    } items[WF_LOSSES_MAX];
};

/* Counts one loss. `what` is a constant text; `losses` may be null. */
static inline void wf_losses_add(struct wf_losses *losses, const char *what)
{
    if (losses == NULL) {
        return;
    }
    uint32_t i = 0;
    while (i < losses->n && losses->items[i].what != what) {
        i++;
    }
    if (i == losses->n) {
        if (i == WF_LOSSES_MAX) {
            return;
        }
        losses->items[i].what = what;
        losses->items[i].count = 0;
        losses->n++;
    }
    losses->items[i].count++;
}
