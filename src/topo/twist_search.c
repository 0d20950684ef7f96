/* SPDX-License-Identifier: Apache-2.0 */
#include "topo/twist_search.h"

#include "base/mem.h"
#include "topo/topo.h"

#include <stdlib.h>
#include <string.h>

/* A search from one end: the nodes it has met, in the order of distance. Those from `head` on
 * are the farthest. */
struct front {
    uint32_t *queue;
    uint32_t head, tail;
    uint32_t depth;
    uint8_t mark;
};

/* Goes one step farther; whether it met the other search. */
static bool advance(const struct wf_twist_shape *shape, struct front *front, uint8_t *marks)
{
    uint32_t end = front->tail;

    front->depth++;
    for (; front->head < end; front->head++) {
        for (uint32_t port = 0; port < 2 * shape->n_dims; port++) {
            uint32_t to = wf_twist_step(shape, front->queue[front->head], port);
            if (to == WF_TOPO_NO_VERTEX || marks[to] == front->mark) {
                continue;
            }
            if (marks[to] != 0) {
                return true;
            }
            marks[to] = front->mark;
            front->queue[front->tail++] = to;
        }
    }
    return false;
}

/* Two searches meet in the middle. They go on by whole steps, so where they first meet is on a
 * shortest path: a shorter one would have led to a meeting a step before. */
uint32_t wf_twist_search(const struct wf_twist_shape *shape, uint32_t from, uint32_t to)
{
    if (from == to) {
        return 0;
    }
    uint8_t *marks = wf_xcalloc(shape->n_nodes, sizeof(*marks));
    struct front fronts[2] = {{.tail = 1, .mark = 1}, {.tail = 1, .mark = 2}};
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t start = i == 0 ? from : to;
        fronts[i].queue = wf_xmalloc(shape->n_nodes * sizeof(*fronts[i].queue));
        fronts[i].queue[0] = start;
        marks[start] = fronts[i].mark;
    }
    bool met = false;
    while (!met) {
        uint32_t ahead[2] = {fronts[0].tail - fronts[0].head, fronts[1].tail - fronts[1].head};
        met = advance(shape, &fronts[ahead[0] <= ahead[1] ? 0 : 1], marks);
    }
    free(fronts[0].queue);
    free(fronts[1].queue);
    free(marks);
    return fronts[0].depth + fronts[1].depth;
}

/* All links, so that searches from all nodes need not compute them again. */
static uint32_t *list_links(const struct wf_twist_shape *shape)
{
    uint32_t n_ports = 2 * shape->n_dims;
    uint32_t *links = wf_xmalloc((size_t)shape->n_nodes * n_ports * sizeof(*links));

    for (uint32_t node = 0; node < shape->n_nodes; node++) {
        for (uint32_t port = 0; port < n_ports; port++) {
            uint32_t to = wf_twist_step(shape, node, port);
            links[(size_t)node * n_ports + port] = to == WF_TOPO_NO_VERTEX ? node : to;
        }
    }
    return links;
}

/* What a search from one node uses. */
struct scratch {
    uint32_t n_nodes, n_ports;
    uint32_t *links, *queue;
    uint8_t *seen;
};

/* Adds `weight` to counts[d] for each node at distance d; returns the largest d. */
static uint32_t count_from(struct scratch *s, uint32_t src, uint64_t weight, uint64_t *counts)
{
    uint32_t head = 0, tail = 1, distance = 0;

    memset(s->seen, 0, s->n_nodes);
    s->seen[src] = 1;
    s->queue[0] = src;
    for (;; distance++) {
        uint32_t end = tail;
        counts[distance] += weight * (end - head);
        for (; head < end; head++) {
            const uint32_t *links = s->links + (size_t)s->queue[head] * s->n_ports;
            for (uint32_t port = 0; port < s->n_ports; port++) {
                s->queue[tail] = links[port];
                tail += s->seen[links[port]] ^ 1U;
                s->seen[links[port]] = 1;
            }
        }
        if (tail == end) {
            return distance;
        }
    }
}

uint64_t *wf_twist_search_counts(const struct wf_twist_shape *shape, uint32_t *n)
{
    uint32_t n_nodes = shape->n_nodes, most = 0;
    struct scratch scratch = {
        .n_nodes = n_nodes,
        .n_ports = 2 * shape->n_dims,
        .links = list_links(shape),
        /* One more: what is found again is written, then overwritten. */
        .queue = wf_xmalloc(((size_t)n_nodes + 1) * sizeof(*scratch.queue)),
        .seen = wf_xmalloc(n_nodes),
    };
    uint64_t *counts = wf_xcalloc(n_nodes, sizeof(*counts));

    /* Turning every dimension around changes nothing, and makes node i node n - 1 - i. */
    for (uint32_t src = 0; src < n_nodes - n_nodes / 2; src++) {
        uint64_t weight = src == n_nodes - 1 - src ? 1 : 2;
        uint32_t far = count_from(&scratch, src, weight, counts);
        most = far > most ? far : most;
    }
    free(scratch.links);
    free(scratch.queue);
    free(scratch.seen);
    *n = most + 1;
    return counts;
}
