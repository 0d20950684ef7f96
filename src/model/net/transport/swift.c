/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After Swift (G. Kumar et al., "Swift: delay is simple and effective for congestion control in
 * the datacenter", SIGCOMM 2020): a window w that follows the delay d of packets and answers.
 *
 *     target = idle round trip + swift_target + scale(w)
 *     d < target:   w += step / w for each packet that arrived (step, if w < 1)
 *     d >= target:  w *= max(1 - decrease (d - target) / d, 1 - most), once in a round trip
 *     scale(w) = swift_range (1 / sqrt(w) - 1 / sqrt(100)) / (1 / sqrt(0.1) - 1 / sqrt(100)),
 *                between 0 and swift_range
 *
 * Below one packet the flow waits d / w between packets. All numbers are in units of 2^-16.
 */
#include "base/arith.h"
#include "base/int128.h"
#include "model/net/transport/model.h"

#define ONE        WF_TRANSPORT_ONE
#define WINDOW_MIN (ONE / 100)

/* 1 / sqrt(100), and 1 / sqrt(0.1) less that. */
enum { SCALE_LOW = 6554, SCALE_RANGE = 207243 - 6554 };

/* The words of flow->control. */
struct state {
    int64_t decreased; /* when the window became smaller for the last time */
    int64_t delay;     /* of the last answer */
    uint64_t most;     /* largest window */
};

static struct state *state_of(struct wf_transport_sender *flow)
{
    return (void *)flow->control;
}

static uint64_t fixed(double value)
{
    return (uint64_t)(value * (double)ONE);
}

static uint64_t root_of(uint64_t value)
{
    uint64_t root = 0;

    for (uint64_t bit = UINT64_C(1) << 31; bit != 0; bit >>= 1) {
        uint64_t next = root | bit;
        root = next * next <= value ? next : root;
    }
    return root;
}

static void begin(const struct wf_transport_net *net, struct wf_transport_sender *flow)
{
    const struct wf_packet_link_kind *own = &net->packet.links.kinds[net->packet.links.own];
    struct state *s = state_of(flow);

    flow->window = wf_transport_window(net, flow);
    s->delay = flow->round_trip;
    s->most = flow->window + (uint64_t)(net->params.swift_target / own->full_ps + 1) * ONE;
}

/* More delay for flows with a small window: many flows share a queue. */
static int64_t target_of(const struct wf_transport_net *net,
                         const struct wf_transport_sender *flow)
{
    uint64_t inverse = root_of((UINT64_C(1) << 48) / wf_max_u64(flow->window, 1));
    uint64_t over = inverse > SCALE_LOW ? inverse - SCALE_LOW : 0;
    uint64_t range = (uint64_t)net->params.swift_range;

    over = wf_min_u64(over, SCALE_RANGE);
    return wf_time_add(wf_time_add(flow->round_trip, net->params.swift_target),
                       (int64_t)((wf_u128)range * over / SCALE_RANGE));
}

/* Multiplies the window by 1 - part, if it was not reduced in this round trip. */
static void decrease(struct wf_transport_sender *flow, int64_t now, uint64_t part)
{
    struct state *s = state_of(flow);

    if (now - s->decreased < s->delay) {
        return;
    }
    s->decreased = now;
    flow->window -= (uint64_t)((wf_u128)flow->window * part / ONE);
    flow->window = wf_max_u64(flow->window, WINDOW_MIN);
}

static void answered(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                     const struct wf_transport_answer *answer)
{
    struct state *s = state_of(flow);
    int64_t target = target_of(net, flow), delay = wf_max_i64(answer->delay, 1);
    uint64_t step = fixed(net->params.swift_step), w = flow->window;

    s->delay = delay;
    if (delay < target) {
        wf_u128 more = (wf_u128)step * answer->n_new;
        more = w >= ONE ? more * ONE / w : more;
        flow->window =
            (uint64_t)(more > s->most ? s->most : wf_min_u64(w + (uint64_t)more, s->most));
    } else {
        uint64_t part = (uint64_t)((wf_u128)fixed(net->params.swift_decrease) *
                                   (uint64_t)(delay - target) / (uint64_t)delay);
        decrease(flow, answer->now, wf_min_u64(part, fixed(net->params.swift_most)));
    }
}

static void lost(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                 int64_t now, bool by_timeout)
{
    decrease(flow, now, fixed(net->params.swift_most));
    if (by_timeout) {
        flow->window = wf_min_u64(flow->window, ONE);
    }
}

static void sent(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                 int64_t now, uint64_t bytes)
{
    if (flow->window < ONE) {
        uint64_t wait = (uint64_t)((wf_u128)(uint64_t)state_of(flow)->delay * ONE /
                                   wf_max_u64(flow->window, 1));
        flow->next_at = wf_time_add(now, (int64_t)wf_min_u64(wait, (uint64_t)WF_TIME_MAX / 4));
    }
}

const struct wf_transport_control wf_transport_swift = {
    .name = "swift",
    .summary = "windows that follow the delay of packets",
    .full = WF_TRANSPORT_DROP,
    .repair = WF_TRANSPORT_SELECTIVE,
    .queue = 256,
    .begin = begin,
    .answered = answered,
    .lost = lost,
    .sent = sent,
};
