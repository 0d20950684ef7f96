/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock step on devices: the phases of model/net/router/lockstep/step.h over lists of what has something to do. A
 * block of threads handles a tile of routers at a time: it takes their own words into its shared
 * memory, where all phases work, and puts them back. A block whose routers are one tile does so only
 * once in a launch. Packets and wheels, which other routers write, stay where they are. Compiled for
 * GPUs, and for the host's back end (model/net/router/gpu/host.c).
 *
 * Definitions make a variant for networks of one kind, whose loops and divisions the compiler can
 * then resolve: WF_KERNELS_DIMS, WF_KERNELS_VCS, WF_KERNELS_SCHEME. Variants have small records.
 */
#define WF_LOCKSTEP_TILES
#if defined(WF_KERNELS_DIMS) && !defined(WF_LOCKSTEP_TIGHT)
#define WF_LOCKSTEP_TIGHT
#endif
#ifdef __NVPTX__
/* The network is in registers only if all functions that use it are part of one. */
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#endif

#include "model/net/router/gpu/kernel.h"

#define WF_LOCKSTEP_DEVICE
#define WF_LOCKSTEP_LOAD(x)     wf_gpu_load32(&(x))
#define WF_LOCKSTEP_STORE(x, v) ((x) = (v))
#define WF_LOCKSTEP_SET(p, v)   ((void)wf_gpu_or32((p), (v)))
#define WF_LOCKSTEP_CLEAR(p, v) wf_gpu_and32((p), ~(v))
#define WF_LOCKSTEP_MAX32(p, v) wf_gpu_max32((p), (v))
#define WF_LOCKSTEP_OR(p, v)    ((void)wf_gpu_or32((p), (v)))
#define WF_LOCKSTEP_ADD32(p, v) ((void)wf_gpu_add32((p), (v)))
#define WF_LOCKSTEP_ADD64(p, v) wf_gpu_add64((p), (v))
#define WF_LOCKSTEP_MAX64(p, v) wf_gpu_max64((p), (v))
#ifdef WF_LOCKSTEP_TIGHT
#define WF_LOCKSTEP_LOAD_PACKET(from, to) wf_gpu_load64((from), (to))
#define WF_LOCKSTEP_WANT(c)               wf_gpu_set8(&(c)->tail, WF_LOCKSTEP_WANTED)
#else
#define WF_LOCKSTEP_LOAD_PACKET(from, to) wf_gpu_load128((from), (to))
#define WF_LOCKSTEP_WANT(c)               wf_gpu_set16(&(c)->tail, WF_LOCKSTEP_WANTED)
#endif

#include "model/net/router/lockstep/launch.h"
#include "model/net/router/lockstep/tile.h"

/* ---- tiles ---- */

/* The memory of a block. Entries of lists are router << 5 | input or port; routers are counted from
 * the first of the tile. model/net/router/lockstep/device.c knows the size of this. */
struct tile {
    uint32_t *own;    /* of the routers, as wf_lockstep_net.own */
    uint32_t *counts; /* of the lists, for cycles with even and odd numbers */
    uint32_t *asking; /* by router: wf_lockstep_work.asking */
    uint16_t
        *inputs; /* heads that arrive; then those to ask: first packets that hold no channel */
    uint16_t *credits; /* channels at whose end a place is free again */
    uint16_t *outputs; /* to give: asked for, or packets wait for the link */
    uint16_t *eats;    /* routers at which packets are consumed */
    uint32_t size, n_asking;
    uint32_t turn;        /* 0 or COUNTS: where the counts of this cycle are */
    uint32_t base, count; /* routers: the first, and their number */
};

/* Places in `counts`. */
enum { HEADS, CREDITS, INPUTS, OUTPUTS, EATS, COUNTS };

static inline struct tile tile_at(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                                  uint32_t size)
{
    struct tile tile = {.size = size, .n_asking = net->n_ports * net->rules.vcs + 1};

    tile.own = (uint32_t *)at->shared;
    tile.counts = tile.own + (size_t)size * wf_lockstep_own_words(net); /* size is 4, 8... */
    tile.asking = tile.counts + (size_t)2 * COUNTS;
    tile.inputs = (uint16_t *)(tile.asking + (size_t)size * tile.n_asking);
    tile.outputs = tile.inputs + (size_t)size * net->n_inputs;
    tile.credits = tile.outputs + (size_t)size * (net->n_ports + 1);
    tile.eats = tile.credits + (size_t)size * net->n_ports * net->rules.vcs;
    for (uint32_t i = at->thread; i < size * tile.n_asking; i += at->threads) {
        tile.asking[i] = 0;
    }
    for (uint32_t i = at->thread; i < 2 * COUNTS; i += at->threads) {
        tile.counts[i] = 0;
    }
    return tile;
}

/* The words of the tile, in fours; the last four may have words that belong to nobody. */
static inline uint32_t fours(const struct wf_lockstep_net *net, const struct tile *tile)
{
    return (tile->count * wf_lockstep_own_words(net) + 3) / 4;
}

enum { AT_ONCE = 4 }; /* reads of a thread that do not wait for each other */

/* Takes the words of the tile from the network. */
static inline void tile_take(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                             const struct tile *tile, const uint32_t *from)
{
    uint32_t n = fours(net, tile);
    const uint32_t *all = from + (size_t)tile->base * wf_lockstep_own_words(net);

    for (uint32_t first = at->thread; first < n; first += AT_ONCE * at->threads) {
        struct wf_gpu_four four[AT_ONCE];
        for (uint32_t i = 0, k = first; i < AT_ONCE; i++, k += at->threads) {
            if (k < n) {
                wf_gpu_load128(all + (size_t)4 * k, &four[i]);
            }
        }
        for (uint32_t i = 0, k = first; i < AT_ONCE; i++, k += at->threads) {
            if (k < n) {
                ((struct wf_gpu_four *)tile->own)[k] = four[i];
            }
        }
    }
}

/* Puts them back. The thread that puts words back is the one that takes others into their place. */
static inline void tile_put(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct tile *tile, uint32_t *to)
{
    uint32_t n = fours(net, tile);
    uint32_t *all = to + (size_t)tile->base * wf_lockstep_own_words(net);

    for (uint32_t k = at->thread; k < n; k += at->threads) {
        ((struct wf_gpu_four *)all)[k] = ((const struct wf_gpu_four *)tile->own)[k];
    }
}

/* Appends the set bits of a router to a list. */
static inline void append(uint16_t *list, uint32_t *count, uint32_t l, uint32_t bits)
{
    uint32_t place = wf_gpu_add32(count, (uint32_t)__builtin_popcount(bits));

    for (; bits != 0; bits &= bits - 1) {
        list[place++] = (uint16_t)(l << 5 | (uint32_t)__builtin_ctz(bits));
    }
}

/* Nodes send. This may go on while others scan. The threads from the last one on do it, because
 * those from the first one on do the rest of a phase. */
static inline void burst_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                             const struct tile *tile, uint32_t cycle)
{
    for (uint32_t l = at->threads - 1 - at->thread; l < tile->count; l += at->threads) {
        uint32_t r = tile->base + l;
        if (r < net->n_nodes && wf_lockstep_own(net, r)->next == cycle) {
            wf_lockstep_send_burst(net, r, cycle);
        }
    }
}

/* Lists what reaches the routers in this cycle: heads, free places. */
static inline void scan_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct tile *tile, uint32_t cycle)
{
    uint32_t *counts = tile->counts + tile->turn;

    for (uint32_t l = at->thread; l < tile->count; l += at->threads) {
        uint32_t r = tile->base + l;
        uint32_t *of_heads = wf_lockstep_spoke(net, net->heads, net->head_last, cycle, 0, r);
        uint32_t *of_credits =
            wf_lockstep_spoke(net, net->credits, net->credit_last, cycle, 0, r);
        uint32_t heads = WF_LOCKSTEP_LOAD(*of_heads), credits = WF_LOCKSTEP_LOAD(*of_credits);
        if (heads != 0) {
            WF_LOCKSTEP_STORE(*of_heads, 0);
            append(tile->inputs, &counts[HEADS], l, heads);
        }
        if (credits != 0) {
            WF_LOCKSTEP_STORE(*of_credits, 0);
            append(tile->credits, &counts[CREDITS], l, credits);
        }
    }
}

/* Takes what was listed. Everything is taken at once: each has a queue or channel of its own. */
static inline void take_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct tile *tile, uint32_t cycle)
{
    const uint32_t *counts = tile->counts + tile->turn;
    uint32_t heads = counts[HEADS], all = heads + counts[CREDITS];

    for (uint32_t e = at->thread; e < all; e += at->threads) {
        if (e < heads) {
            uint32_t entry = tile->inputs[e];
            wf_lockstep_enqueue(net, tile->base + (entry >> 5), entry & 31, cycle);
        } else {
            uint32_t entry = tile->credits[e - heads];
            wf_lockstep_place_free(net, tile->base + (entry >> 5), entry & 31, cycle);
        }
    }
}

/* Lists the inputs and outputs of the routers that decide. What follows tells when they decide
 * again. */
static inline void list_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct tile *tile, uint32_t cycle)
{
    uint32_t *counts = tile->counts + tile->turn;

    for (uint32_t l = at->thread; l < tile->count; l += at->threads) {
        struct wf_lockstep_own *own = wf_lockstep_own(net, tile->base + l);
        if (own->wake == ~cycle) {
            own->wake = 0;
            append(tile->inputs, &counts[INPUTS], l, own->busy & ~own->held);
            append(tile->outputs, &counts[OUTPUTS], l, own->sending);
        }
    }
    /* Those of the next tile, which nobody reads before the next barriers. */
    for (uint32_t i = at->thread; i < COUNTS; i += at->threads) {
        tile->counts[COUNTS - tile->turn + i] = 0;
    }
}

static inline void ask_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                           const struct tile *tile, uint32_t cycle)
{
    uint32_t *counts = tile->counts + tile->turn;

    for (uint32_t e = at->thread, n = counts[INPUTS]; e < n; e += at->threads) {
        uint32_t l = tile->inputs[e] >> 5, input = tile->inputs[e] & 31, r = tile->base + l;
        uint32_t channel = wf_lockstep_ask(net, r, input, cycle, NULL);
        if (channel == WF_ROUTER_NONE) {
            continue;
        }
        bool eaten = channel == WF_ROUTER_CONSUME;
        uint32_t port = eaten ? net->n_ports : channel / net->rules.vcs;
        channel = eaten ? tile->n_asking - 1 : channel;
        (void)wf_gpu_or32(&tile->asking[(size_t)l * tile->n_asking + channel], UINT32_C(1)
                                                                                   << input);
        uint32_t *sending = &wf_lockstep_own(net, r)->sending;
        if ((wf_gpu_or32(sending, UINT32_C(1) << port) >> port & 1) != 0) {
            continue; /* it is listed already */
        }
        if (eaten) {
            tile->eats[wf_gpu_add32(&counts[EATS], 1)] = (uint16_t)l;
        } else {
            tile->outputs[wf_gpu_add32(&counts[OUTPUTS], 1)] = (uint16_t)(l << 5 | port);
        }
    }
}

static inline void give_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct tile *tile, uint32_t cycle,
                            struct wf_lockstep_count *count)
{
    const uint32_t *counts = tile->counts + tile->turn;

    for (uint32_t e = at->thread, n = counts[OUTPUTS]; e < n; e += at->threads) {
        uint32_t l = tile->outputs[e] >> 5, port = tile->outputs[e] & 31;
        uint32_t *asking = &tile->asking[(size_t)l * tile->n_asking];
        wf_lockstep_tile_give(net, tile->base + l, port, asking + (size_t)port * net->rules.vcs,
                              cycle, count);
    }
    for (uint32_t e = at->threads - 1 - at->thread, n = counts[EATS]; e < n; e += at->threads) {
        uint32_t l = tile->eats[e], r = tile->base + l;
        uint32_t *asking = &tile->asking[(size_t)l * tile->n_asking + tile->n_asking - 1];
        wf_lockstep_eat_all(net, r, asking, cycle, count);
        *asking = 0;
        wf_gpu_and32(&wf_lockstep_own(net, r)->sending, ~(UINT32_C(1) << net->n_ports));
    }
}

/* When inputs that asked need a decision again. */
static inline void rest_all(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                            const struct tile *tile, uint32_t cycle)
{
    for (uint32_t e = at->thread, n = tile->counts[tile->turn + INPUTS]; e < n;
         e += at->threads) {
        wf_lockstep_tile_rest(net, tile->base + (tile->inputs[e] >> 5), tile->inputs[e] & 31,
                              cycle);
    }
}

/* A cycle of the routers of the tile, whose words are here. Ends with a phase after which all
 * threads must wait for each other. */
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
    tile->turn ^= COUNTS;
    if (net->watchdog > 0 && cycle % net->watchdog == 0) {
        wf_gpu_barrier(at);
        for (uint32_t l = at->thread; l < tile->count; l += at->threads) {
            (void)wf_lockstep_look_at(net, tile->base + l, cycle, NULL);
        }
    }
}

/* ---- kernels ---- */

/* What the compiler may know of the networks of this variant. */
static inline void specialise(struct wf_lockstep_net *net)
{
    net->n_words = 1;
    net->has_more = 0;
#ifdef WF_KERNELS_DIMS
    wf_lockstep_specialise(net, WF_KERNELS_DIMS, WF_KERNELS_VCS, WF_KERNELS_SCHEME);
#endif
}

#define SHIFT(pointer, bytes) ((pointer) = (void *)((char *)(pointer) + (bytes)))

/* Moves on to the state of another network. */
static inline void shift(struct wf_lockstep_net *net, uint64_t bytes)
{
    SHIFT(net->own, bytes);
    SHIFT(net->packets, bytes);
    SHIFT(net->injected, bytes);
    SHIFT(net->heads, bytes);
    SHIFT(net->credits, bytes);
}

/* Before the first cycle of the routers of the tile. */
static inline void begin(const struct wf_gpu_at *at, const struct wf_lockstep_net *net,
                         const struct tile *tile)
{
    for (uint32_t l = at->thread; l < tile->count && tile->base + l < net->n_nodes;
         l += at->threads) {
        wf_lockstep_begin_traffic(net, tile->base + l);
    }
    wf_gpu_barrier(at);
}

/* The routers of a block. */
struct chunk {
    uint32_t first, last; /* the one after the last */
    bool alone;           /* there is no other block */
};

/* The cycles of a launch for the routers of a block. */
static inline void advance(const struct wf_gpu_at *at, struct wf_lockstep_net *net,
                           const struct wf_lockstep_launch *args, const struct chunk *chunk)
{
    struct wf_lockstep_count counted = {.digest = 0};
    struct tile tile = tile_at(at, net, args->tile);
    uint32_t *home = net->own;
    net->own = tile.own; /* known to the compiler: shared memory, from here on */
    bool stays = chunk->last - chunk->first <= tile.size;

    for (uint32_t cycle = args->begin; cycle < args->end; cycle++) {
        for (uint32_t base = chunk->first; base < chunk->last; base += tile.size) {
            tile.base = net->base = base;
            tile.count = chunk->last - base < tile.size ? chunk->last - base : tile.size;
            if (!stays || cycle == args->begin) {
                tile_take(at, net, &tile, home);
                wf_gpu_barrier(at);
            }
            if (cycle == 0) {
                begin(at, net, &tile);
            }
            burst_all(at, net, &tile, cycle);
            if (base == chunk->first &&
                !chunk->alone) { /* what was done so far needs no others */
                wf_gpu_wait_all(at, args->count, cycle - args->begin);
            }
            tile_cycle(at, net, &tile, cycle, &counted);
            if (!stays || cycle + 1 == args->end) {
                wf_gpu_barrier(at);
                tile_put(at, net, &tile, home);
            }
        }
        if (chunk->alone) {
            wf_gpu_barrier(at);
        } else {
            wf_gpu_arrive_all(at, args->count);
        }
    }
    wf_lockstep_count_add(net, &counted);
}

/* One network, over all blocks. */
static inline void lockstep_one(const struct wf_gpu_at *at,
                                const struct wf_lockstep_launch *args)
{
    struct wf_lockstep_net net = args->net;
    uint32_t first = at->block * args->chunk;
    const struct chunk chunk = {
        .first = first, .last = first + args->chunk < net.n ? first + args->chunk : net.n};

    specialise(&net);
    net.out += at->block; /* those of a block do not wait for those of others */
    advance(at, &net, args, &chunk);
}
WF_GPU_KERNEL(lockstep_one, struct wf_lockstep_launch)

/* Many networks: a block for each. */
static inline void lockstep_many(const struct wf_gpu_at *at,
                                 const struct wf_lockstep_launch *args)
{
    for (uint32_t number = at->block; number < args->n_nets; number += at->blocks) {
        const struct wf_lockstep_varied *varied = &args->varied[number];
        struct wf_lockstep_net net = args->net;
        const struct chunk chunk = {.last = net.n, .alone = true};

        specialise(&net);
        shift(&net, number * args->state_stride);
        net.out += number;
        net.rules.seed = varied->seed;
        net.scale = varied->scale;
        net.silent = varied->silent;
        advance(at, &net, args, &chunk);
        wf_gpu_barrier(at);
    }
}
WF_GPU_KERNEL(lockstep_many, struct wf_lockstep_launch)

/* ---- the outcome ---- */

/* Bits of the inputs of a router that are blocked. */
static inline uint32_t blocked_of(const struct wf_lockstep_net *net, uint32_t r)
{
    uint32_t blocked = 0;

    for (uint32_t bits = wf_lockstep_own(net, r)->busy; bits != 0; bits &= bits - 1) {
        struct wf_lockstep_wait wait;
        uint32_t bit = (uint32_t)__builtin_ctz(bits);
        if (wf_lockstep_is_blocked(net, r, bit, NULL, &wait)) {
            blocked |= UINT32_C(1) << bit;
        }
    }
    return blocked;
}

/* What the host needs of the state of each router: packets by channel, and the inputs that are
 * blocked. */
static inline void lockstep_pack(const struct wf_gpu_at *at,
                                 const struct wf_lockstep_pack *args)
{
    uint32_t self = at->block * at->threads + at->thread, all = at->blocks * at->threads;

    for (uint32_t number = 0; number < args->n_nets; number++) {
        struct wf_lockstep_net net = args->net;
        uint32_t n_channels = net.n_ports * net.rules.vcs;
        uint32_t *packets = args->packets + (uint64_t)number * net.n * n_channels;

        shift(&net, number * args->state_stride);
        for (uint32_t r = self; r < net.n; r += all) {
            for (uint32_t c = 0; c < n_channels; c++) {
                packets[(uint64_t)r * n_channels + c] =
                    wf_lockstep_channel(&net, r, c)->packets;
            }
            args->blocked[(uint64_t)number * net.n + r] = blocked_of(&net, r);
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
#include "model/net/router/gpu/gpu.h"
#include "model/net/router/lockstep/program.h"

#ifdef WF_LOCKSTEP_TIGHT
#define wf_lockstep_host_kernels wf_lockstep_host_kernels_tight
#endif

const struct wf_gpu_host_kernel wf_lockstep_host_kernels[] = {
    {"wf_gpu_lockstep_one", wf_gpu_host_lockstep_one},
    {"wf_gpu_lockstep_many", wf_gpu_host_lockstep_many},
    {"wf_gpu_lockstep_pack", wf_gpu_host_lockstep_pack},
    {"wf_gpu_lockstep_waits", wf_gpu_host_lockstep_waits},
    {"wf_gpu_lockstep_sum", wf_gpu_host_lockstep_sum},
    {NULL, NULL},
};
#endif
