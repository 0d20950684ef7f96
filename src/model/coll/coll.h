/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Collective operations as algorithms over point-to-point messages.
 *
 * An algorithm is arithmetic: what a rank does in a step is a function of the arguments of the
 * call and the number of the step. A rank inside a collective needs no other memory. Combining
 * data, and moving it within a rank, takes no simulated time.
 *
 * Each rank has `n_slots` slots of data, and a message carries slots. The length of a message
 * is the sum of its slots, so that an algorithm that moves the wrong data also moves the wrong
 * number of bytes. The conformance test runs algorithms with real contents. The slots are:
 *
 *   gather, scatter, allgather, reduce_scatter and their v-variants: slot i is the block of
 *       rank i; n_slots = size. If n_slots is c times the size, blocks are cut into c equal
 *       pieces; slot i is piece i mod c of the block of rank i / c.
 *   alltoall(v): there are two sets of n_slots = size. Messages are sent from the outgoing
 *       slots, where slot i is the block for rank i, and received into the incoming slots,
 *       where slot i is the block from rank i. An algorithm that forwards blocks uses the
 *       outgoing slots only (WF_COLL_RELAY); a block may end up in any of them.
 *   neighbor_*: two sets as well; slot i is the block for the i-th destination, or from the
 *       i-th source. A rank may be its own neighbour, and a neighbour may occur twice.
 *   bcast, reduce, allreduce, scan, exscan: the data, cut into n_slots pieces of equal length;
 *       the first ones are a byte longer if necessary. The algorithm chooses n_slots. In scan
 *       and exscan a rank also has a result: at first its own data or, in exscan, nothing.
 *   barrier: one slot of no bytes.
 *
 * To add an algorithm: one .c file with a WF_COLL_OPS() of model/coll/parts.h (or a few that share
 * their arithmetic), and one line each in model/coll/algorithms.def. The conformance test then covers
 * it.
 */

#include "base/registry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One row per collective: the enumerator, its name, and whether it has a root. */
#define WF_COLL_MAP(X)                                 \
    X(BARRIER, "barrier", 0)                           \
    X(BCAST, "bcast", 1)                               \
    X(REDUCE, "reduce", 1)                             \
    X(ALLREDUCE, "allreduce", 0)                       \
    X(GATHER, "gather", 1)                             \
    X(GATHERV, "gatherv", 1)                           \
    X(SCATTER, "scatter", 1)                           \
    X(SCATTERV, "scatterv", 1)                         \
    X(ALLGATHER, "allgather", 0)                       \
    X(ALLGATHERV, "allgatherv", 0)                     \
    X(ALLTOALL, "alltoall", 0)                         \
    X(ALLTOALLV, "alltoallv", 0)                       \
    X(REDUCE_SCATTER, "reduce_scatter", 0)             \
    X(REDUCE_SCATTER_BLOCK, "reduce_scatter_block", 0) \
    X(SCAN, "scan", 0)                                 \
    X(EXSCAN, "exscan", 0)                             \
    X(NEIGHBOR_ALLGATHER, "neighbor_allgather", 0)     \
    X(NEIGHBOR_ALLTOALL, "neighbor_alltoall", 0)

enum wf_coll_kind {
#define X(name, text, rooted) WF_COLL_##name,
    WF_COLL_MAP(X)
#undef X
        WF_COLL_KINDS,
};

struct wf_coll_nccl;

#define WF_COLL_NOBODY   UINT32_MAX
#define WF_COLL_SIZE_MAX (UINT32_C(1) << 30) /* up to this size, step numbers do not overflow */

/* The call of one rank. Members that the kind does not use are zero. */
struct wf_coll_args {
    enum wf_coll_kind kind;
    uint32_t rank, size; /* in the communicator; size from 1 to WF_COLL_SIZE_MAX */
    uint32_t root;
    /* bcast, reduce, allreduce, scan, exscan: the whole data. gather, scatter, allgather,
     * alltoall, reduce_scatter_block, neighbor_*: one block. */
    uint64_t bytes;
    /* The lengths of blocks, where they differ. allgatherv, reduce_scatter: [size], the same at
     * all ranks. gatherv, scatterv: [size] at the root; null elsewhere, where `bytes` is the
     * block of the rank. alltoallv: [size], for what this rank sends to each rank. neighbor_*:
     * [n_destinations], or null. */
    const uint64_t *counts;
    const uint64_t *recv_counts;            /* alltoallv: [size], for what this rank receives;
                                    neighbor_*: [n_sources], or null */
    const uint32_t *sources, *destinations; /* neighbor_*: ranks of the communicator */
    uint32_t n_sources, n_destinations;
    /* How many ranks in a row are on one node: 2 if ranks 0 and 1, 2 and 3 and so on share
     * nodes. Divides the size. 0 or 1: not known, or one rank on each node. */
    uint32_t node_size;
    const struct wf_coll_nccl *nccl; /* machine for the rules of NCCL; null: a default */
};

/* The number of ranks on a node, at least 1. */
static inline uint32_t wf_coll_node_size(const struct wf_coll_args *args)
{
    return args->node_size > 1 ? args->node_size : 1;
}

/* How many ranks in a row are on one node, if that is the same for all nodes; else 1. Asks for the
 * node of every rank. */
uint32_t wf_coll_scan_nodes(uint32_t size, uint32_t (*node_of)(const void *arg, uint32_t rank),
                            const void *arg);

/* The slots first + i, modulo n_slots, for i = 0 to count - 1. If `mask` is not 0, only those
 * whose i has a bit of the mask set. */
struct wf_coll_slots {
    uint32_t first, count, mask;
};

enum wf_coll_take {
    WF_COLL_STORE,          /* the data replaces the contents of the slots */
    WF_COLL_COMBINE,        /* the data is combined with the contents of the slots */
    WF_COLL_COMBINE_RESULT, /* scan, exscan: also combined with the result of the rank */
    WF_COLL_RELAY,          /* alltoall: the data replaces the contents of the outgoing slots */
};

/* A step: at most one message is sent and one received, both at the same time. The next step
 * begins when both are complete. */
struct wf_coll_step {
    uint32_t send_to, recv_from; /* ranks of the communicator, or WF_COLL_NOBODY */
    struct wf_coll_slots send, recv;
    enum wf_coll_take take; /* what happens to the received data */
    /* Do not wait in this step. The next step that waits, or the end, waits for its messages
     * too. Until then the received data is not used and the sent data not changed; several
     * messages may be combined into one slot. */
    bool go_on;
};

/* An algorithm. All members except `applies`, `by_node` and `hops` are required. */
struct wf_coll_ops {
    const char *name;    /* "recursive_doubling" */
    const char *summary; /* one line, for listings */
    enum wf_coll_kind kind;
    bool by_node; /* whether it uses node_size of the call */
    /* For pipelines: the messages in a row, within nodes and between them, that a piece of the
     * data takes. The latency of a protocol is paid once for each of them. Null: it is paid in
     * every step. */
    void (*hops)(const struct wf_coll_args *args, uint32_t *within, uint32_t *between);
    /* Whether the algorithm can serve this call; null if it can serve any. Depends on kind,
     * size, node_size and root only, which are the same at all ranks. */
    bool (*applies)(const struct wf_coll_args *args);
    /* How many slots each rank has; the same at all ranks, except for neighbor_*. */
    uint32_t (*n_slots)(const struct wf_coll_args *args);
    /* Sets *out to what the rank does in this step; false after the last step. A step may have
     * no messages. */
    bool (*step)(const struct wf_coll_args *args, uint32_t step, struct wf_coll_step *out);
};

#define WF_COLL_ALGORITHM(name) extern const struct wf_coll_ops wf_coll_##name;
#include "model/coll/algorithms.def"
extern struct wf_registry wf_coll_registry; /* for plug-ins */

/* The registered algorithms in a fixed order, those of a kind together, null-terminated. */
const struct wf_coll_ops *const *wf_coll_table(void);

/* Whether an algorithm can serve a call. */
static inline bool wf_coll_applies(const struct wf_coll_ops *ops,
                                   const struct wf_coll_args *args)
{
    return ops->applies == NULL || ops->applies(args);
}

const char *wf_coll_name(enum wf_coll_kind kind);
bool wf_coll_has_root(enum wf_coll_kind kind);

/* The algorithm of that kind called `name`, or null. */
const struct wf_coll_ops *wf_coll_find(enum wf_coll_kind kind, const char *name);

/* The length in bytes of a message with these slots. `received` tells alltoallv and neighbor_*
 * whether the rank receives or sends it. */
uint64_t wf_coll_bytes(const struct wf_coll_args *args, uint32_t n_slots,
                       const struct wf_coll_slots *slots, bool received);

/* The library whose choice of algorithms, by kind, size and bytes, weft follows. Of the two
 * sets of NCCL, the second has formulas instead of messages wherever it can. */
enum wf_coll_rules {
    WF_COLL_RULES_MPICH,
    WF_COLL_RULES_OPENMPI,
    WF_COLL_RULES_NCCL,
    WF_COLL_RULES_NCCL_FORMULA,
};
extern const char *const wf_coll_rules_names[]; /* null-terminated */

/* The algorithm that these rules choose for a call. Never null; it applies to the call, and
 * is the same at all ranks. Takes constant time, except for allgatherv and reduce_scatter:
 * their counts are added up, which takes time proportional to `size`. */
const struct wf_coll_ops *wf_coll_choose(enum wf_coll_rules rules,
                                         const struct wf_coll_args *args);

/* How GPUs write data so that the receiver notices it. LL and LL128 add flags to the data;
 * Simple adds fences. */
enum wf_coll_protocol {
    WF_COLL_PLAIN, /* none: a message of MPI */
    WF_COLL_LL,
    WF_COLL_LL128,
    WF_COLL_SIMPLE,
};
extern const char *const wf_coll_protocol_names[];

/* The protocol that these rules choose for a call; WF_COLL_PLAIN for those of MPI. */
enum wf_coll_protocol wf_coll_choose_protocol(enum wf_coll_rules rules,
                                              const struct wf_coll_args *args);

/* The bytes on the wire for this many bytes of data. */
static inline uint64_t wf_coll_wire_bytes(enum wf_coll_protocol protocol, uint64_t bytes)
{
    enum { LL128_LINE = 128, LL128_DATA = 120 };

    if (protocol == WF_COLL_LL) {
        return bytes > UINT64_MAX / 2 ? UINT64_MAX : 2 * bytes;
    }
    if (protocol == WF_COLL_LL128) {
        uint64_t flags = bytes / LL128_DATA * (LL128_LINE - LL128_DATA);
        return bytes > UINT64_MAX - flags ? UINT64_MAX : bytes + flags;
    }
    return bytes;
}

/* Whether these rules use a formula for a call, instead of messages. */
bool wf_coll_is_formula(enum wf_coll_rules rules, const struct wf_coll_args *args);
