/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The structure and the latencies of hops are those of NCCL 2.30.7 (src/graph/tuning.cc). Base latencies and
 * shares of bandwidths were fitted to public outputs of nccl-tests; docs/models/nccl.md names
 * them and the errors that remain. Latencies are in nanoseconds, shares in thousandths, so that
 * everything is an integer. Every row grows with the data, and so does the least of all rows.
 */
#include "model/coll/nccl.h"

#include "base/arith.h"
#include "base/int128.h"
#include "base/units.h"
#include "model/coll/parts.h"

enum { ONE = 1000, FOREVER = -1 };
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

const char *const wf_coll_nccl_algorithm_names[] = {
    [WF_COLL_NCCL_TREE] = "Tree",       [WF_COLL_NCCL_RING] = "Ring",
    [WF_COLL_NCCL_NVLS] = "NVLS",       [WF_COLL_NCCL_NVLS_TREE] = "NVLSTree",
    [WF_COLL_NCCL_COLLNET] = "CollNet", [WF_COLL_NCCL_PAIRS] = "pairs",
};

const struct wf_coll_nccl wf_coll_nccl_default = {
    .gpu = WF_COLL_NCCL_HOPPER,
    .nvlink = 370800 * MEGA * WF_RATE_BYTE,
    .nic = 48000 * MEGA * WF_RATE_BYTE,
    .nvls = true,
};

/* ---- the table ---- */

/* What a row serves. */
enum { ALL = 1, GATHER = 2, CHAIN = 4, PAIRS = 8, ONE_NODE = 16, NODES = 32 };

/* Base latency, and the share of the bandwidth of a GPU's links that the protocol reaches; 0:
 * these GPUs do not use the row. */
struct fit {
    uint32_t base, share;
};

/* `within` and `between` are latencies of hops; `network` is the share of the interfaces'
 * bandwidth. */
struct row {
    uint8_t algorithm, protocol, serves;
    uint32_t within, between, network;
    struct fit fits[WF_COLL_NCCL_GPUS]; /* Volta, Ampere, Hopper, Blackwell, MI300 */
};

#define ROW(name, kind, what) \
    .algorithm = WF_COLL_NCCL_##name, .protocol = WF_COLL_##kind, .serves = (what)

/* clang-format off */
static const struct row rows[] = {
    {ROW(RING, LL, ALL | GATHER | CHAIN | ONE_NODE), 600, 2700, 0,
     {{23600, 250}, {23600, 250}, {15600, 243}, {17100, 388}, {35600, 200}}},
    {ROW(RING, LL128, ALL | GATHER | CHAIN | ONE_NODE), 1900, 4000, 0,
     {{17400, 550}, {17400, 550}, {11400, 890}, {13400, 637}, {23400, 730}}},
    {ROW(RING, SIMPLE, ALL | GATHER | CHAIN | ONE_NODE), 3400, 14000, 0,
     {{92000, 971}, {92000, 971}, {22400, 987}, {42000, 930}, {27400, 943}}},
    {ROW(NVLS, SIMPLE, ALL | ONE_NODE), 25000, 0, 0,
     {{0, 0}, {0, 0}, {55000, 1289}, {105000, 1171}, {0, 0}}},
    {ROW(NVLS, SIMPLE, GATHER | ONE_NODE), 25000, 0, 0,
     {{0, 0}, {0, 0}, {15000, 987}, {15000, 930}, {0, 0}}},
    {ROW(PAIRS, LL, PAIRS | ONE_NODE), 600, 2700, 0,
     {{15000, 180}, {15000, 180}, {10400, 180}, {10400, 180}, {15000, 180}}},
    {ROW(PAIRS, SIMPLE, PAIRS | ONE_NODE), 3400, 14000, 0,
     {{26600, 830}, {26600, 830}, {26600, 830}, {26600, 830}, {26600, 830}}},
    {ROW(TREE, LL, ALL | NODES), 600, 5000, 920,
     {{26600, 83}, {26600, 83}, {24600, 67}, {24600, 35}, {26600, 83}}},
    {ROW(TREE, LL128, ALL | NODES), 1250, 8500, 920,
     {{40000, 700}, {40000, 700}, {40000, 566}, {60000, 415}, {40000, 566}}},
    {ROW(TREE, SIMPLE, ALL | NODES), 4000, 14000, 920,
     {{766000, 1000}, {766000, 1000}, {26000, 998}, {26000, 512}, {26000, 943}}},
    {ROW(NVLS_TREE, SIMPLE, ALL | NODES), 25000, 20900, 980,
     {{0, 0}, {0, 0}, {123000, 1257}, {123000, 956}, {0, 0}}},
    {ROW(RING, LL, ALL | GATHER | CHAIN | NODES), 600, 2700, 1000,
     {{30000, 83}, {30000, 83}, {25000, 67}, {25000, 35}, {35600, 83}}},
    {ROW(RING, LL128, ALL | GATHER | CHAIN | NODES), 1900, 4000, 1000,
     {{50000, 550}, {50000, 550}, {50000, 566}, {50000, 300}, {50000, 566}}},
    {ROW(RING, SIMPLE, ALL | GATHER | CHAIN | NODES), 3400, 14000, 1000,
     {{10000, 1000}, {10000, 1000}, {60000, 1000}, {110000, 1000}, {30000, 943}}},
    {ROW(COLLNET, SIMPLE, ALL | GATHER | NODES), 3700, 31000, 850,
     {{8400, 900}, {8400, 900}, {8400, 900}, {8400, 900}, {0, 0}}},
    {ROW(PAIRS, LL, PAIRS | NODES), 600, 2700, 980,
     {{42000, 180}, {42000, 180}, {42000, 180}, {42000, 180}, {42000, 180}}},
    {ROW(PAIRS, SIMPLE, PAIRS | NODES), 3400, 14000, 980,
     {{61000, 830}, {61000, 830}, {61000, 830}, {61000, 830}, {61000, 830}}},
};
/* clang-format on */
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* ---- a call ---- */

struct call {
    const struct wf_coll_nccl *machine;
    uint8_t serves; /* what it needs */
    bool halves;    /* one pass over the ranks instead of two */
    uint32_t ranks, nodes, per_node;
    uint64_t intra, inter; /* MB/s of a GPU, and of the interfaces of a node */
    uint64_t bytes;
};

static uint64_t share(uint64_t of, uint64_t thousandths)
{
    return of / ONE * thousandths + of % ONE * thousandths / ONE;
}

static uint64_t mega(uint64_t rate)
{
    return wf_max_u64(rate / WF_RATE_BYTE / MEGA, 1);
}

static uint8_t needs_of(enum wf_coll_kind kind)
{
    static const uint8_t needs[WF_COLL_KINDS] = {
        [WF_COLL_BCAST] = CHAIN,
        [WF_COLL_REDUCE] = CHAIN,
        [WF_COLL_ALLREDUCE] = ALL,
        [WF_COLL_ALLGATHER] = GATHER,
        [WF_COLL_ALLGATHERV] = GATHER,
        [WF_COLL_REDUCE_SCATTER] = GATHER,
        [WF_COLL_REDUCE_SCATTER_BLOCK] = GATHER,
        [WF_COLL_ALLTOALL] = PAIRS,
        [WF_COLL_ALLTOALLV] = PAIRS,
    };

    return needs[kind];
}

/* The interfaces that m ranks of a node use. */
static uint64_t interfaces(const struct wf_coll_nccl *machine, uint32_t m)
{
    uint64_t n = m * wf_max_u64(machine->nics_per_gpu, 1);

    return machine->nics == 0 ? n : wf_min_u64(n, machine->nics);
}

static struct call call_of(const struct wf_coll_args *args, uint64_t bytes)
{
    const struct wf_coll_nccl *machine =
        args->nccl != NULL ? args->nccl : &wf_coll_nccl_default;
    uint32_t m = wf_coll_node_size(args);

    return (struct call){
        .machine = machine,
        .serves = needs_of(args->kind),
        .halves = args->kind != WF_COLL_ALLREDUCE,
        .ranks = args->size,
        .per_node = m,
        .nodes = args->size / m,
        .intra = mega(machine->nvlink),
        .inter = wf_times_u64(mega(machine->nic), interfaces(machine, m)),
        .bytes = bytes,
    };
}

/* ---- latency ---- */

/* The hops of a rank's data within nodes and between them. */
static void hops_of(const struct call *call, enum wf_coll_nccl_algorithm algorithm,
                    uint64_t *within, uint64_t *between)
{
    uint64_t passes = call->halves ? 1 : 2;

    switch (algorithm) {
    case WF_COLL_NCCL_RING:
        *between = call->nodes > 1 ? passes * (call->nodes - 1) : 0;
        *within = passes * (call->ranks - 1) - *between;
        if (call->serves == CHAIN && call->nodes == 1) {
            *within = 1;
        }
        return;
    case WF_COLL_NCCL_TREE:
        *within = 2 * ((uint64_t)call->per_node - 1);
        *between = 2 * (uint64_t)wf_coll_log2_up(call->nodes);
        return;
    case WF_COLL_NCCL_NVLS_TREE:
        *within = 1;
        *between = 2 * (uint64_t)wf_coll_log2_up(call->nodes);
        return;
    case WF_COLL_NCCL_COLLNET:
        *within = 2;
        *between = 1;
        return;
    case WF_COLL_NCCL_NVLS:
    case WF_COLL_NCCL_PAIRS:
    case WF_COLL_NCCL_ALGORITHMS:
        break;
    }
    *within = call->nodes == 1;
    *between = call->nodes > 1;
}

static uint64_t latency(const struct call *call, const struct row *row, uint32_t base)
{
    uint64_t within, between, nic = (uint64_t)(call->machine->nic_latency / PS_PER_NS);

    hops_of(call, (enum wf_coll_nccl_algorithm)row->algorithm, &within, &between);
    return (call->halves && row->algorithm == WF_COLL_NCCL_RING ? base / 4 * 3 : base) +
           within * row->within +
           between * (row->between + nic * (row->protocol == WF_COLL_SIMPLE ? 2 : 1));
}

/* ---- bandwidth ---- */

/* Nanoseconds, and bytes at so many MB/s. */
static int64_t time_of(uint64_t ns, uint64_t bytes, uint64_t mb_per_s)
{
    wf_u128 ps = (wf_u128)ns * (uint64_t)PS_PER_NS + (wf_u128)bytes * MEGA / mb_per_s;

    return ps > (wf_u128)WF_TIME_MAX ? WF_TIME_MAX : (int64_t)ps;
}

/* The bytes that pass a link of each GPU, as nccl-tests count them for the bus bandwidth. */
static uint64_t bus_bytes(const struct call *call)
{
    wf_u128 bytes = call->bytes;

    if (call->serves == CHAIN) {
        return call->bytes;
    }
    bytes = bytes * (call->halves ? 1 : 2) * (call->ranks - 1) / call->ranks;
    return bytes > UINT64_MAX ? UINT64_MAX : (uint64_t)bytes;
}

/* The bytes that the interfaces of a node send. A tree of two nodes has one edge for each half of
 * the data; an inner node of a larger one has three. */
static uint64_t network_bytes(const struct call *call, const struct row *row)
{
    wf_u128 bytes = call->bytes;

    if (row->algorithm == WF_COLL_NCCL_RING) {
        bytes = bus_bytes(call);
    } else if (row->algorithm == WF_COLL_NCCL_PAIRS) {
        bytes = bytes / call->ranks * (call->ranks - call->per_node) * call->per_node;
    } else if (row->algorithm != WF_COLL_NCCL_COLLNET && call->nodes > 2) {
        bytes *= 2;
    }
    if (row->protocol == WF_COLL_LL) {
        bytes *= 2;
    } else if (row->protocol == WF_COLL_LL128) {
        bytes = bytes * 128 / 120;
    }
    return bytes > UINT64_MAX ? UINT64_MAX : (uint64_t)bytes;
}

/* The bytes that a GPU sends within its node. */
static uint64_t link_bytes(const struct call *call)
{
    if (call->serves == PAIRS && call->nodes > 1) {
        return wf_times_u64(call->bytes / call->ranks, call->per_node - 1);
    }
    return bus_bytes(call);
}

static int64_t expected(const struct call *call, const struct row *row)
{
    const struct fit *fit = &row->fits[call->machine->gpu];
    uint64_t ns = latency(call, row, fit->base);
    int64_t time = time_of(ns, link_bytes(call), wf_max_u64(share(call->intra, fit->share), 1));

    if (call->nodes == 1) {
        return time;
    }
    return wf_max_i64(time, time_of(ns, network_bytes(call, row),
                                    wf_max_u64(share(call->inter, row->network), 1)));
}

/* ---- the choice ---- */

static bool serves(const struct call *call, const struct row *row)
{
    const struct wf_coll_nccl *machine = call->machine;
    bool many = call->nodes > 1;

    if ((row->serves & call->serves) == 0 || row->fits[machine->gpu].share == 0 ||
        (row->serves & (many ? NODES : ONE_NODE)) == 0) {
        return false;
    }
    if (row->algorithm == WF_COLL_NCCL_NVLS || row->algorithm == WF_COLL_NCCL_NVLS_TREE) {
        return machine->nvls && call->per_node > 1;
    }
    return row->algorithm != WF_COLL_NCCL_COLLNET || machine->sharp;
}

bool wf_coll_nccl_has(enum wf_coll_kind kind)
{
    return needs_of(kind) != 0;
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
    for (size_t i = 0; i < N_ROWS; i++) {
        enum wf_coll_nccl_algorithm algorithm = (enum wf_coll_nccl_algorithm)rows[i].algorithm;
        bool as_messages = algorithm == WF_COLL_NCCL_TREE || algorithm == WF_COLL_NCCL_RING ||
                           algorithm == WF_COLL_NCCL_PAIRS;

        if (!serves(&call, &rows[i]) || (messages && !as_messages)) {
            continue;
        }
        int64_t time = expected(&call, &rows[i]);
        if (best.time < 0 || time < best.time) {
            best = (struct wf_coll_nccl_choice){algorithm,
                                                (enum wf_coll_protocol)rows[i].protocol, time};
        }
    }
    return best;
}

/* ---- messages ---- */

/* Of a collective that is simulated as messages: latencies of the library's rings, in ns. */
static const struct {
    uint32_t base, within, between;
} of_rings[] = {
    [WF_COLL_PLAIN] = {0, 0, 0},
    [WF_COLL_LL] = {6600, 600, 2700},
    [WF_COLL_LL128] = {14000, 1900, 4000},
    [WF_COLL_SIMPLE] = {8400, 3400, 14000},
};

int64_t wf_coll_nccl_base_ps(enum wf_coll_protocol protocol)
{
    return PS_PER_NS * of_rings[protocol].base;
}

int64_t wf_coll_nccl_step_ps(enum wf_coll_protocol protocol, bool same_node)
{
    if (protocol == WF_COLL_PLAIN) {
        return 0;
    }
    return PS_PER_NS * (same_node ? of_rings[protocol].within - of_rings[WF_COLL_LL].within
                                  : of_rings[protocol].between - of_rings[WF_COLL_LL].between);
}
