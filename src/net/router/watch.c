/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a router tells the detector: which of its first packets have not moved for long, as soon
 * as they have not and again when they do; and how many packets its node injected and consumed.
 * All do so in the same cycles, behind the decisions of the cycle; a router without packets
 * does nothing.
 */
#include "net/router/watch.h"

static void tell(const struct wf_router_view *view, int64_t cycles, uint16_t kind,
                 const void *payload, size_t size)
{
    const struct wf_router_net *model = view->model;
    int64_t at = (view->now + cycles) * model->set.cycle;

    wf_schedule(view->ctx, model->detector, at - wf_now(view->ctx), kind, payload, size);
}

/* Comes back in the next cycle that is a multiple of `every`: behind its decisions. */
static void come_back(const struct wf_router_view *view, uint64_t every, uint16_t kind)
{
    int64_t next = (view->now / (int64_t)every + 1) * (int64_t)every,
            cycle = view->model->set.cycle;

    if (next < WF_TIME_MAX / cycle) {
        wf_schedule(view->ctx, wf_self(view->ctx), next * cycle + 2 - wf_now(view->ctx), kind,
                    NULL, 0);
    }
}

void wf_router_watch(const struct wf_router_view *view)
{
    struct wf_router_head *head = view->head;

    if (head->watching == 0 && view->model->set.watchdog > 0) {
        wf_touch(view->ctx, head, sizeof(*head));
        head->watching = 1;
        come_back(view, view->model->set.watchdog, WF_ROUTER_WATCH);
    }
}

/* Since when the first packet of a queue has been first. */
static int64_t first_since(const struct wf_router_view *view,
                           const struct wf_router_input *input)
{
    const struct wf_router_cell *entry = wf_cell_read(view->ctx, input->first);
    int64_t left = input->leave == 0 ? 0 : input->leave - 1;

    return entry->at > left ? entry->at : left;
}

/* Whether it is too early to say something of the first packet of a queue. */
static bool look_at(const struct wf_router_view *view, uint32_t number)
{
    struct wf_router_input *input = &view->inputs[number];
    struct wf_net_wait wait;

    if (view->now - first_since(view, input) < (int64_t)view->model->set.watchdog) {
        return true;
    }
    if (!wf_router_is_blocked(view, number, &wait)) {
        return false;
    }
    uint8_t known =
        (uint8_t)(WF_ROUTER_IS_BLOCKED | (wait.is_full != 0 ? WF_ROUTER_IS_FULL : 0));
    if (known != input->blocked) {
        input = wf_router_edit_input(view, number);
        input->blocked = known;
        tell(view, wf_router_to_detector(view->model), WF_ROUTER_BLOCKED, &wait, sizeof(wait));
    }
    return false;
}

/* A router in which nothing happens is not looked at for ever: runs have to end. */
void wf_router_look(const struct wf_router_view *view)
{
    bool again = false;

    for (uint32_t w = 0; w < view->layout->n_words; w++) {
        for (uint64_t left = view->words[w]; left != 0; left &= left - 1) {
            again = look_at(view, w * 64 + (uint32_t)__builtin_ctzll(left)) || again;
        }
    }
    if (again) {
        come_back(view, view->model->set.watchdog, WF_ROUTER_WATCH);
    } else {
        wf_touch(view->ctx, view->head, sizeof(*view->head));
        view->head->watching = 0;
    }
}

void wf_router_unwatch(const struct wf_router_view *view, struct wf_router_input *input,
                       uint32_t number)
{
    const struct wf_net_queue queue = {view->vertex, (uint16_t)(number / view->model->vcs),
                                       (uint16_t)(number % view->model->vcs)};

    input->blocked = 0; /* the caller has announced it */
    tell(view, wf_router_to_detector(view->model), WF_ROUTER_MOVED, &queue, sizeof(queue));
}

void wf_router_counted(const struct wf_router_view *view)
{
    struct wf_router_head *head = view->head;

    if (view->model->packets_limit > 0 && head->reporting == 0) {
        wf_touch(view->ctx, head, sizeof(*head));
        head->reporting = 1;
        come_back(view, view->model->set.global_delay, WF_ROUTER_REPORT);
    }
}

void wf_router_report(const struct wf_router_view *view)
{
    struct wf_router_head *head = view->head;
    int64_t inside = (int64_t)(head->injected - head->consumed), change = inside - head->told;

    wf_touch(view->ctx, head, sizeof(*head));
    head->reporting = 0;
    head->told = inside;
    if (change != 0) {
        tell(view, (int64_t)view->model->set.global_delay / 2, WF_ROUTER_COUNT, &change,
             sizeof(change));
    }
}
