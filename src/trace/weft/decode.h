/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_WEFT_DECODE_H
#define WF_TRACE_WEFT_DECODE_H

/*
 * A block of a native trace in memory, and a place in it. Ops are checked when they are first
 * come upon; what is repeated by a loop is not checked again.
 */

#include "base/buf.h"
#include "ops/created.h"
#include "ops/groups.h"
#include "trace/weft/fold.h"

struct wf_native_decoder_loop {
    uint32_t begin, end; /* of the body */
    uint64_t left;       /* repetitions, with the one under way */
    uint64_t n_ops;      /* of the body */
    uint64_t first;      /* number of its first op in this repetition */
};

struct wf_native_slot {
    const struct wf_op_layout *layout;
    enum wf_op_kind kind;
    bool makes; /* a request */
};

struct wf_native_decoder {
    uint64_t first_op, n_ops;
    uint32_t rank;
    uint32_t records, size; /* begin and end of the records in `raw` */
    uint32_t n_slots;
    struct wf_native_slot *slots;
    uint64_t (*values)[WF_FIELDS_MAX]; /* of each slot, those of the latest op */
    unsigned char *raw;                /* with some bytes of nothing behind it */

    /* Where the next op is. */
    uint64_t n_done; /* ops before it in the block */
    uint64_t last;   /* what that is at the end of the innermost loop under way, or the block */
    uint32_t end;    /* ...and where that is */
    uint32_t at;
    uint32_t depth;
    struct wf_native_decoder_loop loops[WF_NATIVE_LOOPS_MAX];

    /* The check. */
    uint32_t checked;      /* where it stands */
    uint32_t comm;         /* of the latest op */
    bool known;            /* whether the rank has that, and then... */
    struct wf_group group; /* ...what it is */
    const struct wf_groups *groups;
    struct wf_created *created;
    const char *fault; /* null if none was found so far */
};

/* What a block is made from. */
struct wf_native_decoder_source {
    const unsigned char *raw;
    uint32_t size;
    const struct wf_groups *groups;
    /* Requests that the rank created in the blocks before; those of this block are added. */
    struct wf_created *created;
    uint32_t rank;
    bool is_old; /* of a version before 3 */
    uint64_t first_op, n_ops;
};

/* A block, which stands at its first op; the bytes are copied, the groups and what was made are
 * kept. On failure null, and *fault says what is wrong. */
struct wf_native_decoder *wf_native_decoder_new(const struct wf_native_decoder_source *from,
                                                const char **fault);
void wf_native_decoder_free(struct wf_native_decoder *block); /* null is allowed */
size_t wf_native_decoder_memory(const struct wf_native_decoder *block);

/* The next op; its arrays are in `arrays`, until that is used again. False behind the last, or
 * if `fault` says so. */
bool wf_native_decoder_next(struct wf_native_decoder *block, struct wf_buf *arrays,
                            struct wf_op *op);

/* Goes to op `n` <= n_ops of the block; false likewise. */
bool wf_native_decoder_seek(struct wf_native_decoder *block, struct wf_buf *arrays, uint64_t n);

#endif
