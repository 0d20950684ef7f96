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

/* What a node of a closed loop does at the beginning of a cycle. */
enum what { ROUND_DONE, ANSWER };
struct reaction {
    uint32_t cycle;
    enum what what;
    uint32_t src; /* who gets the answer */
};

struct node {
    int64_t next; /* picoseconds: the next burst */
    /* Closed loops: messages of this round that are still in progress, rounds begun. */
    uint64_t missing, rounds;
    struct reaction *reactions; /* from first_reaction to before n_reactions, by cycle */
    size_t first_reaction, n_reactions, reactions_capacity;
    struct waiting *waiting;
    size_t first, n, waiting_capacity; /* messages from `first` to before `n` wait */
    struct partial *partial;
    size_t n_partial, partial_capacity;
};

struct wf_lockstep_messages {
    uint32_t n_nodes;
    /* Closed loops without answers: how many messages of each node have arrived elsewhere, as it
     * learns in a cycle; a wheel as those of routers. */
    uint32_t *done, done_mask;
    uint32_t least; /* cycles until it learns it */
    struct node nodes[];
};

bool wf_lockstep_messages_needed(const struct wf_lockstep *lock)
{
    const struct wf_traffic *traffic = lock->traffic;
    const struct wf_traffic_params *set = traffic->set;

    return !set->drop || set->arrivals != WF_TRAFFIC_BERNOULLI || traffic->sizes.n > 0 ||
           set->rounds > 0 || set->long_share > 0 || set->size > lock->model->set.packet;
}

struct wf_lockstep_messages *wf_lockstep_messages_new(const struct wf_lockstep *lock)
{
    uint32_t n = lock->net.n_nodes;
    struct wf_lockstep_messages *all = wf_xcalloc(1, sizeof(*all) + n * sizeof(struct node));

    all->n_nodes = n;
    all->least = (uint32_t)((uint64_t)(lock->model->net.promise_ps + 1) / lock->net.cycle_ps);
    if (lock->traffic->set->rounds > 0) {
        uint64_t longest = all->least + (uint64_t)lock->net.credit_last + 1;
        for (all->done_mask = 1; all->done_mask < longest;) {
            all->done_mask = 2 * all->done_mask + 1;
        }
        all->done = wf_xcalloc(((size_t)all->done_mask + 1) * n, sizeof(*all->done));
    }
    return all;
}

void wf_lockstep_messages_free(struct wf_lockstep_messages *all)
{
    for (uint32_t i = 0; all != NULL && i < all->n_nodes; i++) {
        free(all->nodes[i].waiting);
        free(all->nodes[i].partial);
        free(all->nodes[i].reactions);
    }
    if (all != NULL) {
        free(all->done);
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

/* Sends a message, not after the beginning of the cycle. */
static void send(const struct wf_lockstep_net *net, uint32_t dst,
                 const struct wf_lockstep_more *message, uint32_t cycle)
{
    uint32_t node = message->src;
    struct node *own = node_of(net, node);
    struct wf_lockstep_new_packet packet = {
        .dst = dst, .index = (uint32_t)n_packets(net, message->bytes), .more = *message};

    packet.more.number = net->nodes[node].numbers++;
    if (packet.index == 1 && own->first == own->n && message->sent == cycle * net->cycle_ps &&
        wf_lockstep_inject(net, node, &packet, cycle)) {
        return;
    }
    append(own, &packet);
    wf_lockstep_wake(net, node, cycle);
}

/* Returns the number of messages that were not dropped. */
static uint64_t send_burst(const struct wf_lockstep_net *net, uint32_t node, uint64_t time,
                           uint32_t cycle)
{
    const struct wf_traffic *traffic = wf_lockstep_of(net)->traffic;
    struct wf_traffic_batch *batch = wf_lockstep_batch(net, time);
    bool drops = net->drop != 0 && traffic->set->rounds == 0;
    uint64_t sent = 0;

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
        if (drops && !can_inject(net, node, (uint32_t)dst)) {
            batch->dropped++;
            batch->dropped_bytes += bytes;
            continue;
        }
        send(net, (uint32_t)dst,
             &(struct wf_lockstep_more){.src = node, .bytes = bytes, .sent = time}, cycle);
        sent++;
    }
    return sent;
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

/* Begins a round of a closed loop, if the last one has ended. A round without messages ends at
 * once. */
static void begin_round(const struct wf_lockstep_net *net, uint32_t node, uint32_t cycle)
{
    uint64_t rounds = wf_lockstep_of(net)->traffic->set->rounds;
    struct node *own = node_of(net, node);

    while (own->missing == 0 && own->rounds < rounds) {
        own->rounds++;
        own->missing = send_burst(net, node, cycle * net->cycle_ps, cycle);
    }
}

void wf_lockstep_host_begin(const struct wf_lockstep_net *net, uint32_t node)
{
    if (wf_lockstep_of(net)->traffic->set->rounds > 0) {
        net->next[node] = WF_LOCKSTEP_NEVER;
        node_of(net, node)->next = INT64_MAX;
        begin_round(net, node, 0);
    } else {
        draw_next(net, node, 0);
    }
}

void wf_lockstep_host_burst(const struct wf_lockstep_net *net, uint32_t node, uint32_t cycle)
{
    struct node *own = node_of(net, node);

    while (own->next <= (int64_t)(cycle * net->cycle_ps)) {
        int64_t time = own->next;
        (void)send_burst(net, node, (uint64_t)time, cycle);
        draw_next(net, node, time);
    }
}

void wf_lockstep_messages_end(const struct wf_lockstep_net *net, uint32_t node)
{
    struct node *own = node_of(net, node);

    while (own->next < (int64_t)(net->end * net->cycle_ps)) {
        int64_t time = own->next;
        (void)send_burst(net, node, (uint64_t)time, net->end);
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

/* Adds a reaction after those of the same cycle. */
static void add_reaction(struct node *own, struct reaction reaction)
{
    if (own->first_reaction == own->n_reactions) {
        own->first_reaction = own->n_reactions = 0;
    }
    WF_GROW(own->reactions, own->n_reactions, own->reactions_capacity);
    size_t at = own->n_reactions++;
    for (; at > own->first_reaction && own->reactions[at - 1].cycle > reaction.cycle; at--) {
        own->reactions[at] = own->reactions[at - 1];
    }
    own->reactions[at] = reaction;
}

/* A message of a closed loop has arrived a picosecond after the beginning of a cycle. The node
 * reacts in the next one; without answers, the source learns it some time later. */
static void arrived(const struct wf_lockstep_net *net, uint32_t node,
                    const struct wf_lockstep_more *more, uint32_t cycle)
{
    struct wf_lockstep_messages *all = net->messages;
    bool answers = wf_lockstep_of(net)->traffic->set->reply > 0 && more->reply == 0;

    if (answers || more->reply != 0 || more->src == node) {
        add_reaction(node_of(net, node),
                     (struct reaction){cycle + 1, answers ? ANSWER : ROUND_DONE, more->src});
        return;
    }
    uint32_t when = (cycle + all->least) & all->done_mask;
    (void)__atomic_fetch_add(&all->done[(size_t)when * all->n_nodes + more->src], 1,
                             __ATOMIC_RELAXED);
}

void wf_lockstep_host_consumed(const struct wf_lockstep_net *net, uint32_t node,
                               const struct wf_lockstep_more *more, uint32_t pace,
                               uint32_t cycle)
{
    if (completes(net, node_of(net, node), more)) {
        wf_lockstep_arrives(net, more->sent, more->bytes, pace, cycle);
        if (wf_lockstep_of(net)->traffic->set->rounds > 0) {
            arrived(net, node, more, cycle + (net->phits - 1) * pace);
        }
    }
}

/* ---- closed loops ---- */

static void react(const struct wf_lockstep_net *net, uint32_t node,
                  const struct reaction *reaction)
{
    struct node *own = node_of(net, node);

    if (reaction->what == ANSWER) {
        const struct wf_lockstep_more message = {.src = node,
                                                 .bytes =
                                                     wf_lockstep_of(net)->traffic->set->reply,
                                                 .sent = reaction->cycle * net->cycle_ps,
                                                 .reply = 1};
        send(net, reaction->src, &message, reaction->cycle);
    } else if (--own->missing == 0) {
        begin_round(net, node, reaction->cycle);
    }
}

void wf_lockstep_messages_react(const struct wf_lockstep_net *net, uint32_t node,
                                uint32_t cycle)
{
    struct wf_lockstep_messages *all = net->messages;
    struct node *own = node_of(net, node);
    uint32_t *done = &all->done[(size_t)(cycle & all->done_mask) * all->n_nodes + node];

    for (; *done > 0; --*done) {
        react(net, node, &(struct reaction){cycle, ROUND_DONE, 0});
    }
    while (own->first_reaction < own->n_reactions &&
           own->reactions[own->first_reaction].cycle == cycle) {
        const struct reaction next = own->reactions[own->first_reaction++];
        react(net, node, &next);
    }
}

uint64_t wf_lockstep_messages_left(const struct wf_lockstep_net *net, uint32_t node)
{
    const struct node *own = node_of(net, node);

    return wf_lockstep_of(net)->traffic->set->rounds - own->rounds + (own->missing > 0);
}
