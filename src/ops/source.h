/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_OPS_SOURCE_H
#define WF_OPS_SOURCE_H

/*
 * Where ops come from: one op at a time, for one rank at a time.
 *
 * A source does not change once it is created, as far as anybody can see. Where a rank stands
 * is kept by the caller, in a cursor that is part of the rank's state: an optimistic run that
 * goes back restores the cursor and asks again, and must get the same answer. Different ranks
 * may be asked for by different threads at once; one rank is asked for by one thread at a time,
 * so that a source may remember for each rank what makes the likely next question cheap.
 *
 * To add a generator: one .c file that defines a const struct wf_source_ops and one line in
 * gen/generators.def. The conformance test then covers it.
 */

#include "base/param.h"
#include "ops/op.h"

#include <stdbool.h>

/* Zeroed at a rank's beginning; what the words mean is the source's own business, and `outer`
 * is for a source that plays parts of another one (ops/roi.h). The rest is written by the
 * caller: what the last receive or probe that left its source or its tag open got, for programs
 * that do next what depends on it.
 *
 * An op that was got can be asked for again with the words that were there before, and
 * WF_CURSOR_AGAIN in outer[0]. */
struct wf_cursor {
    uint64_t word[3];
    uint32_t outer[4];
    uint32_t seen_source; /* a rank of the program */
    int32_t seen_tag;
};

#define WF_CURSOR_AGAIN UINT32_C(0xffffffff)

/* The ranks of a communicator, as one of them sees it. Rank r of it is rank members[r] of the
 * program, or if that is null first + r % width * stride + r / width * stride2. */
struct wf_group {
    uint32_t
        id; /* the same at all members; different for groups of which one rank is a member */
    uint32_t size;
    uint32_t rank; /* the asker's own */
    uint32_t first, stride, width, stride2;
    const uint32_t *members;
};

static inline uint32_t wf_group_rank(const struct wf_group *group, uint32_t r)
{
    return group->members != NULL ? group->members[r]
                                  : group->first + r % group->width * group->stride +
                                        r / group->width * group->stride2;
}

/* What has names. Their numbers are in trace files. */
enum wf_source_name { WF_NAME_REGION, WF_NAME_CALL, WF_NAME_COUNTER, WF_NAME_KINDS };

struct wf_live_ops;
struct wf_source;

/* Members marked `may be null` have a default; all others are required. */
struct wf_source_ops {
    const char *name;    /* as written on the command line, without the "gen:" */
    const char *summary; /* one line, for --help */
    const struct wf_param *params;
    size_t params_size;

    /* Builds the source of a program of `n_ranks` >= 1 ranks. `params` is borrowed. On success
     * the caller owns *out and releases it with wf_source_free(); on failure *out is left
     * alone. */
    enum wf_status (*create)(const void *params, uint32_t n_ranks, struct wf_source **out,
                             struct wf_err *err);
    void (*destroy)(struct wf_source *source); /* may be null: free() */

    /* Sets *op to the rank's next op and moves the cursor past it. At the end of the rank's
     * program returns false and leaves both alone. What cannot be read ends the program too,
     * and wf_source_check() says why. */
    bool (*next)(const struct wf_source *source, uint32_t rank, struct wf_cursor *cursor,
                 struct wf_op *op);

    /* The communicator `comm` of an op of this rank. Returns false if the rank has none of this
     * number. May be null: WF_COMM_WORLD is all ranks, and there are no others. */
    bool (*group)(const struct wf_source *source, uint32_t rank, uint32_t comm,
                  struct wf_group *out);
    /* The name of a region, call or counter; null if none has this number. May be null. */
    const char *(*name_of)(const struct wf_source *source, enum wf_source_name kind,
                           uint32_t number);
    /* The time the rank took when it was recorded; false if that is not known. May be null. */
    bool (*wall)(const struct wf_source *source, uint32_t rank, int64_t *ps);
    /* What recording the rank took for each op that computes, which is in none of its times;
     * false if that is not known. May be null. */
    bool (*cost)(const struct wf_source *source, uint32_t rank, int64_t *ps);
    /* WF_OK unless an op could not be read: then where and why. May be null. */
    enum wf_status (*check)(const struct wf_source *source, struct wf_err *err);
};

/* The common head of every source; the concrete struct has it as its first member. */
struct wf_source {
    const struct wf_source_ops *ops;
    uint32_t n_ranks;
    /* Or null: another source, which answers what the ops of this one leave null. */
    const struct wf_source *inner;
    /* Messages of the whole program, roughly, to tell how far a run is; 0 is unknown. */
    uint64_t messages_expected;
    /* Whether a rank may have more under way than its blocking calls and eager messages:
     * synchronous sends, nonblocking collectives, one-sided operations. */
    bool acts_in_background;
    /* Whether what the program does next may depend on time: wildcards, waitany, test and probe
     * without recorded outcome. */
    bool depends_on_time;
    /* Of a program that runs (ops/live.h), else null: nothing of it can be taken back or
     * asked for twice, beyond what WF_CURSOR_AGAIN says. */
    const struct wf_live_ops *live;
    /* Whether its ops depend on what open receives got (seen_source, seen_tag): then only a run
     * can tell what they are. */
    bool follows_matches;
};

static inline bool wf_source_next(const struct wf_source *source, uint32_t rank,
                                  struct wf_cursor *cursor, struct wf_op *op)
{
    return source->ops->next(source, rank, cursor, op);
}

/* These call the member of ops, or that of the inner source, or do what the default is. */
bool wf_source_group(const struct wf_source *source, uint32_t rank, uint32_t comm,
                     struct wf_group *out);

const char *wf_source_name_of(const struct wf_source *source, enum wf_source_name kind,
                              uint32_t number);
bool wf_source_wall(const struct wf_source *source, uint32_t rank, int64_t *ps);
bool wf_source_cost(const struct wf_source *source, uint32_t rank, int64_t *ps);
WF_NODISCARD
enum wf_status wf_source_check(const struct wf_source *source, struct wf_err *err);

void wf_source_free(struct wf_source *source); /* null is allowed */

#endif
