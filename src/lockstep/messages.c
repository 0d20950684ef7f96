/* SPDX-License-Identifier: Apache-2.0 */
#include "lockstep/messages.h"

#include "base/array.h"
#include "base/mem.h"
#include "lockstep/inside.h"
#include "lockstep/take.h"

#include <math.h>
#include <stdlib.h>

/* A message that waits for injection. */
struct waiting {
    struct wf_lockstep_new_packet packet; /* index: packets that are left */
};

/* A message of which some packets have arrived. */
struct partial {
    uint32_t src, number;
    uint64_t packets;
};

struct node {
    int64_t next; /* picoseconds: the next burst */
    struct waiting *waiting;
    size_t first, n, waiting_capacity; /* messages from `first` to before `n` wait */
    struct partial *partial;
    size_t n_partial, partial_capacity;
};

struct wf_lockstep_messages {
    uint32_t n_nodes;
    struct node nodes[];
};

bool wf_lockstep_messages_needed(const struct wf_lockstep *lock)
{
    const struct wf_traffic *traffic = lock->traffic;
    const struct wf_traffic_params *set = traffic->set;

    return !set->drop || set->arrivals != WF_TRAFFIC_BERNOULLI || traffic->sizes.n > 0 ||
           set->long_share > 0 || set->size > lock->model->set.packet;
}

struct wf_lockstep_messages *wf_lockstep_messages_new(const struct wf_lockstep *lock)
{
    uint32_t n = lock->net.n_nodes;
    struct wf_lockstep_messages *all = wf_xcalloc(1, sizeof(*all) + n * sizeof(struct node));

    all->n_nodes = n;
    return all;
}

void wf_lockstep_messages_free(struct wf_lockstep_messages *all)
{
    for (uint32_t i = 0; all != NULL && i < all->n_nodes; i++) {
        free(all->nodes[i].waiting);
        free(all->nodes[i].partial);
    }
    free(all);
}

static struct node *node_of(const struct wf_lockstep_net *net, uint32_t node)
{
    struct wf_lockstep_messages *all = net->messages;

    return &all->nodes[node];
}

static uint64_t n_packets(const struct wf_lockstep_net *net, uint64_t bytes)
{
    uint64_t packet = wf_lockstep_of(net)->model->set.packet;

    return bytes <= packet ? 1 : (bytes - 1) / packet + 1;
}

/* ---- the source ---- */

static void append(struct node *own, const struct wf_lockstep_new_packet *packet)
{
    if (own->first == own->n) {
        own->first = own->n = 0;
    }
    WF_GROW(own->waiting, own->n, own->waiting_capacity);
    own->waiting[own->n++].packet = *packet;
}

/* Whether a packet could be injected at once. */
static bool can_inject(const struct wf_lockstep_net *net, uint32_t node, uint32_t dst)
{
    const struct node *own = node_of(net, node);
    uint32_t way = wf_lockstep_directions(net, node, dst, net->nodes[node].numbers, 1);
    uint32_t queue = wf_lockstep_injector(net, node, dst, way);

    return own->first == own->n &&
           wf_lockstep_input(net, node, queue)->n < net->injection_length;
}

/* Sends a message at `time`, not after the beginning of the cycle. */
static void send(const struct wf_lockstep_net *net, uint32_t node, uint32_t dst, uint64_t bytes,
                 uint64_t time, uint32_t cycle)
{
    struct node *own = node_of(net, node);
    const struct wf_lockstep_new_packet packet = {
        .dst = dst,
        .index = (uint32_t)n_packets(net, bytes),
        .more = {.src = node,
                 .number = net->nodes[node].numbers++,
                 .bytes = bytes,
                 .sent = time},
    };

    if (packet.index == 1 && own->first == own->n && time == cycle * net->cycle_ps &&
        wf_lockstep_inject(net, node, &packet, cycle)) {
        return;
    }
    append(own, &packet);
    wf_lockstep_wake(net, node, cycle);
}

static void send_burst(const struct wf_lockstep_net *net, uint32_t node, uint64_t time,
                       uint32_t cycle)
{
    const struct wf_traffic *traffic = wf_lockstep_of(net)->traffic;
    struct wf_traffic_batch *batch = wf_lockstep_batch(net, time);

    for (uint32_t i = 0; i < net->burst; i++) {
        struct wf_traffic_draw draw = {
            .seed = net->seed, .node = node, .message = net->nodes[node].messages++};
        int64_t dst = wf_traffic_pattern_next(traffic->pattern, &draw);
        if (dst < 0) {
            continue;
        }
        uint64_t bytes = wf_traffic_draw_size(traffic, &draw);
        batch->offered++;
        batch->offered_bytes += bytes;
        if (net->drop != 0 && !can_inject(net, node, (uint32_t)dst)) {
            batch->dropped++;
            batch->dropped_bytes += bytes;
            continue;
        }
        send(net, node, (uint32_t)dst, bytes, time, cycle);
    }
}

/* Draws the time of the next burst, after one at `time`. */
static void draw_next(const struct wf_lockstep_net *net, uint32_t node, int64_t time)
{
    const struct wf_traffic *traffic = wf_lockstep_of(net)->traffic;
    struct node *own = node_of(net, node);
    double chance = wf_traffic_chance(traffic, node);

    own->next = INT64_MAX;
    if (chance > 0) {
        uint64_t random = wf_traffic_draw_gap(net->seed, node, net->nodes[node].bursts++);
        int64_t gap = wf_traffic_gap(traffic, random, chance, time);
        own->next = gap < INT64_MAX - time ? time + gap : INT64_MAX;
    }
    uint64_t cycle = ((uint64_t)own->next + net->cycle_ps - 1) / net->cycle_ps;
    net->next[node] = cycle < net->end ? (uint32_t)cycle : WF_LOCKSTEP_NEVER;
}

void wf_lockstep_host_begin(const struct wf_lockstep_net *net, uint32_t node)
{
    draw_next(net, node, 0);
}

void wf_lockstep_host_burst(const struct wf_lockstep_net *net, uint32_t node, uint32_t cycle)
{
    struct node *own = node_of(net, node);

    while (own->next <= (int64_t)(cycle * net->cycle_ps)) {
        int64_t time = own->next;
        send_burst(net, node, (uint64_t)time, cycle);
        draw_next(net, node, time);
    }
}

void wf_lockstep_messages_end(const struct wf_lockstep_net *net, uint32_t node)
{
    struct node *own = node_of(net, node);

    while (own->next < (int64_t)(net->end * net->cycle_ps)) {
        int64_t time = own->next;
        send_burst(net, node, (uint64_t)time, net->end);
        draw_next(net, node, time);
    }
}

bool wf_lockstep_host_inject(const struct wf_lockstep_net *net, uint32_t node, uint32_t cycle)
{
    struct node *own = node_of(net, node);

    while (own->first < own->n) {
        struct waiting *message = &own->waiting[own->first];
        if (!wf_lockstep_inject(net, node, &message->packet, cycle)) {
            return true;
        }
        own->first += --message->packet.index == 0;
    }
    return false;
}

/* ---- the destination ---- */

/* Whether this packet completes its message. */
static bool completes(const struct wf_lockstep_net *net, struct node *own,
                      const struct wf_lockstep_more *more)
{
    uint64_t all = n_packets(net, more->bytes);
    size_t i = 0;

    if (all == 1) {
        return true;
    }
    while (i < own->n_partial &&
           (own->partial[i].src != more->src || own->partial[i].number != more->number)) {
        i++;
    }
    if (i == own->n_partial) {
        WF_GROW(own->partial, own->n_partial, own->partial_capacity);
        own->partial[own->n_partial++] =
            (struct partial){.src = more->src, .number = more->number};
    }
    if (++own->partial[i].packets < all) {
        return false;
    }
    own->partial[i] = own->partial[--own->n_partial];
    return true;
}

void wf_lockstep_host_consumed(const struct wf_lockstep_net *net, uint32_t node,
                               const struct wf_lockstep_more *more, uint32_t pace,
                               uint32_t cycle)
{
    if (completes(net, node_of(net, node), more)) {
        wf_lockstep_arrives(net, more->sent, more->bytes, pace, cycle);
    }
}
