/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* How the rules (net/router/rules) read the state of a router that is executed by events. */

#include "model/net/router/events/model.h"

/* Cycles, as rules count them. */
static inline uint32_t wf_router_cycles(int64_t cycles)
{
    return cycles <= 0 ? 0 : cycles < WF_ROUTER_LONG ? (uint32_t)cycles : WF_ROUTER_LONG;
}

WF_ROUTER_READ struct wf_router_channel_now wf_router_read_channel(const void *router,
                                                                   uint32_t channel)
{
    const struct wf_router_view *view = router;
    const struct wf_router_channel *c = &view->channels[channel];
    const struct wf_router_link_kind *kind =
        wf_router_kind(view->model, view->vertex, channel / view->model->rules.vcs);

    return (struct wf_router_channel_now){.used = c->used,
                                          .capacity = kind->queue,
                                          .pace = kind->pace,
                                          .free_in = wf_router_cycles(c->free - view->now),
                                          .is_held = c->holder != 0};
}

static inline uint32_t wf_router_since_left(const struct wf_router_view *view,
                                            const struct wf_router_input *input)
{
    return input->leave == 0 ? WF_ROUTER_LONG
                             : wf_router_cycles(view->now - (input->leave - 1));
}

WF_ROUTER_READ struct wf_router_queue_now wf_router_read_queue(const void *router,
                                                               uint32_t number)
{
    const struct wf_router_view *view = router;
    const struct wf_router_input *input = &view->inputs[number];
    const struct wf_router_link_kind *link =
        wf_router_kind_in(view->model, view->vertex, number / view->model->rules.vcs);

    return (struct wf_router_queue_now){.n = input->n,
                                        .since_head = wf_router_cycles(view->now - input->head),
                                        .since_left = wf_router_since_left(view, input),
                                        .pace = input->pace,
                                        .link_pace = link->pace,
                                        .capacity = link->queue};
}

WF_ROUTER_READ void wf_router_note_wanted(const void *router, uint32_t channel)
{
    const struct wf_router_view *view = router;
    struct wf_router_channel *c = &view->channels[channel];

    if (c->wanted == 0) {
        wf_touch(view->ctx, c, sizeof(*c));
        c->wanted = 1;
    }
}

WF_ROUTER_READ uint64_t wf_router_read_first(const void *router, uint32_t number,
                                             enum wf_router_fact what)
{
    const struct wf_router_view *view = router;
    const struct wf_router_input *input = &view->inputs[number];

    if (what == WF_ROUTER_BORN) {
        const struct wf_router_cell *entry = wf_cell_read(view->ctx, input->first);
        return (uint64_t)entry->packet.born;
    }
    return what == WF_ROUTER_ASKED ? (uint64_t)input->asked : input->n;
}

static const struct wf_router_reads wf_router_reads_of_events = {
    .channel = wf_router_read_channel,
    .queue = wf_router_read_queue,
    .want = wf_router_note_wanted,
    .first = wf_router_read_first,
};

WF_ROUTER_RULE struct wf_router_here wf_router_here(const struct wf_router_view *view)
{
    return (struct wf_router_here){.rules = &view->model->rules,
                                   .reads = &wf_router_reads_of_events,
                                   .router = view,
                                   .vertex = view->vertex,
                                   .cycle = (uint64_t)view->now};
}

/* Cycles until the first packet of a queue may request a channel. */
WF_ROUTER_RULE uint32_t wf_router_ready(const struct wf_router_view *view,
                                        const struct wf_router_input *input)
{
    return wf_router_ready_in(&view->model->rules, wf_router_since_left(view, input),
                              input->pace);
}
