/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a router tells the overseer: which of its first packets have not moved for long, as soon
 * as they have not and again when they do; and how many packets its node injected and consumed.
 * All do so in the same cycles, behind the decisions of the cycle; a router without packets
 * does nothing.
 */
#include "net/router/watch.h"

static void tell(const struct wf_router_spot *spot, int64_t cycles, uint16_t kind,
                 const void *payload, size_t size)
{
    const struct wf_router_net *model = spot->model;
    int64_t at = (spot->now + cycles) * model->set.cycle;

    wf_schedule(spot->ctx, model->overseer, at - wf_now(spot->ctx), kind, payload, size);
}

/* Comes back in the next cycle that is a multiple of `every`: behind its decisions. */
static void come_back(const struct wf_router_spot *spot, uint64_t every, uint16_t kind)
{
    int64_t next = (spot->now / (int64_t)every + 1) * (int64_t)every,
            cycle = spot->model->set.cycle;

    if (next < WF_TIME_MAX / cycle) {
        wf_schedule(spot->ctx, wf_self(spot->ctx), next * cycle + 2 - wf_now(spot->ctx), kind,
                    NULL, 0);
    }
}

void wf_router_watch(const struct wf_router_spot *spot)
{
    struct wf_router_head *head = spot->head;

    if (head->watching == 0 && spot->model->set.watchdog > 0) {
        wf_touch(spot->ctx, head, sizeof(*head));
        head->watching = 1;
        come_back(spot, spot->model->set.watchdog, WF_ROUTER_WATCH);
    }
}

/* Since when the first packet of a queue has been first. */
static int64_t first_since(const struct wf_router_spot *spot,
                           const struct wf_router_input *input)
{
    const struct wf_router_cell *entry = wf_cell_read(spot->ctx, input->first);
    int64_t left = input->leave == 0 ? 0 : input->leave - 1;

    return entry->at > left ? entry->at : left;
}

/* Whether it is too early to say something of the first packet of a queue. */
static bool look_at(const struct wf_router_spot *spot, uint32_t number)
{
    struct wf_router_input *input = &spot->inputs[number];
    struct wf_wait wait;

    if (spot->now - first_since(spot, input) < (int64_t)spot->model->set.watchdog) {
        return true;
    }
    if (!wf_router_is_stuck(spot, number, &wait)) {
        return false;
    }
    uint8_t known = (uint8_t)(WF_ROUTER_STUCK | (wait.is_full != 0 ? WF_ROUTER_FULL : 0));
    if (known != input->blocked) {
        input = wf_router_edit_input(spot, number);
        input->blocked = known;
        tell(spot, wf_router_to_overseer(spot->model), WF_ROUTER_BLOCKED, &wait, sizeof(wait));
    }
    return false;
}

/* A router in which nothing happens is not looked at for ever: runs have to end. */
void wf_router_look(const struct wf_router_spot *spot)
{
    bool again = false;

    for (uint32_t w = 0; w < spot->layout->n_words; w++) {
        for (uint64_t left = spot->words[w]; left != 0; left &= left - 1) {
            again = look_at(spot, w * 64 + (uint32_t)__builtin_ctzll(left)) || again;
        }
    }
    if (again) {
        come_back(spot, spot->model->set.watchdog, WF_ROUTER_WATCH);
    } else {
        wf_touch(spot->ctx, spot->head, sizeof(*spot->head));
        spot->head->watching = 0;
    }
}

void wf_router_unwatch(const struct wf_router_spot *spot, struct wf_router_input *input,
                       uint32_t number)
{
    const struct wf_wait_queue queue = {spot->vertex, (uint16_t)(number / spot->model->vcs),
                                        (uint16_t)(number % spot->model->vcs)};

    input->blocked = 0; /* the caller has announced it */
    tell(spot, wf_router_to_overseer(spot->model), WF_ROUTER_MOVED, &queue, sizeof(queue));
}

void wf_router_counted(const struct wf_router_spot *spot)
{
    struct wf_router_head *head = spot->head;

    if (spot->model->room_limit > 0 && head->reporting == 0) {
        wf_touch(spot->ctx, head, sizeof(*head));
        head->reporting = 1;
        come_back(spot, spot->model->set.global_delay, WF_ROUTER_REPORT);
    }
}

void wf_router_report(const struct wf_router_spot *spot)
{
    struct wf_router_head *head = spot->head;
    int64_t inside = (int64_t)(head->injected - head->consumed), change = inside - head->told;

    wf_touch(spot->ctx, head, sizeof(*head));
    head->reporting = 0;
    head->told = inside;
    if (change != 0) {
        tell(spot, (int64_t)spot->model->set.global_delay / 2, WF_ROUTER_COUNT, &change,
             sizeof(change));
    }
}
