/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCQCN (Y. Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015,
 * section 5): routers mark packets, receivers notify senders, senders change their rate.
 *
 *     notified:   target = rate; rate = rate (1 - alpha / 2); alpha = (1 - g) alpha + g
 *     else, every timer and every so many bytes, with the counts t and b since then:
 *         alpha = (1 - g) alpha                       (by the timer only)
 *         max(t, b) <= 5: nothing; min(t, b) > 5: target += fast step; else target += step
 *         rate = (rate + target) / 2
 *
 * Rates are those of units.h; alpha is in units of 2^-32. What the timer does is computed when
 * the rate is needed next, so that it costs no events.
 */
#include "base/arith.h"
#include "base/int128.h"
#include "model/net/transport/model.h"

enum { FAST_ROUNDS = 5, ROUNDS_MAX = 4096 };

#define ALPHA_ONE (UINT64_C(1) << 32)

/* The words of flow->control. */
struct state {
    uint64_t rate, target;
    uint64_t alpha;
    int64_t timer; /* when it expires */
    uint64_t bytes;
    uint32_t by_timer, by_bytes; /* t and b */
    uint64_t spare[2];
};

_Static_assert(sizeof(struct state) <= WF_TRANSPORT_CONTROL_WORDS * sizeof(uint64_t), "fits");

static struct state *state_of(struct wf_transport_sender *flow)
{
    return (void *)flow->control;
}

static uint64_t gain(const struct wf_transport_net *net)
{
    return (uint64_t)(net->params.dcqcn_gain * (double)ALPHA_ONE);
}

static uint64_t scale(uint64_t value, uint64_t by)
{
    return (uint64_t)((wf_u128)value * by >> 32);
}

static void begin(const struct wf_transport_net *net, struct wf_transport_sender *flow)
{
    struct state *s = state_of(flow);

    s->rate = s->target = net->line_rate;
    s->alpha = ALPHA_ONE;
    s->timer = WF_TIME_MAX; /* the rate cannot rise */
    if (net->params.window != 0) {
        flow->window = wf_transport_window(net, flow);
    }
}

static void speed_up(const struct wf_transport_net *net, struct state *s)
{
    uint32_t low = s->by_timer < s->by_bytes ? s->by_timer : s->by_bytes;
    uint32_t high = s->by_timer < s->by_bytes ? s->by_bytes : s->by_timer;

    if (high > FAST_ROUNDS) {
        s->target += low > FAST_ROUNDS ? net->params.dcqcn_fast_step : net->params.dcqcn_step;
        s->target = wf_min_u64(s->target, net->line_rate);
    }
    s->rate = s->rate / 2 + s->target / 2 + (s->rate & s->target & 1);
    if (s->target >= net->line_rate && s->target - s->rate < s->target >> 16) {
        s->rate = s->target;
    }
}

/* Does what the timer would have done until now. */
static void catch_up(const struct wf_transport_net *net, struct state *s, int64_t now)
{
    for (int i = 0; i < ROUNDS_MAX && s->timer <= now; i++) {
        s->timer = wf_time_add(s->timer, net->params.dcqcn_timer);
        s->by_timer++;
        s->alpha -= scale(s->alpha, gain(net));
        speed_up(net, s);
    }
    if (s->timer <= now) { /* a long pause: it is at its limit by now */
        s->rate = s->target = net->line_rate;
        s->timer = WF_TIME_MAX;
    }
}

static void noticed(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                    int64_t now, uint64_t pause_ps)
{
    struct state *s = state_of(flow);

    catch_up(net, s, now);
    s->target = s->rate;
    s->rate -= scale(s->rate, s->alpha / 2);
    s->rate = wf_max_u64(s->rate, net->line_rate / 1000);
    s->alpha += scale(ALPHA_ONE - s->alpha, gain(net));
    s->timer = wf_time_add(now, net->params.dcqcn_timer);
    s->bytes = 0;
    s->by_timer = s->by_bytes = 0;
}

static void sent(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                 int64_t now, uint64_t bytes)
{
    struct state *s = state_of(flow);

    if (s->timer == WF_TIME_MAX) {
        return; /* no notice, or recovered from all: the line is the limit */
    }
    catch_up(net, s, now);
    s->bytes += bytes;
    if (s->bytes >= net->params.dcqcn_bytes) {
        s->bytes = 0;
        s->by_bytes++;
        speed_up(net, s);
    }
    flow->next_at = wf_time_add(now, wf_transfer_ps(bytes, s->rate));
}

const struct wf_transport_control wf_transport_dcqcn = {
    .name = "dcqcn",
    .summary = "rates that marks (ECN) reduce and time restores, as RoCE has them",
    .full = WF_TRANSPORT_PAUSE,
    .repair = WF_TRANSPORT_GO_BACK_N,
    .queue = 256,
    .wants_notices = true,
    .begin = begin,
    .noticed = noticed,
    .sent = sent,
};
