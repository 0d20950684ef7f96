/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock step on devices for every network: the phases of model/net/router/lockstep/step.h, each over all inputs or ports
 * of the routers of a block. The state has the form of hosts and stays in the memory of the device.
 * Slower than model/net/router/lockstep/kernels.c, which is for grids. Compiled for GPUs, and for the host's back end
 * (model/net/router/gpu/host.c).
 */
#include "model/net/router/lockstep/kernels_begin.h"
#include "model/net/router/lockstep/launch.h"
#include "model/net/router/lockstep/step.h"
#include "model/net/router/lockstep/watch.h"

/* ---- memory ---- */

/* The memory of a thread: model/net/router/lockstep/device.c knows its size. */
static inline uint32_t *scratch_of(const struct wf_gpu_at *at,
                                   const struct wf_lockstep_net *net)
{
    return net->scratch + ((size_t)at->block * at->threads + at->thread) * net->scratch_words;
}

static inline uint16_t *ports_of(const struct wf_gpu_at *at, const struct wf_lockstep_net *net)
{
    return (uint16_t *)scratch_of(at, net);
}

/* What this run does not need is null and stays so. */
#define SHIFT(pointer, bytes) \
    ((pointer) = (pointer) == NULL ? NULL : (void *)((char *)(pointer) + (bytes)))

/* Moves on to the state of another network. */
static inline void shift(struct wf_lockstep_net *net, uint64_t bytes)
{
    SHIFT(net->wake, bytes);
    SHIFT(net->next, bytes);
    SHIFT(net->heads, bytes);
    SHIFT(net->credits, bytes);
    SHIFT(net->busy, bytes);
    SHIFT(net->inputs, bytes);
    SHIFT(net->channels, bytes);
    SHIFT(net->links, bytes);
    SHIFT(net->routers, bytes);
    SHIFT(net->nodes, bytes);
    SHIFT(net->packets, bytes);
    SHIFT(net->injected, bytes);
    SHIFT(net->more, bytes);
    SHIFT(net->more_injected, bytes);
    SHIFT(net->mail.senders, bytes);
    SHIFT(net->mail.waiting, bytes);
    SHIFT(net->mail.partial, bytes);
    SHIFT(net->mail.reactions, bytes);
    SHIFT(net->mail.done, bytes);
    SHIFT(net->loads, bytes);
    SHIFT(net->asking, bytes);
    SHIFT(net->flags, bytes);
    SHIFT(net->gates, bytes);
    SHIFT(net->reports, bytes);
}

/* ---- the routers of a block ---- */

/* Of nodes, and of other vertices: routers first, first + step... */
enum { NODES, OTHERS, CLASSES };
struct share {
    uint32_t step;
    uint32_t first[CLASSES], count[CLASSES];
    bool alone; /* there is no other block */
};

static inline struct share share_of(const struct wf_lockstep_net *net, uint32_t block,
                                    uint32_t blocks)
{
    struct share share = {.step = blocks, .alone = blocks == 1};
    uint32_t nodes = net->n_nodes,
             before = nodes > block ? (nodes - block - 1) / blocks + 1 : 0;

    share.first[NODES] = block;
    share.count[NODES] = before;
    share.first[OTHERS] = block + before * blocks;
    share.count[OTHERS] =
        share.first[OTHERS] < net->n ? (net->n - share.first[OTHERS] - 1) / blocks + 1 : 0;
    return share;
}

/* A walk of the threads of a block over all items of its routers: inputs, ports, or themselves. */
struct walk {
    uint32_t r, i;          /* router and item */
    uint32_t class, at;     /* number of the item in the class */
    uint32_t each[CLASSES]; /* items of a router */
};

static inline struct walk walk_over(const struct wf_gpu_at *at, uint32_t of_node,
                                    uint32_t of_other)
{
    return (struct walk){.at = at->thread, .each = {of_node, of_other}};
}

/* Goes to the next item of this thread. Returns whether there is one. */
static inline bool walk_next(const struct wf_gpu_at *at, const struct share *share,
                             struct walk *walk)
{
    if (walk->class == NODES) {
        if (walk->at < share->count[NODES] * walk->each[NODES]) {
            walk->r = share->first[NODES] + walk->at / walk->each[NODES] * share->step;
            walk->i = walk->at % walk->each[NODES];
            walk->at += at->threads;
            return true;
        }
        walk->class = OTHERS;
        walk->at = at->thread;
    }
    if (walk->at >= share->count[OTHERS] * walk->each[OTHERS]) {
        return false;
    }
    walk->r = share->first[OTHERS] + walk->at / walk->each[OTHERS] * share->step;
    walk->i = walk->at % walk->each[OTHERS];
    walk->at += at->threads;
    return true;
}

static inline struct walk walk_routers(const struct wf_gpu_at *at)
{
    return walk_over(at, 1, 1);
}

static inline struct walk walk_inputs(const struct wf_gpu_at *at,
                                      const struct wf_lockstep_net *net)
{
    return walk_over(at, net->node_ports * net->vcs + net->n_injection,
                     net->other_ports * net->vcs);
}

/* Ports, and one more item for packets that are consumed. */
static inline struct walk walk_ports(const struct wf_gpu_at *at,
                                     const struct wf_lockstep_net *net)
{
    return walk_over(at, net->node_ports + 1, net->other_ports + 1);
}

/* ---- the number of packets in the network: model/net/router/lockstep/run.c ---- */

/* Where reports of a cycle are added up. */
static inline int64_t *sum_of(const struct wf_lockstep_net *net, uint32_t report)
{
    return &net->gates->sums[report % 3];
}

/* At the beginning of a cycle: what was reported in the last one, and what nodes learn now. All
 * threads find the same. */
static inline void move_gate(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                             const struct share *share, uint32_t cycle,
                             struct wf_lockstep_gate *gate)
{
    uint32_t every = net->report_every;

    if (cycle > 1 && (cycle - 1) % every == 0) {
        gate->inside +=
            (int64_t)wf_gpu_word64((const uint64_t *)sum_of(net, (cycle - 1) / every));
        bool full = gate->inside > (int64_t)net->limit;
        if (full != (gate->shut != 0)) {
            gate->shut = full;
            gate->at = cycle - 1 + every;
        }
    }
    if (gate->at == 0 || gate->at != cycle) {
        return;
    }
    gate->at = 0;
    for (struct walk walk = walk_routers(at); walk_next(at, share, &walk);) {
        if (walk.r < net->n_nodes) {
            net->routers[walk.r].shut = gate->shut;
            if (gate->shut == 0) {
                wf_lockstep_wake(net, walk.r, cycle);
            }
        }
    }
}

/* After a cycle. */
static inline void report(const struct wf_lockstep_net *net, uint32_t r, uint32_t cycle)
{
    uint32_t every = net->report_every;
    struct wf_lockstep_report *own = &net->reports[r];

    if (own->injected + own->consumed > 0 && own->at == 0) {
        own->at = (cycle / every + 1) * every;
    }
    own->change += (int64_t)own->injected - (int64_t)own->consumed;
    own->injected = own->consumed = 0;
    if (own->at == cycle && cycle > 0) {
        wf_gpu_add64((uint64_t *)sum_of(net, cycle / every), (uint64_t)own->change);
        own->change = 0;
        own->at = 0;
    }
    if (r == 0 && cycle % every == 0) { /* those who read it have done so */
        *sum_of(net, cycle / every + 1) = 0;
    }
}

/* ---- phases ---- */

/* Bits of net->flags. */
enum {
    DECIDES = 1,
    WAITS = 2,  /* messages of its node wait for injection */
    LEAVES = 4, /* a packet has left an injection queue */
};

/* Before cycle 0. */
static inline void begin(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                         const struct share *share)
{
    for (struct walk walk = walk_routers(at); walk_next(at, share, &walk);) {
        if (walk.r >= net->n_nodes) {
            continue;
        }
        if (net->mail.needed != 0) {
            wf_lockstep_lists_begin(net, walk.r);
        }
        wf_lockstep_begin_traffic(net, walk.r);
    }
}

/* What reaches the routers, and messages of their nodes. */
static inline void take_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct share *share, uint32_t cycle)
{
    for (struct walk walk = walk_over(at, net->n_words, net->n_words);
         walk_next(at, share, &walk);) {
        wf_lockstep_take_word(net, walk.r, walk.i, cycle);
    }
    for (struct walk walk = walk_routers(at); walk_next(at, share, &walk);) {
        if (walk.r >= net->n_nodes) {
            continue;
        }
        if (net->mail.rounds > 0) {
            wf_lockstep_messages_react(net, walk.r, cycle);
        }
        if (net->next[walk.r] == cycle) {
            wf_lockstep_send_burst(net, walk.r, cycle);
        }
    }
}

/* Finds the routers that decide. Returns whether this thread has found one. */
static inline bool list_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct share *share, uint32_t cycle)
{
    bool any = false;

    for (struct walk walk = walk_routers(at); walk_next(at, share, &walk);) {
        uint32_t flags = 0;
        if (wf_lockstep_decides(net, walk.r, cycle)) {
            any = true;
            flags = DECIDES;
            net->wake[walk.r] = 0;
            if (net->mail.needed != 0 && walk.r < net->n_nodes &&
                wf_lockstep_messages_inject(net, walk.r, cycle)) {
                flags |= WAITS;
            }
        }
        net->flags[walk.r] = flags;
    }
    return any;
}

/* The bits of inputs that request a channel, or after the last one those to be consumed. */
static inline uint32_t *asking_of(const struct wf_lockstep_net *net, uint32_t r,
                                  uint32_t channel)
{
    uint32_t n_channels = net->n_ports * net->vcs + 1;

    return &net->asking[((size_t)r * n_channels + channel) * net->n_words];
}

/* Whether an input of a router that decides has packets. */
static inline bool is_asked(const struct wf_lockstep_net *net, uint32_t r, uint32_t input)
{
    return (net->flags[r] & DECIDES) != 0 &&
           (*wf_lockstep_busy(net, r, input / 32) >> input % 32 & 1) != 0;
}

static inline void ask_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                           const struct share *share, uint32_t cycle)
{
    for (struct walk walk = walk_inputs(at, net); walk_next(at, share, &walk);) {
        if (!is_asked(net, walk.r, walk.i)) {
            continue;
        }
        uint32_t channel = wf_lockstep_ask(net, walk.r, walk.i, cycle, ports_of(at, net));
        if (channel != WF_LOCKSTEP_NONE) {
            channel = channel == WF_LOCKSTEP_CONSUME ? net->n_ports * net->vcs : channel;
            (void)wf_gpu_or32(asking_of(net, walk.r, channel) + walk.i / 32,
                              UINT32_C(1) << walk.i % 32);
        }
    }
}

static inline bool is_any(const uint32_t *words, uint32_t n)
{
    uint32_t any = 0;

    for (uint32_t i = 0; i < n; i++) {
        any |= words[i];
    }
    return any != 0;
}

static inline void clear(uint32_t *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        words[i] = 0;
    }
}

/* A port of a router that decides, or after the last one the packets to be consumed. */
static inline void give_item(const struct wf_lockstep_net *net, const struct walk *walk,
                             uint32_t cycle, struct wf_lockstep_count *count)
{
    uint32_t r = walk->r, n_ports = wf_lockstep_ports(net, r);
    bool eats = walk->i == n_ports;
    uint32_t *asking = asking_of(net, r, eats ? net->n_ports * net->vcs : walk->i * net->vcs);
    uint32_t n = (eats ? 1 : net->vcs) * net->n_words;

    if (eats) {
        if (is_any(asking, n)) {
            wf_lockstep_eat_all(net, r, asking, cycle, count);
        }
    } else {
        uint32_t next = wf_lockstep_give(net, r, walk->i, asking, cycle, count);
        if (next != WF_LOCKSTEP_NEVER) {
            wf_lockstep_wake(net, r, next);
        }
    }
    clear(asking, n);
}

static inline void give_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct share *share, uint32_t cycle,
                            struct wf_lockstep_count *count)
{
    for (struct walk walk = walk_ports(at, net); walk_next(at, share, &walk);) {
        uint64_t injected = count->injected, consumed = count->consumed;
        if ((net->flags[walk.r] & DECIDES) == 0) {
            continue;
        }
        give_item(net, &walk, cycle, count);
        if (count->injected != injected) {
            (void)wf_gpu_or32(&net->flags[walk.r], LEAVES);
        }
        if (net->limit > 0) {
            struct wf_lockstep_report *own = &net->reports[walk.r];
            (void)wf_gpu_add32(&own->injected, (uint32_t)(count->injected - injected));
            (void)wf_gpu_add32(&own->consumed, (uint32_t)(count->consumed - consumed));
        }
    }
}

/* When inputs need a decision again. `again`: this is not the first decision of the cycle. */
static inline void rest_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct share *share, uint32_t cycle, bool again)
{
    for (struct walk walk = walk_inputs(at, net); walk_next(at, share, &walk);) {
        bool waits = false;
        uint32_t r = walk.r, i = walk.i;
        if (!is_asked(net, r, i)) {
            continue;
        }
        if (wf_lockstep_input(net, r, i)->n == 0) {
            wf_gpu_and32(wf_lockstep_busy(net, r, i / 32), ~(UINT32_C(1) << i % 32));
            continue;
        }
        if (again && !wf_lockstep_may_ask(net, r, i)) {
            continue;
        }
        uint32_t next = wf_lockstep_rest(net, r, i, cycle, ports_of(at, net), &waits);
        if (waits) {
            wf_lockstep_watch(net, r, cycle);
        }
        if (next != WF_LOCKSTEP_NEVER) {
            wf_lockstep_wake(net, r, next);
        }
    }
    for (struct walk walk = walk_routers(at);
         net->mail.needed != 0 && walk_next(at, share, &walk);) {
        if ((net->flags[walk.r] & (WAITS | LEAVES)) == (WAITS | LEAVES)) {
            wf_lockstep_wake(net, walk.r, cycle + 1); /* there is space for the next */
        }
    }
}

/* A decision of the routers that are to decide. Returns whether there may be others that decide in
 * this cycle, after messages were injected. */
static inline bool decide_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                              const struct share *share, uint32_t cycle, bool again,
                              struct wf_lockstep_count *count)
{
    uint32_t *any = (uint32_t *)at->shared;
    bool found = list_all(at, net, share, cycle);

    if (net->mail.needed != 0 && found) {
        *any = cycle + 1; /* by any thread */
    }
    wf_gpu_barrier(at);
    if (net->mail.needed != 0) {
        found = *any == cycle + 1;
        wf_gpu_barrier(at);
        if (!found) {
            return false;
        }
        *any = 0;
    }
    ask_all(at, net, share, cycle);
    wf_gpu_barrier(at);
    give_all(at, net, share, cycle, count);
    wf_gpu_barrier(at);
    rest_all(at, net, share, cycle, again);
    return net->mail.needed != 0;
}

static inline void one_cycle(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                             const struct share *share, uint32_t cycle,
                             struct wf_lockstep_count *count)
{
    bool again = false;

    take_all(at, net, share, cycle);
    wf_gpu_barrier(at);
    while (decide_all(at, net, share, cycle, again, count)) {
        again = true;
        wf_gpu_barrier(at);
    }
    bool looks = net->watchdog > 0 && cycle > 0 && cycle % net->watchdog == 0;
    if (net->limit == 0 && !looks) {
        return;
    }
    wf_gpu_barrier(at);
    for (struct walk walk = walk_routers(at); walk_next(at, share, &walk);) {
        if (net->limit > 0) {
            report(net, walk.r, cycle);
        }
        if (looks) {
            wf_lockstep_look(net, walk.r, cycle, ports_of(at, net));
        }
    }
}

/* ---- kernels ---- */

/* After the cycles of a launch. */
static inline void end(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                       const struct share *share, const struct wf_lockstep_launch *args,
                       uint64_t *open)
{
    uint64_t left = 0;

    for (struct walk walk = walk_routers(at);
         net->mail.needed != 0 && walk_next(at, share, &walk);) {
        if (walk.r >= net->n_nodes) {
            continue;
        }
        if (args->end == net->end) {
            wf_lockstep_messages_end(net, walk.r);
        }
        left += wf_lockstep_messages_left(net, walk.r);
    }
    if (left > 0) {
        wf_gpu_add64(open, left);
    }
}

/* The cycles of a launch. */
static inline void advance(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                           const struct wf_lockstep_launch *args, const struct share *share,
                           uint64_t *open)
{
    struct wf_lockstep_count count = {.digest = 0};
    struct wf_lockstep_gate gate = {.inside = 0};

    if (at->thread == 0) {
        *(uint32_t *)at->shared = 0;
    }
    if (net->limit > 0) {
        gate = net->gates->at_begin[args->turn];
    }
    for (uint32_t cycle = args->begin; cycle < args->end; cycle++) {
        if (!share->alone) {
            wf_gpu_wait_all(at, args->count, cycle - args->begin);
        } else {
            wf_gpu_barrier(at);
        }
        if (cycle == 0) {
            begin(at, net, share);
            wf_gpu_barrier(at);
        }
        if (net->limit > 0) {
            move_gate(at, net, share, cycle, &gate);
            wf_gpu_barrier(at);
        }
        one_cycle(at, net, share, cycle, &count);
        if (!share->alone) {
            wf_gpu_arrive_all(at, args->count);
        }
    }
    wf_gpu_barrier(at);
    end(at, net, share, args, open);
    if (net->limit > 0 && share->first[NODES] == 0 && at->thread == 0) {
        net->gates->at_begin[args->turn ^ 1] = gate;
    }
    wf_lockstep_count_add(net, &count);
}

/* One network, over all blocks. */
static inline void lockstep_one(const struct wf_gpu_at *at,
                                const struct wf_lockstep_launch *args)
{
    struct wf_lockstep_net net = args->net;
    const struct share share = share_of(&net, at->block, at->blocks);

    net.out += at->block; /* those of a block do not wait for those of others */
    advance(at, &net, args, &share, args->open);
}
WF_GPU_KERNEL(lockstep_one, struct wf_lockstep_launch)

/* Many networks: a block for each. */
static inline void lockstep_many(const struct wf_gpu_at *at,
                                 const struct wf_lockstep_launch *args)
{
    const struct share share = share_of(&args->net, 0, 1);

    for (uint32_t number = at->block; number < args->n_nets; number += at->blocks) {
        const struct wf_lockstep_varied *varied = &args->varied[number];
        struct wf_lockstep_net net = args->net;

        shift(&net, number * args->state_stride);
        net.out += number;
        net.seed = varied->seed;
        net.scale = varied->scale;
        net.silent = varied->silent;
        advance(at, &net, args, &share, args->open + number);
        wf_gpu_barrier(at);
    }
}
WF_GPU_KERNEL(lockstep_many, struct wf_lockstep_launch)

#define WF_KERNELS_TABLE wf_lockstep_host_kernels_whole
#include "model/net/router/lockstep/kernels_end.inc"
