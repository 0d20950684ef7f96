/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net/deadlock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NOT_FOUND = -1 };

int wf_net_queue_compare(const struct wf_net_queue *a, const struct wf_net_queue *b)
{
    if (a->vertex != b->vertex) {
        return a->vertex < b->vertex ? -1 : 1;
    }
    if (a->port != b->port) {
        return a->port < b->port ? -1 : 1;
    }
    return a->vc < b->vc ? -1 : a->vc > b->vc;
}

void wf_net_waits_add(struct wf_net_waits *waits, const struct wf_net_wait *wait)
{
    uint32_t at = waits->n;

    while (at > 0 && wf_net_queue_compare(&wait->queue, &waits->at[at - 1].queue) < 0) {
        at--;
    }
    if (at == WF_NET_WAITS_MAX) {
        return;
    }
    uint32_t moved = (waits->n < WF_NET_WAITS_MAX ? waits->n : WF_NET_WAITS_MAX - 1) - at;
    memmove(&waits->at[at + 1], &waits->at[at], moved * sizeof(waits->at[0]));
    waits->at[at] = *wait;
    waits->n += waits->n < WF_NET_WAITS_MAX;
}

static int wait_of_queue(const struct wf_net_wait *waits, uint32_t n,
                         const struct wf_net_queue *queue)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int by = wf_net_queue_compare(queue, &waits[middle].queue);
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

static bool waits_for_ever(const struct wf_net_wait *waits, uint32_t n,
                           const struct wf_net_wait *wait)
{
    for (uint32_t i = 0; i < wait->n; i++) {
        int at = wait_of_queue(waits, n, &wait->targets[i]);
        if (at == NOT_FOUND || waits[at].is_full == 0) {
            return false;
        }
    }
    return wait->n > 0;
}

uint32_t wf_net_waits_prune(struct wf_net_wait *waits, uint32_t n)
{
    for (bool changed = true; changed;) {
        uint32_t kept = 0;
        changed = false;
        /* Marking comes first: the search needs the sorted array. */
        for (uint32_t i = 0; i < n; i++) {
            if (!waits_for_ever(waits, n, &waits[i])) {
                waits[i].n = 0;
                waits[i].is_full = 0;
                changed = true;
            }
        }
        for (uint32_t i = 0; i < n; i++) {
            if (waits[i].n > 0) {
                waits[kept++] = waits[i];
            }
        }
        n = kept;
    }
    return n;
}

struct wf_net_deadlock wf_net_deadlock_find(const struct wf_net_wait *waits, uint32_t n)
{
    struct wf_net_deadlock deadlock = {.n = 0};
    int at = 0;

    if (n == 0) {
        return deadlock;
    }
    for (uint32_t i = 0; i < n; i++) { /* after n steps `at` is on a cycle */
        at = wait_of_queue(waits, n, &waits[at].targets[0]);
    }
    int first = at;
    do {
        if (deadlock.n < WF_NET_DEADLOCK_QUEUES) {
            deadlock.queues[deadlock.n] = waits[at].queue;
        }
        deadlock.n++;
        at = wait_of_queue(waits, n, &waits[at].targets[0]);
    } while (at != first);
    return deadlock;
}

const char *wf_net_deadlock_text(const struct wf_net_deadlock *deadlock, char *buf, size_t size)
{
    size_t used = 0;

    for (uint32_t i = 0; i < deadlock->n && i < WF_NET_DEADLOCK_QUEUES && used < size; i++) {
        const struct wf_net_queue *q = &deadlock->queues[i];
        used += (size_t)snprintf(buf + used, size - used,
                                 "router %" PRIu32 " port %u channel %u -> ", q->vertex,
                                 (unsigned)q->port, (unsigned)q->vc);
    }
    if (used < size && deadlock->n > WF_NET_DEADLOCK_QUEUES) {
        used += (size_t)snprintf(buf + used, size - used, "%" PRIu32 " more -> ",
                                 deadlock->n - WF_NET_DEADLOCK_QUEUES);
    }
    if (used < size) {
        (void)snprintf(buf + used, size - used, "the first again");
    }
    return buf;
}
