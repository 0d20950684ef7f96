/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A source yields the ops of a program, one op of one rank at a time.
 *
 * No caller can see a source change. The caller keeps the position of each rank in a cursor,
 * which is part of the rank's state: an optimistic run that rolls back restores the cursor,
 * asks again, and must get the same op. Several threads may ask for different ranks at once,
 * but only one thread asks for a rank at a time. So a source may keep for each rank what makes
 * the next op cheap.
 *
 * To add a generator: one .c file that defines a const struct wf_source_ops and one line in
 * program/gen/generators.def. The conformance test then covers it.
 */

#include "base/param.h"
#include "program/ops/op.h"

#include <stdbool.h>

/* The position of a rank; zeroed is its beginning. A source gives `word` any meaning; `outer`
 * is for a source that plays parts of another one (program/ops/roi.h). The caller sets the other
 * members to the match of the latest wildcard receive or probe, for programs whose next op
 * depends on it.
 *
 * To ask for the same op again, the caller restores `word` and sets outer[0] to
 * WF_CURSOR_AGAIN. */
struct wf_cursor {
    uint64_t word[3];
    uint32_t outer[4];
    uint32_t seen_source; /* a rank of the program */
    int32_t seen_tag;
    uint32_t
        span; /* compute ops that a source with other times has played (program/ops/retimed.h) */
};

#define WF_CURSOR_AGAIN UINT32_C(0xffffffff)

/* The ranks of a communicator, as one of them sees it. Its rank r is rank members[r] of the
 * program or, without members, rank first + r % width * stride + r / width * stride2. */
struct wf_group {
    uint32_t id; /* the same for all members; unique among the groups of a rank */
    uint32_t size;
    uint32_t rank; /* of the rank that asked */
    uint32_t first, stride, width, stride2;
    const uint32_t *members;
};

/* The ranks of the group that are not the same: in a folded program (struct wf_source_ops, fold),
 * whose rows lie on top of each other, those of the first row. */
static inline uint32_t wf_group_distinct(uint32_t size, uint32_t width, uint32_t stride2)
{
    return stride2 == 0 && width < size ? width : size;
}

static inline uint32_t wf_group_rank(const struct wf_group *group, uint32_t r)
{
    return group->members != NULL ? group->members[r]
                                  : group->first + r % group->width * group->stride +
                                        r / group->width * group->stride2;
}

/* The group of these ranks as one of them sees it; false if it is none of them. */
static inline bool wf_group_of(uint32_t id, uint32_t size, const uint32_t *members,
                               uint32_t rank, struct wf_group *out)
{
    *out = (struct wf_group){
        .id = id, .size = size, .stride = 1, .width = size, .members = members};
    while (out->rank < size && members[out->rank] != rank) {
        out->rank++;
    }
    return out->rank < size;
}

/* Bytes that a program needs on a device, in the rank that needs most. */
struct wf_source_memory {
    uint64_t weights, gradients, optimizer, activations;
    uint64_t cache; /* keys and values of sequences */
};

static inline uint64_t wf_source_memory_sum(const struct wf_source_memory *memory)
{
    return memory->weights + memory->gradients + memory->optimizer + memory->activations +
           memory->cache;
}

/* What a program does, for figures in results. */
struct wf_source_work {
    uint64_t repeats; /* calls of the collective, or training steps */
    /* A single collective: its name, its bytes, and how its bandwidth relates to that of a bus
     * (nccl-tests). Or null: training. */
    const char *collective;
    uint64_t bytes;
    double bus_share;
    uint64_t tokens; /* of a training step */
    uint64_t flops_per_token;
    bool is_8bit;                      /* matrices are multiplied with 8-bit numbers */
    const char *framework, *recompute; /* of training, or null: what auto came to */
    struct wf_source_memory memory;    /* of training */
    /* The file of measured kernels or null, and of which share of the operations of products and
     * attention it has the time, or that of a shape near it. */
    const char *kernels;
    double kernels_measured, kernels_scaled;
};

/* What generators know of the machine. */
struct wf_source_machine {
    uint64_t memory;       /* bytes of a device; 0: unknown */
    const char *framework; /* cpu.framework */
    bool counts;           /* it has the time of counted operations: cpu.tflops16 */
};

/* What has names. Their numbers are in trace files. A site is that of a compute op: the functions
 * that make the call after it, "main > solve". */
enum wf_source_name {
    WF_NAME_REGION,
    WF_NAME_CALL,
    WF_NAME_COUNTER,
    WF_NAME_SITE,
    WF_NAME_FILE,
    WF_NAME_KINDS
};

/* What the `tag` of an op is a name of; WF_NAME_KINDS: of nothing. */
static inline enum wf_source_name wf_op_names(enum wf_op_kind kind)
{
    enum wf_op_family family = wf_op_info(kind)->family;

    return family == WF_FAMILY_MARKER ? WF_NAME_REGION
           : family == WF_FAMILY_CALL ? WF_NAME_CALL
           : family == WF_FAMILY_FILE ? WF_NAME_FILE
                                      : WF_NAME_KINDS;
}

/* A folded program: rank r stands for the ranks r / ranks * ranks * copies + r % ranks + c * ranks of
 * the whole one, for each c below `copies`. */
struct wf_fold {
    uint32_t ranks; /* in a row, of one copy */
    uint32_t copies;
};

/* The first rank for which a rank stands. */
static inline uint32_t wf_fold_rank(const struct wf_fold *fold, uint32_t rank)
{
    return fold->copies == 1
               ? rank
               : rank / fold->ranks * fold->ranks * fold->copies + rank % fold->ranks;
}

struct wf_live_ops;
struct wf_source;

/* Members marked `may be null` have a default; all others are required. */
struct wf_source_ops {
    const char *name;    /* as written on the command line, without the "gen:" */
    const char *summary; /* one line, for --help */
    const struct wf_param *params;
    size_t params_size;

    /* Notes in the params what create() is to know of the machine. May be null. */
    void (*adapt)(void *params, const struct wf_source_machine *machine);
    /* Builds the source of a program of `n_ranks` >= 1 ranks. `params` is borrowed. On success
     * the caller owns *out and releases it with wf_source_free(); on failure *out is left
     * alone. */
    enum wf_status (*create)(const void *params, uint32_t n_ranks, struct wf_source **out,
                             struct wf_err *err);
    void (*destroy)(struct wf_source *source); /* may be null: wf_source_end() */

    /* Sets *op to the rank's next op and moves the cursor past it. At the end of the rank
     * returns false and changes neither. An op that cannot be read ends the rank too, and
     * wf_source_check() tells why. */
    bool (*next)(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                 struct wf_op *op);

    /* The communicator `comm` of the rank; false if the rank does not have it. May be null:
     * WF_COMM_WORLD is all ranks, and there are no others. */
    bool (*group)(const struct wf_source *source, uint32_t rank, uint32_t comm,
                  struct wf_group *out);
    /* The name of a region, call or counter; null if none has this number. May be null. */
    const char *(*name_of)(const struct wf_source *source, enum wf_source_name kind,
                           uint32_t number);
    /* How long the rank ran when it was recorded; false if that is not known. May be null. */
    bool (*wall)(const struct wf_source *source, uint32_t rank, int64_t *ps);
    /* The time that recording took for each compute op, which no op contains; false if that is
     * not known. May be null. */
    bool (*cost)(const struct wf_source *source, uint32_t rank, int64_t *ps);
    /* What the program does; false if that is not known or has no figures. May be null. */
    bool (*work)(const struct wf_source *source, struct wf_source_work *out);
    /* Folds a program that consists of copies which do the same, before its first use. Of several copies
     * in a row one is left, and its collectives with other copies have itself in the place of all of
     * them: their group has the size of the whole program, and a row for each copy (stride2 = 0). A
     * copy fills nodes of `node` ranks, at least two, so that no message to another copy stays within
     * a node. With `exactly`, only if nothing but the pipeline and the collectives between copies sends
     * messages between nodes: else messages that arrive at a node at the same time may take their turns
     * otherwise. Sets *out; false: it was not folded. May be null: it has no copies. */
    bool (*fold)(struct wf_source *source, uint32_t node, bool exactly, struct wf_fold *out);
    /* WF_OK, or where and why an op could not be read. May be null. */
    enum wf_status (*check)(const struct wf_source *source, struct wf_err *err);
};

/* The common head of every source; the concrete struct has it as its first member. */
struct wf_source {
    const struct wf_source_ops *ops;
    uint32_t n_ranks;
    /* Or null: another source, which answers what the ops of this one leave null. */
    struct wf_source *inner;
    bool owns_inner; /* it is released with this one */
    /* The approximate number of messages, for the progress display; 0: unknown. */
    uint64_t messages_expected;
    /* Whether a rank may have operations in progress besides its blocking calls and eager
     * messages: synchronous sends, nonblocking collectives, one-sided operations. */
    bool acts_in_background;
    /* Whether the outcome of ops may depend on timing: wildcards, waitany, test and probe
     * without a recorded outcome. */
    bool depends_on_time;
    /* Whether ranks may call a collective with different sizes. */
    bool any_sizes;
    /* For a running program (program/ops/live.h), else null. Its ops cannot be asked for again, except
     * as WF_CURSOR_AGAIN allows. */
    const struct wf_live_ops *live;
    /* Whether ops depend on the matches of wildcard receives (seen_source, seen_tag): only a
     * simulation knows the ops of such a program. */
    bool follows_matches;
};

static inline bool wf_source_next(const struct wf_source *source, uint32_t rank,
                                  struct wf_cursor *cursor, struct wf_op *op)
{
    return source->ops->next(source, rank, cursor, op);
}

/* These call the member of ops, or that of the inner source, or do what the default is. */
WF_PLUGIN_API bool wf_source_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                                   struct wf_group *out);

const char *wf_source_name_of(const struct wf_source *source, enum wf_source_name kind,
                              uint32_t number);
bool wf_source_wall(const struct wf_source *source, uint32_t rank, int64_t *ps);
bool wf_source_cost(const struct wf_source *source, uint32_t rank, int64_t *ps);
/* Only the source itself answers: others may play a part of it. */
bool wf_source_work(const struct wf_source *source, struct wf_source_work *out);
enum wf_status wf_source_check(const struct wf_source *source, struct wf_err *err);

void wf_source_free(struct wf_source *source); /* null is allowed */

/* ---- for sources that play another one ---- */

/* Makes such a source of `size` bytes, zeroed but for its head, which is that of `inner` with
 * other ops. If `inner` is owned, it is released with the source, else it must outlive it. */
void *wf_source_around(size_t size, const struct wf_source_ops *ops, struct wf_source *inner,
                       bool owned);

/* The end of each destroy(), and all of it if that is null: releases the source, and the inner one
 * if it is owned. */
WF_PLUGIN_API void wf_source_end(struct wf_source *source);

/* wall() of sources that do not play what was recorded. */
bool wf_source_no_wall(const struct wf_source *source, uint32_t rank, int64_t *ps);
