/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Full packets that travel singly through a plain network: minimal routes, no failures, bursts,
 * notices or statistics, and no train at the port. Where queues are finite, packets that get their
 * credits at once, and credits for which no packet waits. These are nearly all events of a run
 * without trains, so they take a path with few decisions. It does the same as port.c, deliver.c,
 * nic.c and credit.c, event by event; tests compare the two.
 */
#include "base/rng.h"
#include "model/net/packet/port.h"

void wf_packet_plain_init(struct wf_packet_net *model)
{
    bool by_credits = model->n_channels > 0 && model->route->ops == &wf_route_minimal_ops;

    model->is_plain = (by_credits || (model->is_minimal && !model->has_queue)) &&
                      !model->overtakes && !model->has_bursts && !model->sends_notices &&
                      model->faults == NULL && model->stats == WF_NET_STATS_OFF &&
                      model->timing == WF_PACKET_CUT_THROUGH && model->net.ends.nics == 1;
    model->plain_pace =
        model->is_plain && !model->trains && !by_credits ? wf_packet_pace(model) : 0;
}

/* Sends packet `first` of a message on; `head` is its header on arrival, or when it is injected.
 *
 * The header of the next event is written member by member. A copy that is changed before it is
 * stored as a whole would make the processor wait: a load of many bytes cannot take those of a
 * narrower store before it until that is in the cache, and all stores before it, of which some are
 * for events in cold memory. (That took a seventh of the time of random pairs.) */
static void forward(const struct wf_packet_here *here, const struct wf_packet_head *head,
                    struct wf_vc_state vcs, uint64_t first, uint32_t number)
{
    const struct wf_packet_links *links = &here->model->links;
    uint32_t link = wf_packet_links_number(links, here->vertex, number);
    uint32_t kind = wf_packet_links_kind(links, link);
    const struct wf_packet_link_kind *of_link = &links->kinds[kind];
    struct wf_packet_port *port = &here->ports[number];
    int64_t now = wf_now(here->ctx);
    int64_t ready = wf_time_add(now, wf_packet_links_delay(links, here->vertex, kind));

    wf_touch(here->ctx, port, sizeof(*port));
    int64_t start = wf_packet_port_serve(port, ready, of_link->full_ps);
    int64_t at = wf_time_add(start, of_link->latency);

    bool is_slowest = of_link->full_ps > links->kinds[head->slowest].full_ps;
    struct wf_packet_body_event *body = wf_schedule_begin(
        here->ctx, wf_net_target(&here->model->net, 0, links->to[link], WF_PACKET_BODY),
        at == WF_TIME_MAX ? WF_TIME_MAX : at - now, sizeof(*body));
    body->head.src = head->src;
    body->head.dst = head->dst;
    body->head.number = head->number;
    body->head.slowest = is_slowest ? (uint16_t)kind : head->slowest;
    body->head.in_port = links->in_port[link];
    body->head.route.via = head->route.via;
    body->head.route.vcs.vc = vcs.vc;
    body->head.route.vcs.hops = (uint8_t)(vcs.hops + (vcs.hops < UINT8_MAX ? 1 : 0));
    body->head.route.vcs.hop = vcs.hop;
    body->head.route.vcs.turn = vcs.turn;
    body->first = first;
    wf_schedule_end(here->ctx);
}

static uint32_t next_port(const struct wf_packet_here *here, uint32_t dst)
{
    const struct wf_topo *topo = here->model->topo;

    return topo->ops->next_port(topo, here->vertex, dst);
}

/* A packet is at its destination. */
static bool deliver(const struct wf_packet_here *here, const struct wf_packet_body_event *body)
{
    const struct wf_packet_net *model = here->model;
    const struct wf_packet_link_kind *kinds = model->links.kinds;
    struct wf_packet_node *node = here->node;
    int64_t at = wf_now(here->ctx), tail = kinds[body->head.slowest].full_ps;

    if (node->ejection.trains != 0 || model->probe != NULL) {
        return false;
    }
    wf_touch(here->ctx, node, WF_PACKET_NODE_ARRIVALS);
    if (model->ejection != WF_PACKET_UNLIMITED) {
        int64_t full_ps = kinds[model->ejection].full_ps;
        at = wf_packet_port_serve(&node->ejection, at, full_ps);
        tail = wf_max_i64(tail, full_ps);
    }
    node->fingerprint += wf_packet_fingerprint(&body->head, body->first, wf_time_add(at, tail));
    node->packets_received++;
    node->bytes_received += model->packet_bytes;
    if (model->n_channels > 0) {
        wf_packet_credit_give(here, &body->head, wf_time_add(at, tail));
    }
    return true;
}

static struct wf_packet_channel *channel_at(const struct wf_packet_here *here, uint32_t port,
                                            uint32_t channel)
{
    struct wf_packet_channel *channels =
        (void *)((unsigned char *)here->ports + wf_packet_ports_bytes(here->n_ports));

    return &channels[(size_t)port * here->model->n_channels + channel];
}

/* A packet arrives at a vertex with finite queues. */
static bool arrive_by_credits(const struct wf_packet_here *here,
                              const struct wf_packet_body_event *body)
{
    const struct wf_packet_net *model = here->model;
    const struct wf_packet_links *links = &model->links;
    const struct wf_packet_head *head = &body->head;
    struct wf_vc_state vcs = head->route.vcs;

    if (head->dst == here->vertex) {
        return deliver(here, body);
    }
    uint32_t port = wf_vc_hop_fixed(&model->route->vcs, here->vertex, head->dst, &vcs);
    struct wf_packet_channel *channel =
        channel_at(here, port, wf_packet_channel_on(model, head, vcs.vc));
    uint32_t kind =
        wf_packet_links_kind(links, wf_packet_links_number(links, here->vertex, port));
    if (channel->head != 0 || channel->used >= links->kinds[kind].slots) {
        return false;
    }
    wf_touch(here->ctx, channel, sizeof(*channel));
    channel->used++;
    forward(here, head, vcs, body->first, port);
    wf_packet_credit_give(here, head, here->ports[port].free);
    return true;
}

/* A packet has left the vertex after a port. */
static bool release(const struct wf_packet_here *here,
                    const struct wf_packet_credit_event *credit)
{
    struct wf_packet_channel *channel = channel_at(here, credit->port, credit->channel);

    if (channel->head != 0) {
        return false;
    }
    wf_touch(here->ctx, channel, sizeof(*channel));
    wf_packet_channel_release(channel);
    return true;
}

static bool arrive(const struct wf_packet_here *here, const struct wf_packet_body_event *body)
{
    if (body->head.dst == here->vertex) {
        return deliver(here, body);
    }
    uint32_t port = next_port(here, body->head.dst);
    if (here->ports[port].trains != 0) {
        return false;
    }
    forward(here, &body->head, body->head.route.vcs, body->first, port);
    return true;
}

/* The next packet of a message, not its last, leaves the interface. */
static bool inject(const struct wf_packet_here *here, const struct wf_packet_inject_event *now)
{
    const struct wf_packet_net *model = here->model;
    uint64_t left = now->msg.bytes - now->next * model->packet_bytes;

    if (model->plain_pace == 0 || left <= model->packet_bytes || now->dst == here->vertex) {
        return false;
    }
    struct wf_packet_inject_event *next =
        wf_schedule_begin(here->ctx, wf_net_target_own(here->ctx, 0, WF_PACKET_INJECT),
                          model->plain_pace, sizeof(*next));
    *next = *now;
    next->next++;
    wf_schedule_end(here->ctx);

    const struct wf_packet_head head = {.src = here->vertex,
                                        .dst = now->dst,
                                        .number = now->number,
                                        .slowest = (uint16_t)model->injection,
                                        .in_port = WF_PACKET_NO_PORT};
    forward(here, &head, head.route.vcs, now->next, next_port(here, now->dst));
    return true;
}

bool wf_packet_plain_event(const struct wf_packet_here *here, const struct wf_event *ev)
{
    if (ev->kind == WF_PACKET_BODY) {
        return here->model->n_channels > 0 ? arrive_by_credits(here, (const void *)ev->payload)
                                           : arrive(here, (const void *)ev->payload);
    }
    if (ev->kind == WF_PACKET_CREDIT) {
        return release(here, (const void *)ev->payload);
    }
    return ev->kind == WF_PACKET_INJECT && inject(here, (const void *)ev->payload);
}
