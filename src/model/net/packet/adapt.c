/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that are routed as a whole. At each vertex where a policy has a choice, the first packet
 * of a message chooses, and the others follow it. The vertex remembers the choice until the last
 * packet has come. A message of one packet, and a message that has no choice, leave no trace. A
 * route with a detour may lead to a vertex twice; it is another choice then.
 *
 * After a failure packets may come that their message's first packet did not precede, or followed
 * long ago: they choose for themselves. A choice does not outlive the network that it was made in.
 */
#include "model/net/packet/hop.h"

/* The choice of a message in progress. */
struct unit {
    uint32_t next; /* cell: another one with the same key */
    uint32_t src, dst, number;
    uint32_t port;
    uint32_t epoch; /* with failures in time: of the network that the choice was made in */
    struct wf_route_state in, out; /* of the packets on arrival and afterwards */
};

size_t wf_packet_adapt_size(void)
{
    return sizeof(struct wf_cellmap);
}

void wf_packet_adapt_cells(struct wf_engine *engine)
{
    wf_engine_cells(engine, WF_CELLMAP_CELL_SIZE);
    wf_engine_cells(engine, sizeof(struct unit));
}

/* Key of a message -> cell of its struct unit. It is the last thing that a vertex keeps. */
static struct wf_cellmap *units_of(const struct wf_packet_view *view)
{
    size_t end = view->node != NULL ? view->model->ports_size : view->model->other_size;

    return (void *)((unsigned char *)view->ports + end - sizeof(struct wf_cellmap));
}

static bool same_route(const struct wf_route_state *a, const struct wf_route_state *b)
{
    return a->via == b->via && a->vcs.vc == b->vcs.vc && a->vcs.hops == b->vcs.hops &&
           a->vcs.hop == b->vcs.hop && a->vcs.turn == b->vcs.turn;
}

static bool is_of(const struct unit *unit, const struct wf_packet_head *head)
{
    return unit->src == head->src && unit->dst == head->dst && unit->number == head->number &&
           same_route(&unit->in, &head->route);
}

/* Different messages may have one key. It is never UINT32_MAX. */
static uint32_t key_of(const struct wf_packet_head *head)
{
    uint64_t pair = (uint64_t)head->src << 32 | head->dst;

    return (uint32_t)(wf_rng_mix(pair + head->number * WF_RNG_GOLDEN) >> 33);
}

static uint32_t epoch_now(const struct wf_packet_view *view)
{
    const struct wf_fault_plan *faults = view->model->faults;

    return faults == NULL ? 0 : wf_fault_epoch(faults, view->key.time);
}

static const struct unit *look(const struct wf_packet_view *view, uint32_t cell)
{
    return wf_cell_read(view->ctx, cell);
}

static uint32_t find_unit(const struct wf_packet_view *view, const struct wf_packet_head *head)
{
    const struct wf_cellmap *units = units_of(view);
    uint32_t cell = units->root == 0 ? 0 : wf_cellmap_get(view->ctx, units, key_of(head));

    while (cell != 0 && !is_of(look(view, cell), head)) {
        cell = look(view, cell)->next;
    }
    return cell;
}

/* Begins a unit for packets with this header; returns its cell. */
static uint32_t begin(const struct wf_packet_view *view, const struct wf_packet_head *head)
{
    struct wf_cellmap *units = units_of(view);
    uint32_t cell = wf_cell_new_for(view->ctx, sizeof(struct unit)), key = key_of(head);
    uint32_t other = wf_cellmap_get(view->ctx, units, key);
    struct unit *unit = wf_cell_edit(view->ctx, cell);

    unit->next = other;
    unit->src = head->src;
    unit->dst = head->dst;
    unit->number = head->number;
    unit->in = head->route;
    wf_touch(view->ctx, units, sizeof(*units));
    if (other != 0) {
        *wf_cellmap_edit(view->ctx, units, key) = cell;
    } else {
        wf_cellmap_put(view->ctx, units, key, cell);
    }
    return cell;
}

static void end(const struct wf_packet_view *view, const struct wf_packet_head *head,
                uint32_t cell)
{
    struct wf_cellmap *units = units_of(view);
    uint32_t key = key_of(head), next = look(view, cell)->next;
    uint32_t at = wf_cellmap_get(view->ctx, units, key);

    wf_touch(view->ctx, units, sizeof(*units));
    if (at == cell && next == 0) {
        (void)wf_cellmap_take(view->ctx, units, key);
    } else if (at == cell) {
        *wf_cellmap_edit(view->ctx, units, key) = next;
    } else {
        while (look(view, at)->next != cell) {
            at = look(view, at)->next;
        }
        ((struct unit *)wf_cell_edit(view->ctx, at))->next = next;
    }
    wf_cell_free(view->ctx, cell);
}

uint32_t wf_packet_adapt_port(const struct wf_packet_view *view, struct wf_packet_run *run,
                              const struct wf_topo *topo, const struct wf_route *route)
{
    const struct wf_packet_head in = run->head;
    bool is_first = run->first == 0, is_last = run->msg != NULL, chooses = false;
    uint32_t cell = is_first && is_last ? 0 : find_unit(view, &in), port;

    if (cell != 0 && look(view, cell)->epoch == epoch_now(view)) {
        port = look(view, cell)->port;
        run->head.route = look(view, cell)->out;
    } else {
        port = wf_packet_choose_port(view, &run->head, topo, route, &chooses);
        cell = cell == 0 && chooses && is_first && !is_last ? begin(view, &in) : cell;
        if (cell != 0) {
            struct unit *unit = wf_cell_edit(view->ctx, cell);
            unit->port = port;
            unit->epoch = epoch_now(view);
            unit->out = run->head.route;
        }
    }
    if (cell != 0 && is_last) {
        end(view, &in, cell);
    }
    return port;
}
