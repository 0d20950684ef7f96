/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TESTS_HARNESS_ROUTE_CYCLE_H
#define WF_TESTS_HARNESS_ROUTE_CYCLE_H

#include "harness/route_set.h"

#include <stdbool.h>

static int route_by_first(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return x[0] < y[0] ? -1 : x[0] > y[0];
}

/* Whether the edges have a cycle: takes away channels that nothing leads to, until none is left
 * or all that are left are on cycles or behind them. */
static inline bool route_has_cycle(struct route_set *edges)
{
    uint64_t(*list)[2] = malloc((edges->n + 1) * sizeof(*list));
    struct route_set number, first;
    size_t n = 0, head = 0, tail = 0;

    route_set_init(&number, 64);
    route_set_init(&first, 64);
    for (size_t i = 0; i < edges->slots; i++) {
        if (edges->keys[i][0] != UINT64_MAX) {
            memcpy(list[n++], edges->keys[i], sizeof(*list));
        }
    }
    qsort(list, n, sizeof(*list), route_by_first);
    for (size_t i = n; i-- > 0;) {
        *route_set_find(&first, list[i][0], 0) = (uint32_t)i + 1;
        (void)route_set_find(&number, list[i][0], 0);
        (*route_set_find(&number, list[i][1], 0))++;
    }
    size_t n_channels = number.n;
    uint64_t *queue = malloc((n_channels + 1) * sizeof(*queue));
    for (size_t i = 0; i < number.slots; i++) {
        if (number.keys[i][0] != UINT64_MAX && number.values[i] == 0) {
            queue[tail++] = number.keys[i][0];
        }
    }
    while (head < tail) {
        uint64_t channel = queue[head++];
        uint32_t begin = *route_set_find(&first, channel, 0);
        for (size_t i = begin; i > 0 && i <= n && list[i - 1][0] == channel; i++) {
            if (--*route_set_find(&number, list[i - 1][1], 0) == 0) {
                queue[tail++] = list[i - 1][1];
            }
        }
    }
    free(list);
    free(queue);
    route_set_fini(&number);
    route_set_fini(&first);
    return tail != n_channels;
}

#endif
