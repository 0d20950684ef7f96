/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/goal/progress.h"

#include "base/mem.h"

#include <stdlib.h>

#define NOBODY UINT32_MAX

struct rank {
    uint64_t at;      /* the receive at which it is */
    uint32_t begun;   /* segments that it has begun; UINT32_MAX: all */
    uint32_t waiters; /* the first rank that waits for this one, or NOBODY... */
    uint32_t next;    /* ...and another that waits for the same as this one */
};

/* Goes on with a rank until it waits for another or ends. */
static void advance(struct rank *all, uint32_t number, const struct wf_goal_needs *needs)
{
    struct rank *rank = &all[number];

    for (; rank->at < needs->n; rank->at++) {
        const struct wf_goal_need *need = &needs->items[rank->at];
        struct rank *peer = &all[need->peer];

        rank->begun = need->segment + 1;
        if (peer->begun < need->begun) {
            rank->next = peer->waiters;
            peer->waiters = number;
            return;
        }
    }
    rank->begun = UINT32_MAX;
}

/* How often ranks may be looked at. Ranks that wait for a late segment of one with many segments
 * are woken in vain at each of them: such schedules are left to matching in order. */
static uint64_t looks_max(const struct wf_goal_needs *ranks, uint32_t n_ranks)
{
    uint64_t n = n_ranks;

    for (uint32_t i = 0; i < n_ranks; i++) {
        n += ranks[i].n;
    }
    return 8 * n;
}

bool wf_goal_can_end(const struct wf_goal_needs *ranks, uint32_t n_ranks)
{
    uint64_t looks = looks_max(ranks, n_ranks);
    struct rank *all = wf_xmalloc(n_ranks * sizeof(*all));
    uint32_t *ready = wf_xmalloc(n_ranks * sizeof(*ready)); /* a stack: a rank is in it once */
    uint32_t n_ready = 0;
    bool can_end = true;

    for (uint32_t i = n_ranks; i-- > 0;) {
        all[i] = (struct rank){.begun = 1, .waiters = NOBODY};
        ready[n_ready++] = i;
    }
    while (n_ready > 0 && looks-- > 0) {
        uint32_t number = ready[--n_ready], before = all[number].begun;
        advance(all, number, &ranks[number]);
        /* A rank that waits for itself never goes on. */
        if (all[number].begun > before) {
            for (uint32_t i = all[number].waiters; i != NOBODY; i = all[i].next) {
                ready[n_ready++] = i;
            }
            all[number].waiters = NOBODY;
        }
    }
    for (uint32_t i = 0; i < n_ranks && can_end; i++) {
        can_end = all[i].begun == UINT32_MAX;
    }
    free(all);
    free(ready);
    return can_end;
}
