/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sender-based congestion control of Ultra Ethernet (NSCC; Ultra Ethernet Specification 1.0,
 * 2025): a window w that follows marks and the delay of queues, q = delay - idle round trip r.
 * W is the window for the whole rate, t = nscc_target r, m a running mean of q:
 *
 *     answered, no mark, q < t:    w += W/9 (1 - q/t) n/w;  after a window with q near 0: w += n/4
 *     answered, no mark, q >= t:   w += W/7 n/w             (others left: take a fair share)
 *     answered, mark, q < t:       nothing
 *     answered, mark, q >= t:      if m > t, once in r:  w *= max(1 - 0.8 (m - t) / m, 1/2)
 *     lost:                        w -= 1
 *     once in r:                   w += W/240
 *     once in r + t, if a packet was lost or q > 4 t, and less than W/8 packets arrived:
 *         w = what arrived; marks and losses of what is on its way count no more
 *
 * n is the number of packets that an answer reports. The constants are those that the authors of
 * the specification use in their simulator at 100 Gbit/s and 12 us, in units of W.
 */
#include "base/arith.h"
#include "base/int128.h"
#include "model/net/transport/model.h"

#define ONE WF_TRANSPORT_ONE

/* near 0: less than 1/NEAR of a round trip; the mean follows with 1/MEAN. */
enum { NEAR = 12, MEAN = 80, PROPORTIONAL = 9, FAIR = 7, STEADY = 240, GATE = 8, HIGH = 4 };

/* The words of flow->control. */
struct state {
    int64_t mean;       /* m */
    int64_t decreased;  /* when w became smaller by marks... */
    int64_t raised;     /* ...larger by its steady step... */
    int64_t judged;     /* ...and when the last r + t began */
    uint32_t arrived;   /* packets since then */
    uint32_t was_bad;   /* 1: a packet was lost, or q > 4 t, since then */
    uint64_t ignored;   /* packets before this one count no more */
    uint64_t uncrowded; /* packets since q was not near 0 */
    uint64_t full;      /* W */
};

_Static_assert(sizeof(struct state) <= WF_TRANSPORT_CONTROL_WORDS * sizeof(uint64_t), "fits");

static struct state *state_of(struct wf_transport_sender *flow)
{
    return (void *)flow->control;
}

static int64_t target_of(const struct wf_transport_net *net,
                         const struct wf_transport_sender *flow)
{
    uint64_t part = (uint64_t)(net->params.nscc_target * (double)ONE);

    return wf_max_i64((int64_t)((wf_u128)(uint64_t)flow->round_trip * part / ONE), 1);
}

static void begin(const struct wf_transport_net *net, struct wf_transport_sender *flow)
{
    struct state *s = state_of(flow);

    flow->window = s->full = wf_transport_window(net, flow);
}

static void set_window(struct wf_transport_sender *flow, uint64_t window)
{
    uint64_t most = state_of(flow)->full / 2 * 3;

    flow->window = wf_min_u64(wf_max_u64(window, ONE), most);
}

/* After a bad interval: the window becomes what got through. Returns whether it did. */
static bool adapt(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                  int64_t now)
{
    struct state *s = state_of(flow);
    bool adapts = false;

    if (now - s->judged < wf_time_add(flow->round_trip, target_of(net, flow))) {
        return false;
    }
    if (s->judged != 0 && s->was_bad != 0 && s->arrived * ONE < s->full / GATE) {
        set_window(flow, s->arrived * ONE);
        s->ignored = flow->sent;
        adapts = true;
    }
    s->judged = now;
    s->was_bad = 0;
    s->arrived = 0;
    return adapts;
}

static void decrease(struct wf_transport_sender *flow, int64_t now, int64_t target)
{
    struct state *s = state_of(flow);

    if (s->mean > target && now - s->decreased >= flow->round_trip) {
        uint64_t over = (uint64_t)(s->mean - target), mean = (uint64_t)s->mean;
        uint64_t part = (uint64_t)((wf_u128)flow->window * over * 4 / ((wf_u128)mean * 5));
        set_window(flow, flow->window - wf_min_u64(part, flow->window / 2));
        s->decreased = now;
    }
}

/* Adds `packets` in a round trip: an answer to n packets adds its share. */
static void increase(struct wf_transport_sender *flow, uint64_t packets, uint64_t n)
{
    set_window(flow, flow->window + (uint64_t)((wf_u128)packets * n * ONE / flow->window));
}

/* No mark, and a short queue. */
static void grow(struct wf_transport_sender *flow, const struct wf_transport_answer *answer,
                 int64_t queue, int64_t target)
{
    struct state *s = state_of(flow);

    s->uncrowded = queue < flow->round_trip / NEAR ? s->uncrowded + answer->n_new : 0;
    if (s->uncrowded * ONE > flow->window) {
        set_window(flow, flow->window + answer->n_new * ONE / 4);
        return;
    }
    uint64_t room = (uint64_t)(target - queue), all = (uint64_t)target;
    increase(flow, (uint64_t)((wf_u128)s->full / PROPORTIONAL * room / all), answer->n_new);
}

static void follow(struct state *s, int64_t queue, const struct wf_transport_sender *flow,
                   int64_t target, bool is_marked)
{
    /* A long queue that marks nobody any more is gone. */
    int64_t sample = !is_marked && queue > target ? flow->round_trip / 4 : queue;

    s->mean += (sample - s->mean) / MEAN;
}

static void answered(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                     const struct wf_transport_answer *answer)
{
    struct state *s = state_of(flow);
    int64_t target = target_of(net, flow);
    int64_t queue = wf_max_i64(answer->delay - flow->round_trip, 0);

    follow(s, queue, flow, target, answer->is_marked);
    s->arrived += (uint32_t)answer->n_new;
    s->was_bad |= queue > HIGH * target ? 1 : 0;
    if (adapt(net, flow, answer->now) || (answer->is_marked && flow->acked < s->ignored)) {
        return;
    }
    if (answer->is_marked) {
        s->uncrowded = 0;
        if (queue >= target) {
            decrease(flow, answer->now, target);
        }
    } else if (queue >= target) {
        s->uncrowded = 0;
        increase(flow, s->full / FAIR, answer->n_new);
    } else {
        grow(flow, answer, queue, target);
    }
    if (answer->now - s->raised >= flow->round_trip) {
        s->raised = answer->now;
        set_window(flow, flow->window + s->full / STEADY);
    }
}

static void lost(const struct wf_transport_net *net, struct wf_transport_sender *flow,
                 int64_t now, bool by_timeout)
{
    struct state *s = state_of(flow);

    s->was_bad = 1;
    s->uncrowded = 0;
    if (!adapt(net, flow, now) && flow->acked >= s->ignored) {
        set_window(flow, flow->window - wf_min_u64(flow->window, ONE));
    }
    if (by_timeout) {
        set_window(flow, ONE);
    }
}

const struct wf_transport_control wf_transport_nscc = {
    .name = "nscc",
    .summary = "windows that follow marks and the delay of queues, as Ultra Ethernet's senders",
    .full = WF_TRANSPORT_TRIM,
    .repair = WF_TRANSPORT_SELECTIVE,
    .queue = 36,
    .begin = begin,
    .answered = answered,
    .lost = lost,
};
