/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_COLL_COLL_H
#define WF_COLL_COLL_H

/*
 * Collective operations as algorithms over point-to-point messages.
 *
 * An algorithm is arithmetic: what a rank does in a step is a function of the call's arguments
 * and the step's number, so that a rank inside a collective needs no memory but that number.
 * Combining data, and moving it about within a rank, takes no time.
 *
 * Data. Each rank has `n_slots` slots, and messages move slots: a message is as long as the
 * slots it carries, so that an algorithm which moves the wrong data moves the wrong number of
 * bytes too, and the conformance test can run it with real contents. What slots mean:
 *
 *   gather, scatter, allgather, reduce_scatter and their v-variants: slot i is the block of
 *       rank i; n_slots = size.
 *   alltoall(v): there are two sets of n_slots = size. Messages are sent from the outgoing
 *       slots, where slot i is the block for rank i, and received into the incoming slots,
 *       where slot i is the block from rank i. An algorithm that passes blocks on uses the
 *       outgoing slots alone (WF_COLL_RELAY); which of them they end up in does not matter.
 *   neighbor_*: likewise two sets; slot i is the block for the i-th destination, or from the
 *       i-th source. Ranks may be their own neighbours, and neighbours several times.
 *   bcast, reduce, allreduce, scan, exscan: the data cut into n_slots pieces as equal as
 *       possible, the first ones being longer; how many is the algorithm's choice. In scan and
 *       exscan a rank has a result besides, at first its own data or, in exscan, nothing.
 *   barrier: one slot of no bytes.
 *
 * To add an algorithm: one .c file with a const struct wf_coll_ops (or a few that share their
 * arithmetic), and one line each in coll/algorithms.def. The conformance test then covers it.
 */

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

#define WF_COLL_NOBODY   UINT32_MAX
#define WF_COLL_SIZE_MAX (UINT32_C(1) << 30) /* no number of steps overflows */

/* One rank's call. Members that a kind does not use are zero. */
struct wf_coll_args {
    enum wf_coll_kind kind;
    uint32_t rank, size; /* of the communicator; size from 1 to WF_COLL_SIZE_MAX */
    uint32_t root;
    /* bcast, reduce, allreduce, scan, exscan: the whole data. gather, scatter, allgather,
     * alltoall, reduce_scatter_block, neighbor_*: one block. */
    uint64_t bytes;
    /* The length of each block, where they differ. allgatherv, reduce_scatter: [size], the same
     * at all ranks. gatherv, scatterv: [size] at the root, else null and `bytes` is the rank's
     * own block. alltoallv: [size], what this rank sends to each; neighbor_*: [n_destinations]
     * if not null. */
    const uint64_t *counts;
    const uint64_t *recv_counts; /* alltoallv: [size], what this rank receives from each;
                                    neighbor_*: [n_sources] if not null */
    const uint32_t *sources, *destinations; /* neighbor_*: ranks of the communicator */
    uint32_t n_sources, n_destinations;
};

/* The slots first, first + 1, ... first + count - 1, all modulo n_slots; if `mask` is not 0, of
 * these only those whose number i in 0..count-1 (counted from `first`) has a bit of it set. */
struct wf_coll_slots {
    uint32_t first, count, mask;
};

enum wf_coll_take {
    WF_COLL_STORE,          /* it replaces what is in the slots */
    WF_COLL_COMBINE,        /* it is combined with what is in the slots */
    WF_COLL_COMBINE_RESULT, /* scan, exscan: likewise, and with the rank's result too */
    WF_COLL_RELAY,          /* alltoall: it replaces what is in the outgoing slots */
};

/* At most one message sent and one received, at once; the next step comes after both. */
struct wf_coll_step {
    uint32_t send_to, recv_from; /* ranks of the communicator, or WF_COLL_NOBODY */
    struct wf_coll_slots send, recv;
    enum wf_coll_take take; /* what becomes of what is received */
    bool go_on; /* do not wait: the next step that waits, or the end, waits for these too. What
                   is received is not used, and what is sent not changed, before; several
                   messages may be combined into a slot */
};

/* All members are required. */
struct wf_coll_ops {
    const char *name;    /* "recursive_doubling" */
    const char *summary; /* one line, for listings */
    enum wf_coll_kind kind;
    /* Whether the algorithm can serve this call; depends on nothing but kind, size and root,
     * which are the same at all ranks. */
    bool (*applies)(const struct wf_coll_args *args);
    /* How many slots each rank has; the same at all ranks, except for neighbor_*. */
    uint32_t (*n_slots)(const struct wf_coll_args *args);
    /* What the rank does in this step; false when the steps before were all. A step without
     * messages is allowed. */
    bool (*step)(const struct wf_coll_args *args, uint32_t step, struct wf_coll_step *out);
};

#define WF_COLL_ALGORITHM(name) extern const struct wf_coll_ops wf_coll_##name;
#include "coll/algorithms.def"

/* The registered algorithms in a fixed order, those of a kind together, null-terminated. */
const struct wf_coll_ops *const *wf_coll_table(void);

const char *wf_coll_name(enum wf_coll_kind kind);
bool wf_coll_has_root(enum wf_coll_kind kind);

/* The algorithm of that kind called `name`, or null. */
const struct wf_coll_ops *wf_coll_find(enum wf_coll_kind kind, const char *name);

/* The bytes of a message that carries `slots`: what this rank sends, or (for alltoallv and
 * neighbor_*, if `received`) what it receives. */
uint64_t wf_coll_bytes(const struct wf_coll_args *args, uint32_t n_slots,
                       const struct wf_coll_slots *slots, bool received);

/* Whose choice of algorithms by kind, size and bytes is followed. */
enum wf_coll_rules { WF_COLL_RULES_MPICH, WF_COLL_RULES_OPENMPI };
extern const char *const wf_coll_rules_names[]; /* null-terminated */

/* The algorithm that these rules choose for a call: never null, one that applies, and the same
 * at all ranks. Takes time in proportion to `size` for allgatherv and reduce_scatter, whose
 * counts are added up. */
const struct wf_coll_ops *wf_coll_choose(enum wf_coll_rules rules,
                                         const struct wf_coll_args *args);

#endif
