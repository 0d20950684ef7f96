/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures are those of NCCL 2.30.7: src/graph/tuning.cc, and of RCCL of October 2024 (its
 * tuning model 0) where it differs. Bandwidths are in MB/s (10^6), latencies in nanoseconds,
 * shares in thousandths, so that everything is an integer.
 */
#include "model/coll/nccl.h"

#include "base/arith.h"
#include "base/int128.h"
#include "base/units.h"
#include "model/coll/parts.h"

enum { PROTOCOLS = 3, NODES = 3, ONE = 1000, FOREVER = -1 };
#define PS_PER_NS INT64_C(1000)
#define MEGA      UINT64_C(1000000)

const char *const wf_coll_nccl_gpu_names[] = {
    [WF_COLL_NCCL_VOLTA] = "volta",   [WF_COLL_NCCL_AMPERE] = "ampere",
    [WF_COLL_NCCL_HOPPER] = "hopper", [WF_COLL_NCCL_BLACKWELL] = "blackwell",
    [WF_COLL_NCCL_MI300] = "mi300",   NULL,
};

const char *const wf_coll_protocol_names[] = {[WF_COLL_PLAIN] = "plain",
                                              [WF_COLL_LL] = "LL",
                                              [WF_COLL_LL128] = "LL128",
                                              [WF_COLL_SIMPLE] = "Simple",
                                              NULL};

const struct wf_coll_nccl wf_coll_nccl_default = {
    .gpu = WF_COLL_NCCL_HOPPER,
    .nvlink = 370800 * MEGA * WF_RATE_BYTE,
    .nic = 48000 * MEGA * WF_RATE_BYTE,
    .channels = 16,
    .nvls = true,
};

/* ---- tables ---- */

/* Per generation, for 1, 2 and more nodes. */
struct caps {
    uint32_t ll[NODES];         /* all channels together */
    uint32_t ring_ll128;        /* of a channel */
    uint32_t tree_ll128[NODES]; /* of a channel */
    uint32_t tree[NODES];       /* of a channel */
    uint32_t nvls_tree[NODES];  /* of a channel */
    uint32_t nvls_efficiency;   /* a share */
    uint32_t nvls_channels;     /* that NVLS uses */
    const uint32_t *speeds;     /* that NCCL tries for a channel, 0 at the end */
    bool collnet_is_slower;     /* by 15 % */
    uint32_t plateau;           /* factor on the latency of rings of long data */
};

static const uint32_t speeds_ampere[] = {40000, 30000, 20000, 18000, 15000, 12000, 10000,
                                         9000,  7000,  6000,  5000,  4000,  3000,  0};
static const uint32_t speeds_hopper[] = {60000, 50000, 40000, 30000, 24000, 20000,
                                         15000, 12000, 11000, 6000,  3000,  0};
static const uint32_t speeds_blackwell[] = {90000, 80000, 70000, 60000, 50000, 45000, 40000,
                                            30000, 24000, 20000, 19000, 18000, 0};

static const struct caps caps_of[WF_COLL_NCCL_GPUS] = {
    [WF_COLL_NCCL_VOLTA] = {.ll = {39000, 39000, 20400},
                            .ring_ll128 = 20000,
                            .tree_ll128 = {20000, 20000, 20000},
                            .tree = {26500, 18500, 10000},
                            .nvls_tree = {26500, 18500, 10000},
                            .speeds = speeds_ampere,
                            .plateau = 1900},
    [WF_COLL_NCCL_AMPERE] = {.ll = {87700, 22500, 19000},
                             .ring_ll128 = 20000,
                             .tree_ll128 = {20000, 20000, 20000},
                             .tree = {24000, 23600, 17800},
                             .nvls_tree = {24000, 23600, 17800},
                             .speeds = speeds_ampere,
                             .plateau = 1400},
    [WF_COLL_NCCL_HOPPER] = {.ll = {141000, 45000, 35000},
                             .ring_ll128 = 36700,
                             .tree_ll128 = {36700, 36700, 29000},
                             .tree = {38700, 41400, 36000},
                             .nvls_tree = {0, 57700, 45500},
                             .nvls_efficiency = 850,
                             .nvls_channels = 16,
                             .speeds = speeds_hopper,
                             .collnet_is_slower = true,
                             .plateau = 1400},
    [WF_COLL_NCCL_BLACKWELL] = {.ll = {282000, 90000, 70000},
                                .ring_ll128 = 40000,
                                .tree_ll128 = {55600, 31670, 20000},
                                .tree = {70000, 42800, 24000},
                                .nvls_tree = {0, 96000, 80000},
                                .nvls_efficiency = 740,
                                .nvls_channels = 32,
                                .speeds = speeds_blackwell,
                                .collnet_is_slower = true,
                                .plateau = 1400},
    [WF_COLL_NCCL_MI300] = {.plateau = ONE},
};

/* Latencies by protocol: LL, LL128, Simple. */
struct latencies {
    uint32_t base[PROTOCOLS], nvlink[PROTOCOLS], net[PROTOCOLS];
};

static const struct latencies of_nccl[] = {
    [WF_COLL_NCCL_TREE] = {{6800, 14000, 8400}, {600, 1250, 4000}, {5000, 8500, 14000}},
    [WF_COLL_NCCL_RING] = {{6600, 14000, 8400}, {600, 1900, 3400}, {2700, 4000, 14000}},
    [WF_COLL_NCCL_NVLS] = {{0, 0, 0}, {0, 0, 25000}, {0, 0, 18000}},
    [WF_COLL_NCCL_NVLS_TREE] = {{0, 0, 0}, {0, 0, 25000}, {0, 0, 20900}},
    [WF_COLL_NCCL_COLLNET] = {{0, 0, 0}, {0, 0, 3700}, {0, 0, 31000}},
    [WF_COLL_NCCL_PAIRS] = {{6600, 14000, 8400}, {600, 1900, 3400}, {2700, 4000, 14000}},
};

/* RCCL's model 0. Its base latencies are those of NCCL. */
static const struct latencies of_rccl[] = {
    [WF_COLL_NCCL_TREE] = {{6800, 14000, 8400}, {800, 1400, 2500}, {11800, 18200, 20800}},
    [WF_COLL_NCCL_RING] = {{6600, 14000, 8400}, {800, 2200, 3600}, {9500, 19800, 15100}},
};

/* Shares of the bandwidth in RCCL's model 0. */
static const uint32_t rccl_ratio[][PROTOCOLS] = {
    [WF_COLL_NCCL_TREE] = {40, 220, 950},
    [WF_COLL_NCCL_RING] = {40, 340, 1000},
};

/* The share of its bandwidth that a tree reaches with 64 B, 128 B and so on. */
enum { SIZES = 23 };
static const uint16_t tree_share[PROTOCOLS][SIZES] = {
    {1000, 1000, 1000, 1000, 900, 800, 700, 700,  700,  700,  600, 500,
     400,  400,  500,  600,  700, 800, 900, 1000, 1000, 1000, 1000},
    {1000, 1000, 1000, 1000, 1000, 900, 800, 800, 800, 700,  600, 600,
     600,  600,  600,  600,  800,  900, 900, 900, 900, 1000, 1000},
    {900, 900, 900, 900, 900, 900, 900, 800, 700, 600, 600, 500,
     500, 500, 500, 600, 700, 800, 700, 700, 800, 900, 900},
};

/* ---- a call ---- */

struct call {
    const struct wf_coll_nccl *machine;
    const struct caps *caps;
    const struct latencies *latencies;
    enum wf_coll_kind kind;
    uint32_t ranks, nodes, per_node, channels;
    uint64_t intra, inter; /* MB/s of all channels of a node */
    uint64_t bytes;
};

static bool is_amd(const struct call *call)
{
    return call->machine->gpu == WF_COLL_NCCL_MI300;
}

static uint32_t by_nodes(const struct call *call, const uint32_t *table)
{
    return table[call->nodes == 1 ? 0 : call->nodes == 2 ? 1 : 2];
}

static uint64_t share(uint64_t of, uint64_t thousandths)
{
    return of / ONE * thousandths + of % ONE * thousandths / ONE;
}

static uint64_t mega(uint64_t rate)
{
    return wf_max_u64(rate / WF_RATE_BYTE / MEGA, 1);
}

/* Every rank of a node has its network interface. A single rank on a node still has two
 * channels. */
static struct call call_of(const struct wf_coll_args *args, uint64_t bytes)
{
    const struct wf_coll_nccl *machine =
        args->nccl != NULL ? args->nccl : &wf_coll_nccl_default;
    uint32_t m = wf_coll_node_size(args);
    struct call call = {
        .machine = machine,
        .caps = &caps_of[machine->gpu],
        .latencies = machine->gpu == WF_COLL_NCCL_MI300 ? of_rccl : of_nccl,
        .kind = args->kind,
        .ranks = args->size,
        .per_node = m,
        .nodes = args->size / m,
        .channels = m == 1 ? 2 : (uint32_t)machine->channels,
        .intra = mega(machine->nvlink),
        .bytes = bytes,
    };

    call.inter = wf_times_u64(mega(machine->nic), m);
    if (m > 1) {
        call.inter = wf_min_u64(call.inter, call.intra);
    }
    return call;
}

/* The steps of a ring. */
static uint64_t n_steps(const struct call *call)
{
    if (call->kind == WF_COLL_BCAST || call->kind == WF_COLL_REDUCE) {
        return call->ranks;
    }
    return (call->kind == WF_COLL_ALLREDUCE ? 2 : 1) * ((uint64_t)call->ranks - 1);
}

/* ---- bandwidth ---- */

static uint64_t ring_bandwidth(const struct call *call, uint32_t protocol)
{
    uint64_t bus = call->nodes == 1 ? call->intra : call->inter;

    if (is_amd(call)) {
        return share(bus, rccl_ratio[WF_COLL_NCCL_RING][protocol]);
    }
    if (protocol == 0) {
        /* The table of several nodes goes by the processor: that of Ampere is AMD's. */
        const uint32_t *ll = call->nodes == 1 || !call->machine->amd_cpu
                                 ? call->caps->ll
                                 : caps_of[WF_COLL_NCCL_AMPERE].ll;
        return wf_min_u64(by_nodes(call, ll), bus / 2);
    }
    if (protocol == 1) {
        return wf_min_u64(share(bus, 920), (uint64_t)call->channels * call->caps->ring_ll128);
    }
    return bus;
}

static uint64_t tree_bandwidth(const struct call *call, uint32_t protocol)
{
    uint64_t bus = call->nodes == 1 ? call->intra : call->inter, channels = call->channels;

    if (is_amd(call)) {
        bus = share(bus, rccl_ratio[WF_COLL_NCCL_TREE][protocol]);
    } else {
        bus = wf_min_u64(share(bus, 920), channels * by_nodes(call, call->caps->tree));
        if (protocol == 0) {
            bus = wf_min_u64(bus * 10 / 38, by_nodes(call, call->caps->ll));
        } else if (protocol == 1) {
            bus = call->nodes == 1 ? bus * 7 / 9 : bus * 120 / 128;
            bus = wf_min_u64(bus, channels * by_nodes(call, call->caps->tree_ll128));
        }
    }
    uint64_t units = call->bytes / 64;
    uint32_t log = units == 0 ? 0 : 63 - (uint32_t)__builtin_clzll(units);
    return log < SIZES ? share(bus, tree_share[protocol][log]) : bus;
}

/* The fastest speed at which as many channels as NVLS uses fit into the links of a GPU. */
static uint64_t nvls_speed(const struct call *call)
{
    const uint32_t *speed = call->caps->speeds;

    while (*speed != 0 && (uint64_t)*speed * call->caps->nvls_channels > call->intra) {
        speed++;
    }
    return *speed;
}

static uint64_t nvls_bandwidth(const struct call *call, bool with_tree)
{
    uint64_t channels = call->caps->nvls_channels;

    if (call->caps->nvls_efficiency == 0 || call->per_node == 1) {
        return 0;
    }
    uint64_t intra = share(nvls_speed(call), call->caps->nvls_efficiency);
    intra = intra * (channels - 1) / channels;
    intra = call->kind == WF_COLL_ALLREDUCE ? 2 * intra
                                            : intra * (call->per_node - 1) / call->per_node;
    if (call->nodes == 1) {
        return channels * intra;
    }
    uint64_t inter = call->inter / channels * (with_tree && call->nodes == 2 ? 2 : 1);
    uint64_t bus = channels * wf_min_u64(intra, inter);
    return with_tree ? wf_min_u64(bus, channels * by_nodes(call, call->caps->nvls_tree)) : bus;
}

static uint64_t collnet_bandwidth(const struct call *call)
{
    uint64_t bus = call->inter;

    if (call->kind != WF_COLL_ALLREDUCE) {
        return call->per_node * wf_min_u64(call->intra, share(mega(call->machine->nic), 900));
    }
    return call->caps->collnet_is_slower ? share(bus, 850) : bus;
}

/* The bandwidth of the data of the call, in MB/s; 0 if the algorithm does not exist. */
static uint64_t bandwidth(const struct call *call, enum wf_coll_nccl_algorithm algorithm,
                          uint32_t protocol)
{
    bool by_ring = true, reduces_all = call->kind == WF_COLL_ALLREDUCE;
    uint64_t bus = 0;

    switch (algorithm) {
    case WF_COLL_NCCL_RING:
        bus = ring_bandwidth(call, protocol);
        break;
    case WF_COLL_NCCL_TREE:
        bus = tree_bandwidth(call, protocol);
        by_ring = false;
        break;
    case WF_COLL_NCCL_NVLS:
    case WF_COLL_NCCL_NVLS_TREE:
        bus = nvls_bandwidth(call, algorithm == WF_COLL_NCCL_NVLS_TREE);
        break;
    case WF_COLL_NCCL_COLLNET:
        bus = collnet_bandwidth(call);
        by_ring = false;
        break;
    case WF_COLL_NCCL_PAIRS:
    case WF_COLL_NCCL_ALGORITHMS:
        return 0;
    }
    if (by_ring) {
        return (uint64_t)((wf_u128)bus * call->ranks / n_steps(call));
    }
    return reduces_all ? bus / 2 : bus;
}

/* ---- latency ---- */

static uint64_t ring_latency(const struct call *call, const struct latencies *table,
                             uint32_t protocol, uint64_t inter)
{
    uint64_t steps = n_steps(call), between = 0, hop = table->nvlink[protocol];
    bool reduces_all = call->kind == WF_COLL_ALLREDUCE;

    if (call->kind == WF_COLL_BCAST || call->kind == WF_COLL_REDUCE) {
        return table->base[protocol] +
               (call->nodes == 1
                    ? hop
                    : (uint64_t)(call->ranks - call->nodes) * hop + call->nodes * inter);
    }
    if (call->nodes > 1) {
        uint64_t post = call->machine->amd_cpu ? 2000 : 1000;
        between = (reduces_all ? 2 : 1) * ((uint64_t)call->nodes - 1);
        hop = wf_max_u64(hop, protocol == 2 ? 3 * post : post);
    }
    uint64_t latency = table->base[protocol] + (steps - between) * hop + between * inter;
    bool is_long = call->bytes / call->channels / call->ranks >= 64;
    return reduces_all && protocol == 2 && call->nodes > 1 && is_long
               ? share(latency, call->caps->plateau)
               : latency;
}

static uint64_t latency(const struct call *call, enum wf_coll_nccl_algorithm algorithm,
                        uint32_t protocol)
{
    const struct latencies *table = &call->latencies[algorithm];
    uint64_t nic = (uint64_t)(call->machine->nic_latency / PS_PER_NS);
    uint64_t hop = table->nvlink[protocol], base = table->base[protocol];
    uint64_t levels = wf_coll_log2_down(call->nodes);
    const struct latencies *net =
        call->per_node == 1 ? &call->latencies[WF_COLL_NCCL_TREE] : table;
    uint64_t inter = (algorithm == WF_COLL_NCCL_RING ? net : table)->net[protocol] +
                     (protocol == 2 ? 2 * nic : nic);

    switch (algorithm) {
    case WF_COLL_NCCL_RING:
        return ring_latency(call, table, protocol, inter);
    case WF_COLL_NCCL_TREE:
        return base + 2 * ((call->per_node - 1) * hop + levels * inter);
    case WF_COLL_NCCL_NVLS:
        return hop + (call->nodes > 1 ? inter : 0);
    case WF_COLL_NCCL_NVLS_TREE:
        return base + hop + 2 * levels * inter;
    case WF_COLL_NCCL_COLLNET:
        return base + 2 * (hop + UINT64_C(400) * (call->per_node - 1)) + inter;
    case WF_COLL_NCCL_PAIRS:
    case WF_COLL_NCCL_ALGORITHMS:
        break;
    }
    return base + (call->nodes > 1 ? inter : hop);
}

/* ---- times ---- */

/* Nanoseconds, and bytes at so many MB/s. */
static int64_t time_of(uint64_t ns, uint64_t bytes, uint64_t mb_per_s)
{
    wf_u128 ps = (wf_u128)ns * (uint64_t)PS_PER_NS + (wf_u128)bytes * MEGA / mb_per_s;

    return ps > (wf_u128)WF_TIME_MAX ? WF_TIME_MAX : (int64_t)ps;
}

/* Every rank sends a block to every other: those of its node over its links, the others over its
 * network interface, both at once. */
static int64_t pairs_time(const struct call *call, uint32_t protocol)
{
    uint64_t factor = protocol == 0 ? 2 : 1;
    uint64_t block = wf_times_u64(call->bytes / call->ranks, factor);
    uint64_t ns = latency(call, WF_COLL_NCCL_PAIRS, protocol);
    int64_t inside = time_of(ns, wf_times_u64(block, call->per_node - 1), call->intra);
    int64_t outside = time_of(ns, wf_times_u64(block, call->ranks - call->per_node),
                              mega(call->machine->nic));

    return wf_max_i64(inside, outside);
}

/* Which kinds have an algorithm. */
static bool has_algorithm(const struct call *call, enum wf_coll_nccl_algorithm algorithm,
                          uint32_t protocol)
{
    bool many = call->nodes > 1, amd = is_amd(call);
    bool gathers = call->kind == WF_COLL_ALLGATHER || call->kind == WF_COLL_ALLGATHERV ||
                   call->kind == WF_COLL_REDUCE_SCATTER ||
                   call->kind == WF_COLL_REDUCE_SCATTER_BLOCK;
    bool reduces_all = call->kind == WF_COLL_ALLREDUCE;
    bool pairs = call->kind == WF_COLL_ALLTOALL || call->kind == WF_COLL_ALLTOALLV;

    if (pairs || algorithm == WF_COLL_NCCL_PAIRS) {
        enum { LL_MAX = 16 << 10 };
        bool is_short = call->bytes <= wf_times_u64(LL_MAX, call->ranks);
        return pairs && algorithm == WF_COLL_NCCL_PAIRS && protocol == (is_short ? 0 : 2);
    }
    if (algorithm == WF_COLL_NCCL_RING) {
        return true;
    }
    if (algorithm == WF_COLL_NCCL_TREE) {
        return reduces_all;
    }
    if (protocol != 2 || amd || !(reduces_all || gathers)) {
        return false;
    }
    if (algorithm == WF_COLL_NCCL_NVLS) {
        return call->machine->nvls && (!many || call->machine->sharp);
    }
    if (algorithm == WF_COLL_NCCL_NVLS_TREE) {
        return call->machine->nvls && many && reduces_all;
    }
    return call->machine->sharp && many;
}

bool wf_coll_nccl_has(enum wf_coll_kind kind)
{
    static const bool has[WF_COLL_KINDS] = {
        [WF_COLL_BCAST] = true,
        [WF_COLL_REDUCE] = true,
        [WF_COLL_ALLREDUCE] = true,
        [WF_COLL_ALLGATHER] = true,
        [WF_COLL_ALLGATHERV] = true,
        [WF_COLL_ALLTOALL] = true,
        [WF_COLL_ALLTOALLV] = true,
        [WF_COLL_REDUCE_SCATTER] = true,
        [WF_COLL_REDUCE_SCATTER_BLOCK] = true,
    };

    return has[kind];
}

static int64_t expected(const struct call *call, enum wf_coll_nccl_algorithm algorithm,
                        enum wf_coll_protocol protocol)
{
    uint32_t p = (uint32_t)protocol - (uint32_t)WF_COLL_LL;

    if (!has_algorithm(call, algorithm, p)) {
        return FOREVER;
    }
    if (algorithm == WF_COLL_NCCL_PAIRS) {
        return pairs_time(call, p);
    }
    uint64_t rate = bandwidth(call, algorithm, p);
    return rate == 0 ? FOREVER : time_of(latency(call, algorithm, p), call->bytes, rate);
}

int64_t wf_coll_nccl_time(const struct wf_coll_args *args, uint64_t bytes,
                          enum wf_coll_nccl_algorithm algorithm, enum wf_coll_protocol protocol)
{
    if (!wf_coll_nccl_has(args->kind) || protocol == WF_COLL_PLAIN) {
        return FOREVER;
    }
    if (args->size == 1) {
        return 0;
    }
    const struct call call = call_of(args, bytes);
    return expected(&call, algorithm, protocol);
}

struct wf_coll_nccl_choice wf_coll_nccl_choose(const struct wf_coll_args *args, uint64_t bytes,
                                               bool messages)
{
    struct wf_coll_nccl_choice best = {WF_COLL_NCCL_RING, WF_COLL_SIMPLE, FOREVER};
    const struct call call = call_of(args, bytes);

    if (args->size == 1) {
        best.time = 0;
        return best;
    }
    for (int a = 0; a < WF_COLL_NCCL_ALGORITHMS; a++) {
        enum wf_coll_nccl_algorithm algorithm = (enum wf_coll_nccl_algorithm)a;
        bool as_messages = algorithm == WF_COLL_NCCL_TREE || algorithm == WF_COLL_NCCL_RING ||
                           algorithm == WF_COLL_NCCL_PAIRS;
        for (int p = WF_COLL_LL; (as_messages || !messages) && p <= WF_COLL_SIMPLE; p++) {
            int64_t time = expected(&call, algorithm, (enum wf_coll_protocol)p);
            if (time >= 0 && (best.time < 0 || time < best.time)) {
                best = (struct wf_coll_nccl_choice){algorithm, (enum wf_coll_protocol)p, time};
            }
        }
    }
    return best;
}

int64_t wf_coll_nccl_base_ps(enum wf_coll_protocol protocol)
{
    return protocol == WF_COLL_PLAIN
               ? 0
               : PS_PER_NS * of_nccl[WF_COLL_NCCL_RING].base[protocol - WF_COLL_LL];
}

int64_t wf_coll_nccl_step_ps(enum wf_coll_protocol protocol, bool same_node)
{
    const struct latencies *table = &of_nccl[WF_COLL_NCCL_RING];
    const uint32_t *hop = same_node ? table->nvlink : table->net;

    return protocol == WF_COLL_PLAIN ? 0 : PS_PER_NS * (hop[protocol - WF_COLL_LL] - hop[0]);
}
