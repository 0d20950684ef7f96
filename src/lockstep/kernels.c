/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock step on devices: the phases of lockstep/step.h over lists of what has something to do, in
 * shared memory. A block of threads handles a tile of routers at a time. Compiled for GPUs, and
 * for the host's back end (gpu/host.c).
 *
 * Definitions make a variant for networks of one kind, whose loops and divisions the compiler can
 * then resolve: WF_KERNELS_DIMS, WF_KERNELS_VCS, WF_KERNELS_SCHEME.
 */
#ifdef __NVPTX__
/* The network is in registers only if all functions that use it are part of one. */
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#endif

#include "gpu/kernel.h"

#define WF_LOCKSTEP_DEVICE
#define WF_LOCKSTEP_LOAD(x)               wf_gpu_load32(&(x))
#define WF_LOCKSTEP_STORE(x, v)           ((x) = (v))
#define WF_LOCKSTEP_SET(p, v)             ((void)wf_gpu_or32((p), (v)))
#define WF_LOCKSTEP_MAX32(p, v)           wf_gpu_max32((p), (v))
#define WF_LOCKSTEP_OR(p, v)              ((void)wf_gpu_or32((p), (v)))
#define WF_LOCKSTEP_ADD32(p, v)           ((void)wf_gpu_add32((p), (v)))
#define WF_LOCKSTEP_ADD64(p, v)           wf_gpu_add64((p), (v))
#define WF_LOCKSTEP_MAX64(p, v)           wf_gpu_max64((p), (v))
#define WF_LOCKSTEP_LOAD_PACKET(from, to) wf_gpu_load128((from), (to))
#define WF_LOCKSTEP_WANT(c)               wf_gpu_set16(&(c)->tail, WF_LOCKSTEP_WANTED)
#include "lockstep/cycle.h"
#include "lockstep/launch.h"

/* ---- tiles ---- */

/* The memory of a block. Entries of lists are router << 5 | input or port; routers are counted from
 * the first of the tile. */
struct tile {
    uint32_t *counts; /* of the lists, for cycles with even and odd numbers */
    uint32_t *next;   /* by router: the cycle of its next decision... */
    uint32_t *waits;  /* ...whether a packet got nothing in this one... */
    uint32_t *ports;  /* ...and bits of the ports that are listed */
    uint32_t *asking; /* by router: wf_lockstep_work.asking */
    uint16_t
        *inputs; /* heads that arrive; then those to ask: first packets that hold no channel */
    uint16_t *credits;  /* channels at whose end a place is free again */
    uint16_t *outputs;  /* to give: asked for, or packets wait for the link */
    uint16_t *deciding; /* routers that send; then those that decide */
    uint32_t size, n_asking;
    uint32_t turn;        /* 0 or COUNTS: where the counts of this cycle are */
    uint32_t base, count; /* routers: the first, and their number */
};

/* Places in `counts`. */
enum { HEADS, CREDITS, BURSTS, INPUTS, OUTPUTS, DECIDING, COUNTS };

static inline struct tile tile_at(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                                  uint32_t size)
{
    struct tile tile = {.size = size, .n_asking = net->n_ports * net->vcs + 1};
    uint32_t *words = (uint32_t *)at->shared;

    tile.counts = words;
    tile.next = words + (size_t)2 * COUNTS;
    tile.waits = tile.next + size;
    tile.ports = tile.waits + size;
    tile.asking = tile.ports + size;
    tile.inputs = (uint16_t *)(tile.asking + (size_t)size * tile.n_asking);
    tile.outputs = tile.inputs + (size_t)size * net->n_inputs;
    tile.credits = tile.outputs + (size_t)size * (net->n_ports + 1);
    tile.deciding = tile.credits + (size_t)size * net->n_ports * net->vcs;
    for (uint32_t i = at->thread; i < size * tile.n_asking; i += at->threads) {
        tile.asking[i] = 0;
    }
    for (uint32_t i = at->thread; i < 2 * COUNTS; i += at->threads) {
        tile.counts[i] = 0;
    }
    wf_gpu_barrier(at);
    return tile;
}

/* Appends the set bits of a router to a list. */
static inline void append(uint16_t *list, uint32_t *count, uint32_t l, uint32_t bits)
{
    uint32_t place = wf_gpu_add32(count, (uint32_t)__builtin_popcount(bits));

    for (; bits != 0; bits &= bits - 1) {
        list[place++] = (uint16_t)(l << 5 | (uint32_t)__builtin_ctz(bits));
    }
}

/* Lists what reaches the routers in this cycle: heads, free places, messages. */
static inline void scan_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct tile *tile, uint32_t cycle)
{
    uint32_t *counts = tile->counts + tile->turn;

    for (uint32_t l = at->thread; l < tile->count; l += at->threads) {
        uint32_t r = tile->base + l;
        uint32_t *of_heads = wf_lockstep_spoke(net, net->heads, cycle & net->head_mask, 0, r);
        uint32_t *of_credits =
            wf_lockstep_spoke(net, net->credits, cycle & net->credit_mask, 0, r);
        uint32_t heads = WF_LOCKSTEP_LOAD(*of_heads), credits = WF_LOCKSTEP_LOAD(*of_credits);
        uint32_t next = r < net->n_nodes ? net->next[r] : WF_LOCKSTEP_NEVER;
        if (heads != 0) {
            WF_LOCKSTEP_STORE(*of_heads, 0);
            append(tile->inputs, &counts[HEADS], l, heads);
        }
        if (credits != 0) {
            WF_LOCKSTEP_STORE(*of_credits, 0);
            append(tile->credits, &counts[CREDITS], l, credits);
        }
        if (next == cycle) {
            tile->deciding[wf_gpu_add32(&counts[BURSTS], 1)] = (uint16_t)l;
        }
    }
}

/* Takes what was listed. Everything is taken at once: each has a queue or channel of its own. */
static inline void take_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct tile *tile, uint32_t cycle)
{
    const uint32_t *counts = tile->counts + tile->turn;
    uint32_t heads = counts[HEADS], credits = heads + counts[CREDITS];
    uint32_t all = credits + counts[BURSTS];

    for (uint32_t e = at->thread; e < all; e += at->threads) {
        if (e < heads) {
            uint32_t entry = tile->inputs[e];
            wf_lockstep_enqueue(net, tile->base + (entry >> 5), entry & 31, cycle);
        } else if (e < credits) {
            uint32_t entry = tile->credits[e - heads];
            wf_lockstep_place_free(net, tile->base + (entry >> 5), entry & 31, cycle);
        } else {
            wf_lockstep_send_burst(net, tile->base + tile->deciding[e - credits], cycle);
        }
    }
}

/* Lists the routers that decide, with their inputs and outputs. */
static inline void list_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct tile *tile, uint32_t cycle)
{
    uint32_t *counts = tile->counts + tile->turn;

    for (uint32_t l = at->thread; l < tile->count; l += at->threads) {
        uint32_t r = tile->base + l;
        if (!wf_lockstep_decides(net, r, cycle)) {
            continue;
        }
        uint32_t busy = wf_gpu_load32(&net->busy[r]), held = wf_gpu_load32(&net->held[r]);
        uint32_t sending = net->sending[r];
        append(tile->inputs, &counts[INPUTS], l, busy & ~held);
        append(tile->outputs, &counts[OUTPUTS], l, sending);
        tile->deciding[wf_gpu_add32(&counts[DECIDING], 1)] = (uint16_t)l;
        tile->ports[l] = sending;
        tile->next[l] = WF_LOCKSTEP_NEVER;
        tile->waits[l] = 0;
    }
}

static inline void ask_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                           const struct tile *tile, uint32_t cycle)
{
    uint32_t *counts = tile->counts + tile->turn;

    for (uint32_t e = at->thread, n = counts[INPUTS]; e < n; e += at->threads) {
        uint32_t l = tile->inputs[e] >> 5, input = tile->inputs[e] & 31;
        uint32_t channel = wf_lockstep_ask(net, tile->base + l, input, cycle, NULL);
        if (channel == WF_LOCKSTEP_NONE) {
            continue;
        }
        bool eaten = channel == WF_LOCKSTEP_CONSUME;
        uint32_t port = eaten ? net->n_ports : channel / net->vcs;
        channel = eaten ? tile->n_asking - 1 : channel;
        (void)wf_gpu_or32(&tile->asking[(size_t)l * tile->n_asking + channel], UINT32_C(1)
                                                                                   << input);
        if ((wf_gpu_or32(&tile->ports[l], UINT32_C(1) << port) >> port & 1) == 0) {
            tile->outputs[wf_gpu_add32(&counts[OUTPUTS], 1)] = (uint16_t)(l << 5 | port);
        }
    }
}

/* A packet has begun to leave: its queue asks again when the tail has left. */
static inline void left(const struct wf_lockstep_net *net, const struct tile *tile, uint32_t l,
                        uint32_t input)
{
    uint32_t r = tile->base + l, bit = UINT32_C(1) << input;
    const struct wf_lockstep_input *queue = wf_lockstep_input(net, r, input);

    wf_gpu_and32(&net->held[r], ~bit);
    if (queue->n > 0) {
        wf_gpu_min32(&tile->next[l], wf_lockstep_ready_at(net, queue));
    } else {
        wf_gpu_and32(&net->busy[r], ~bit);
    }
}

/* Gives the channels of a port, and starts a packet if the link is idle: wf_lockstep_give(). */
static inline void give(const struct wf_lockstep_net *net, const struct tile *tile, uint32_t l,
                        uint32_t port, uint32_t cycle, struct wf_lockstep_count *count)
{
    uint32_t r = tile->base + l;
    uint32_t *asking = &tile->asking[(size_t)l * tile->n_asking + (size_t)port * net->vcs];
    const struct wf_lockstep_link *link = &net->links[wf_lockstep_port(net, r, port)];

    for (uint32_t vc = 0; vc < net->vcs; vc++) {
        if (asking[vc] != 0) {
            wf_lockstep_grant(net, r, port * net->vcs + vc, asking + vc, cycle);
            asking[vc] = 0;
        }
    }
    if (link->waiting > 0 && link->free <= cycle) {
        left(net, tile, l, wf_lockstep_send(net, r, port, cycle, count));
    }
    if (link->waiting > 0) {
        wf_gpu_min32(&tile->next[l], link->free);
    } else {
        wf_gpu_and32(&tile->ports[l], ~(UINT32_C(1) << port));
    }
}

static inline void give_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct tile *tile, uint32_t cycle,
                            struct wf_lockstep_count *count)
{
    for (uint32_t e = at->thread, n = tile->counts[tile->turn + OUTPUTS]; e < n;
         e += at->threads) {
        uint32_t l = tile->outputs[e] >> 5, port = tile->outputs[e] & 31;
        if (port < net->n_ports) {
            give(net, tile, l, port, cycle, count);
            continue;
        }
        uint32_t *asking = &tile->asking[(size_t)l * tile->n_asking + tile->n_asking - 1];
        wf_lockstep_eat_all(net, tile->base + l, asking, cycle, count);
        asking[0] = 0;
    }
}

/* When inputs that asked need a decision again; those without packets are no longer busy. */
static inline void rest_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct tile *tile, uint32_t cycle)
{
    for (uint32_t e = at->thread, n = tile->counts[tile->turn + INPUTS]; e < n;
         e += at->threads) {
        uint32_t l = tile->inputs[e] >> 5, input = tile->inputs[e] & 31, r = tile->base + l;
        const struct wf_lockstep_input *queue = wf_lockstep_input(net, r, input);
        bool waits = false;
        if (queue->n == 0) {
            wf_gpu_and32(&net->busy[r], ~(UINT32_C(1) << input));
            continue;
        }
        if (queue->taken != 0) {
            (void)wf_gpu_or32(&net->held[r], UINT32_C(1) << input);
            continue;
        }
        uint32_t next = wf_lockstep_rest(net, r, input, cycle, NULL, &waits);
        if (next != WF_LOCKSTEP_NEVER) {
            wf_gpu_min32(&tile->next[l], next);
        }
        if (waits) {
            wf_gpu_store32(&tile->waits[l], 1);
        }
    }
}

/* Notes when the routers that decided will decide again. */
static inline void settle_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                              struct tile *tile, uint32_t cycle)
{
    uint32_t n = tile->counts[tile->turn + DECIDING];

    for (uint32_t e = at->thread; e < n; e += at->threads) {
        uint32_t l = tile->deciding[e], next = tile->next[l];
        net->wake[tile->base + l] = ~next; /* 0 if it is never */
        net->sending[tile->base + l] = tile->ports[l] & ~(UINT32_C(1) << net->n_ports);
        if (tile->waits[l] != 0) {
            wf_lockstep_watch(net, tile->base + l, cycle);
        }
    }
    tile->turn ^= COUNTS;
    if (at->thread <
        COUNTS) { /* those of the next tile, which nobody reads before the barrier */
        for (uint32_t i = at->thread; i < COUNTS; i += at->threads) {
            tile->counts[tile->turn + i] = 0;
        }
    }
}

/* A cycle of `count` routers from `base` on. */
static inline void tile_cycle(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                              struct tile *tile, uint32_t cycle,
                              struct wf_lockstep_count *counted)
{
    scan_all(at, net, tile, cycle);
    wf_gpu_barrier(at);
    take_all(at, net, tile, cycle);
    wf_gpu_barrier(at);
    list_all(at, net, tile, cycle);
    wf_gpu_barrier(at);
    ask_all(at, net, tile, cycle);
    wf_gpu_barrier(at);
    give_all(at, net, tile, cycle, counted);
    wf_gpu_barrier(at);
    rest_all(at, net, tile, cycle);
    wf_gpu_barrier(at);
    settle_all(at, net, tile, cycle);
    wf_gpu_barrier(at);
    if (net->watchdog > 0 && cycle % net->watchdog == 0) {
        for (uint32_t l = at->thread; l < tile->count; l += at->threads) {
            wf_lockstep_look(net, tile->base + l, cycle, NULL);
        }
        wf_gpu_barrier(at);
    }
}

/* ---- kernels ---- */

/* What the compiler may know of the networks of this variant. */
static inline void specialise(struct wf_lockstep_net *net)
{
    net->n_words = 1;
    net->has_more = 0;
#ifdef WF_KERNELS_DIMS
    net->n_dims = WF_KERNELS_DIMS;
    net->n_ports = net->node_ports = net->other_ports = 2 * WF_KERNELS_DIMS;
    net->vcs = WF_KERNELS_VCS;
    net->scheme = WF_KERNELS_SCHEME;
    net->n_inputs = 2 * WF_KERNELS_DIMS * WF_KERNELS_VCS + 1;
    net->n_injection = 1;
    net->n_nodes = net->n;
    net->kind_of = NULL;
    net->has_kinds = net->slow = 0;
    net->kind.pace = 1;
    net->has_scales = 0;
    net->scales = NULL;
    net->arbitration = WF_LOCKSTEP_ROUND_ROBIN;
    net->request = WF_LOCKSTEP_SMART;
    net->injection = WF_LOCKSTEP_INJECT_SHORTEST;
    net->transit = 0;
    net->stats = 0;
    net->burst = 1;
#endif
}

#define SHIFT(pointer, bytes) ((pointer) = (void *)((char *)(pointer) + (bytes)))

/* Moves on to the state of another network. */
static inline void shift(struct wf_lockstep_net *net, uint64_t bytes)
{
    SHIFT(net->packets, bytes);
    SHIFT(net->injected, bytes);
    SHIFT(net->inputs, bytes);
    SHIFT(net->channels, bytes);
    SHIFT(net->links, bytes);
    SHIFT(net->routers, bytes);
    SHIFT(net->nodes, bytes);
    SHIFT(net->wake, bytes);
    SHIFT(net->next, bytes);
    SHIFT(net->busy, bytes);
    SHIFT(net->held, bytes);
    SHIFT(net->sending, bytes);
    SHIFT(net->heads, bytes);
    SHIFT(net->credits, bytes);
}

/* Before the first cycle. */
static inline void begin(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                         uint32_t first, uint32_t end)
{
    for (uint32_t r = first + at->thread; r < end && r < net->n_nodes; r += at->threads) {
        wf_lockstep_begin_traffic(net, r);
    }
    wf_gpu_barrier(at);
}

/* One network, over all blocks. */
static inline void lockstep_one(const struct wf_gpu_at *at,
                                const struct wf_lockstep_launch *args)
{
    struct wf_lockstep_net net = args->net;
    struct wf_lockstep_count counted = {.digest = 0};
    uint32_t first = at->block * args->chunk;
    uint32_t last = first + args->chunk < net.n ? first + args->chunk : net.n;

    specialise(&net);
    net.out += at->block; /* those of a block do not wait for those of others */
    struct tile tile = tile_at(at, &net, args->tile);
    if (args->begin == 0) {
        begin(at, &net, first, last);
    }
    for (uint32_t cycle = args->begin; cycle < args->end; cycle++) {
        for (uint32_t base = first; base < last; base += tile.size) {
            tile.base = base;
            tile.count = last - base < tile.size ? last - base : tile.size;
            tile_cycle(at, &net, &tile, cycle, &counted);
        }
        wf_gpu_barrier_all(at, args->count, cycle - args->begin + 1);
    }
    wf_lockstep_count_add(&net, &counted);
}
WF_GPU_KERNEL(lockstep_one, struct wf_lockstep_launch)

/* Many networks: a block for each. */
static inline void lockstep_many(const struct wf_gpu_at *at,
                                 const struct wf_lockstep_launch *args)
{
    for (uint32_t number = at->block; number < args->n_nets; number += at->blocks) {
        const struct wf_lockstep_varied *varied = &args->varied[number];
        struct wf_lockstep_net net = args->net;
        struct wf_lockstep_count counted = {.digest = 0};

        specialise(&net);
        shift(&net, number * args->state_stride);
        net.out += number;
        net.seed = varied->seed;
        net.scale = varied->scale;
        net.silent = varied->silent;
        struct tile tile = tile_at(at, &net, args->tile);
        if (args->begin == 0) {
            begin(at, &net, 0, net.n);
        }
        for (uint32_t cycle = args->begin; cycle < args->end; cycle++) {
            for (uint32_t base = 0; base < net.n; base += tile.size) {
                tile.base = base;
                tile.count = net.n - base < tile.size ? net.n - base : tile.size;
                tile_cycle(at, &net, &tile, cycle, &counted);
            }
        }
        wf_lockstep_count_add(&net, &counted);
        wf_gpu_barrier(at);
    }
}
WF_GPU_KERNEL(lockstep_many, struct wf_lockstep_launch)

/* ---- results ---- */

/* What the host needs of the state of each router: packets by channel, and the inputs that are
 * blocked. */
static inline void lockstep_pack(const struct wf_gpu_at *at,
                                 const struct wf_lockstep_pack *args)
{
    uint32_t self = at->block * at->threads + at->thread, all = at->blocks * at->threads;

    for (uint32_t number = 0; number < args->n_nets; number++) {
        struct wf_lockstep_net net = args->net;
        uint32_t n_channels = net.n_ports * net.vcs;
        uint32_t *packets = args->packets + (uint64_t)number * net.n * n_channels;

        shift(&net, number * args->state_stride);
        for (uint32_t r = self; r < net.n; r += all) {
            uint32_t blocked = 0;
            for (uint32_t c = 0; c < n_channels; c++) {
                packets[(uint64_t)r * n_channels + c] =
                    wf_lockstep_channel(&net, r, c)->packets;
            }
            for (uint32_t bits = net.busy[r]; bits != 0; bits &= bits - 1) {
                struct wf_lockstep_wait wait;
                uint32_t input = (uint32_t)__builtin_ctz(bits);
                if (wf_lockstep_is_blocked(&net, r, input, NULL, &wait)) {
                    blocked |= UINT32_C(1) << input;
                }
            }
            args->blocked[(uint64_t)number * net.n + r] = blocked;
        }
    }
}
WF_GPU_KERNEL(lockstep_pack, struct wf_lockstep_pack)

/* Tells what blocked queues wait for. The host has set router and input, and in `n` the network. */
static inline void lockstep_waits(const struct wf_gpu_at *at,
                                  const struct wf_lockstep_waits *args)
{
    uint32_t all = at->blocks * at->threads;

    for (uint32_t i = at->block * at->threads + at->thread; i < args->n; i += all) {
        struct wf_lockstep_net net = args->net;
        struct wf_lockstep_wait wait, *to = &args->waits[i];

        shift(&net, to->n * args->state_stride);
        (void)wf_lockstep_is_blocked(&net, to->router, to->input, NULL, &wait);
        *to = wait;
    }
}
WF_GPU_KERNEL(lockstep_waits, struct wf_lockstep_waits)

/* Adds the counts of all blocks to those of the first. */
static inline void lockstep_sum(const struct wf_gpu_at *at, const struct wf_lockstep_sum *args)
{
    uint32_t self = at->block * at->threads + at->thread, all = at->blocks * at->threads;
    const uint32_t n_words = sizeof(struct wf_lockstep_out) / sizeof(uint64_t);
    uint64_t *to = (uint64_t *)args->out;

    for (uint32_t i = self; i < n_words; i += all) {
        bool is_max = i == offsetof(struct wf_lockstep_out, last) / sizeof(uint64_t);
        uint32_t batch = i - (uint32_t)(offsetof(struct wf_lockstep_out, batches) / 8);
        if ((size_t)i * 8 >= offsetof(struct wf_lockstep_out, batches)) {
            is_max = batch % (sizeof(struct wf_traffic_batch) / 8) ==
                     offsetof(struct wf_traffic_batch, latency_max) / 8;
        }
        for (uint32_t k = 1; k < args->n; k++) {
            uint64_t value = to[(uint64_t)k * n_words + i];
            /* Pairs of 32-bit counts are added as one number: none overflows. */
            to[i] = is_max ? (value > to[i] ? value : to[i]) : to[i] + value;
        }
    }
}
WF_GPU_KERNEL(lockstep_sum, struct wf_lockstep_sum)

#ifdef __NVPTX__
#pragma clang attribute pop
#else
#include "gpu/gpu.h"
#include "lockstep/program.h"

const struct wf_gpu_host_kernel wf_lockstep_host_kernels[] = {
    {"wf_gpu_lockstep_one", wf_gpu_host_lockstep_one},
    {"wf_gpu_lockstep_many", wf_gpu_host_lockstep_many},
    {"wf_gpu_lockstep_pack", wf_gpu_host_lockstep_pack},
    {"wf_gpu_lockstep_waits", wf_gpu_host_lockstep_waits},
    {"wf_gpu_lockstep_sum", wf_gpu_host_lockstep_sum},
    {NULL, NULL},
};
#endif
