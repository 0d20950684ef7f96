/* SPDX-License-Identifier: Apache-2.0 */
#include "net/wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NOT_FOUND = -1, WORDS_MAX = 12 };

static int compare(const struct wf_wait_queue *a, const struct wf_wait_queue *b)
{
    if (a->vertex != b->vertex) {
        return a->vertex < b->vertex ? -1 : 1;
    }
    if (a->port != b->port) {
        return a->port < b->port ? -1 : 1;
    }
    return a->vc < b->vc ? -1 : a->vc > b->vc;
}

void wf_waits_add(struct wf_waits *waits, const struct wf_wait *wait)
{
    uint32_t at = waits->n;

    while (at > 0 && compare(&wait->queue, &waits->at[at - 1].queue) < 0) {
        at--;
    }
    if (at == WF_WAITS_MAX) {
        return;
    }
    uint32_t moved = (waits->n < WF_WAITS_MAX ? waits->n : WF_WAITS_MAX - 1) - at;
    memmove(&waits->at[at + 1], &waits->at[at], moved * sizeof(waits->at[0]));
    waits->at[at] = *wait;
    waits->n += waits->n < WF_WAITS_MAX;
}

static int find(const struct wf_waits *waits, const struct wf_wait_queue *queue)
{
    uint32_t low = 0, high = waits->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int by = compare(queue, &waits->at[middle].queue);
        if (by == 0) {
            return (int)middle;
        }
        if (by < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NOT_FOUND;
}

static bool waits_for_ever(const struct wf_waits *waits, const struct wf_wait *wait)
{
    for (uint32_t i = 0; i < wait->n; i++) {
        int at = find(waits, &wait->targets[i]);
        if (at == NOT_FOUND || waits->at[at].is_full == 0) {
            return false;
        }
    }
    return wait->n > 0;
}

void wf_waits_prune(struct wf_waits *waits)
{
    for (bool changed = true; changed;) {
        uint32_t kept = 0;
        changed = false;
        /* Marks first: the search needs the order. */
        for (uint32_t i = 0; i < waits->n; i++) {
            if (!waits_for_ever(waits, &waits->at[i])) {
                waits->at[i].n = 0;
                waits->at[i].is_full = 0;
                changed = true;
            }
        }
        for (uint32_t i = 0; i < waits->n; i++) {
            if (waits->at[i].n > 0) {
                waits->at[kept++] = waits->at[i];
            }
        }
        waits->n = kept;
    }
}

bool wf_waits_circle(const struct wf_waits *waits, char *buf, size_t size)
{
    size_t used = 0;
    int at = 0;

    if (waits->n == 0) {
        return false;
    }
    for (uint32_t i = 0; i < waits->n; i++) { /* by then it goes around */
        at = find(waits, &waits->at[at].targets[0]);
    }
    int first = at;
    uint32_t words = 0;
    buf[0] = '\0';
    do {
        const struct wf_wait_queue *q = &waits->at[at].queue;
        if (words++ < WORDS_MAX && used < size) {
            used +=
                (size_t)snprintf(buf + used, size - used,
                                 "router %" PRIu32 " port %" PRIu32 " channel %" PRIu32 " -> ",
                                 q->vertex, q->port, q->vc);
        }
        at = find(waits, &waits->at[at].targets[0]);
    } while (at != first);
    if (used < size) {
        (void)snprintf(buf + used, size - used, "%s",
                       words > WORDS_MAX ? "..." : "the first again");
    }
    return true;
}
