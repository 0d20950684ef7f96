/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HPCC (Y. Li et al., "HPCC: high precision congestion control", SIGCOMM 2019): routers tell how
 * busy they are, and the window follows at once. As in PINT (R. Ben Basat et al., SIGCOMM 2020)
 * a port keeps its load u itself, and a packet brings the largest u of its route back in 8 bits:
 *
 *     a packet leaves:   u += (b + q t / T - u t) / T
 *     answered:          u >= eta, or five steps without that:  w = W eta / u + step
 *                        else:                                  w = W + step, a step more
 *                        once in a round trip: W = w
 *
 * t is the time since the packet before it, at most T, the longest round trip. b is the time of the
 * packet on the link, q that of the bytes that wait behind it, or behind the one before it if that
 * is less: one packet more for a moment is no queue. A flow sends w packets in
 * its round trip, at equal distances; step = (1 - eta) (first w) / hpcc_flows. Loads are in units of 2^-16, windows as everywhere.
 */
#include "base/arith.h"
#include "base/int128.h"
#include "model/net/transport/model.h"

enum { STEPS_MAX = 5, LOAD_SHIFT = 16, MANTISSA = 5, EXPONENT_MAX = 7, UNIT_SHIFT = 6 };

#define WINDOW_MIN (WF_TRANSPORT_ONE / 100)

/* The words of flow->control. */
struct state {
    uint64_t base;  /* W */
    uint64_t most;  /* the window at the beginning */
    uint64_t until; /* the round trip ends with the answer to this packet */
    uint64_t steps; /* increases by a step in a row */
};

static struct state *state_of(struct wf_transport_sender *flow)
{
    return (void *)flow->control;
}

/* ---- routers ---- */

/* A load in 8 bits: 1/64 exact below 1, then with five bits after the first one, up to 63. */
static uint8_t encode(uint64_t load)
{
    uint64_t units =
        (load + (UINT64_C(1) << (LOAD_SHIFT - UNIT_SHIFT - 1))) >> (LOAD_SHIFT - UNIT_SHIFT);
    uint32_t exponent = 0;

    while (units >> exponent >= UINT64_C(2) << MANTISSA) {
        exponent++;
    }
    if (units >> MANTISSA == 0) {
        return (uint8_t)units;
    }
    if (exponent >= EXPONENT_MAX) {
        return UINT8_MAX;
    }
    return (uint8_t)((exponent + 1) << MANTISSA | (units >> exponent & ((1U << MANTISSA) - 1)));
}

static uint64_t decode(uint8_t code)
{
    uint64_t mantissa = code & ((1U << MANTISSA) - 1);
    uint32_t exponent = code >> MANTISSA;
    uint64_t units = exponent == 0 ? mantissa : (mantissa | 1U << MANTISSA) << (exponent - 1);

    return units << (LOAD_SHIFT - UNIT_SHIFT);
}

static uint64_t bytes_behind(const struct wf_transport_view *v, uint32_t port)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < v->net->n_classes; i++) {
        bytes += wf_transport_queue_at(v, port, i)->bytes;
    }
    return bytes;
}

static void leaves(const struct wf_transport_view *v, const struct wf_packet_outlet *outlet,
                   struct wf_transport_packet *packet, int64_t begin)
{
    const struct wf_packet_link_kind *kind = &v->net->packet.links.kinds[outlet->kind];
    struct wf_transport_port *port = wf_transport_port_at(v, outlet->number);
    uint64_t all = (uint64_t)v->net->longest_trip;
    uint64_t since = wf_min_u64((uint64_t)wf_max_i64(begin - port->load_at, 0), all);
    uint64_t behind = bytes_behind(v, outlet->number);
    uint64_t waits = (uint64_t)wf_packet_link_ps(kind, wf_min_u64(behind, port->behind_before));
    uint64_t own = (uint64_t)wf_packet_link_ps(kind, wf_transport_packet_bytes(v->net, packet));

    wf_touch(v->at.ctx, port, sizeof(*port));
    port->load -= (uint64_t)((wf_u128)port->load * since / all);
    port->load += (uint64_t)((((wf_u128)waits * since / all + own) << LOAD_SHIFT) / all);
    port->load_at = begin;
    port->behind_before = behind;
    uint8_t code = encode(port->load);
    packet->load = code > packet->load ? code : packet->load;
}

/* ---- senders ---- */

static void begin(const struct wf_transport_net *net, struct wf_transport_sender *flow)
{
    struct state *s = state_of(flow);

    flow->window = wf_transport_window(net, flow);
    s->base = s->most = flow->window;
}

static void answered(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                     const struct wf_transport_answer *answer)
{
    struct state *s = state_of(flow);
    uint64_t target = (uint64_t)(net->params.hpcc_target * (double)(1 << LOAD_SHIFT));
    uint64_t rest = (UINT64_C(1) << LOAD_SHIFT) - target;
    uint64_t step = (s->most * rest >> LOAD_SHIFT) / net->params.hpcc_flows;
    uint64_t load = decode(answer->load);
    bool by_load = load >= target || s->steps >= STEPS_MAX;
    wf_u128 window = by_load ? (wf_u128)s->base * target / wf_max_u64(load, 1) : s->base;

    window = window < s->most ? window : s->most;
    flow->window = wf_min_u64((uint64_t)window + step, s->most);
    flow->window = wf_max_u64(flow->window, WINDOW_MIN);
    if (flow->acked > s->until) { /* a round trip is over */
        s->until = flow->sent;
        s->base = flow->window;
        s->steps = by_load ? 0 : s->steps + 1;
    }
}

/* Queues are short, so losses are rare; answers of other packets tell how full they are. */
static void lost(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                 int64_t now, bool by_timeout)
{
    if (by_timeout) {
        flow->window = wf_min_u64(flow->window, WF_TRANSPORT_ONE);
        state_of(flow)->base = flow->window;
    }
}

static void sent(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                 int64_t now, uint64_t bytes)
{
    wf_u128 wait = (wf_u128)(uint64_t)flow->round_trip * bytes / net->packet.links.full_bytes *
                   WF_TRANSPORT_ONE / flow->window;
    uint64_t most = (uint64_t)WF_TIME_MAX / 4;

    if (flow->window < state_of(flow)->most) {
        flow->next_at = wf_time_add(now, (int64_t)(wait < most ? (uint64_t)wait : most));
    }
}

const struct wf_transport_control wf_transport_hpcc = {
    .name = "hpcc",
    .summary = "windows that follow the load that routers report, as HPCC has them",
    .full = WF_TRANSPORT_PAUSE,
    .repair = WF_TRANSPORT_SELECTIVE,
    .queue = 256,
    .begin = begin,
    .answered = answered,
    .lost = lost,
    .sent = sent,
    .leaves = leaves,
};
