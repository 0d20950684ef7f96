/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A block of a native trace in memory, and a position in it. An op is checked when it is read
 * for the first time; the repetitions of a loop are not checked again.
 */

#include "base/buf.h"
#include "program/ops/created.h"
#include "program/ops/groups.h"
#include "program/ops/quick_check.h"
#include "program/trace/weft/fold.h"

struct wf_native_decoder_loop {
    uint32_t begin, end; /* of the body */
    uint64_t left;       /* repetitions, with the present one */
    uint64_t n_ops;      /* of the body */
    uint64_t first;      /* number of its first op in this repetition */
};

struct wf_native_decoder {
    uint64_t first_op, n_ops;
    uint32_t rank;
    uint32_t records, size; /* begin and end of the records in `raw` */
    uint32_t n_slots;
    struct wf_op_plan *slots;
    uint64_t (*values)[WF_FIELDS_MAX]; /* of each slot, those of the latest op */
    const unsigned char *raw;          /* followed by bytes that may be read */
    bool has_copy;                     /* `raw` is part of this allocation */

    /* Where the next op is. */
    uint64_t n_done; /* ops before it in the block */
    uint64_t last;   /* n_done at the end of the innermost open loop, or of the block */
    uint32_t end;    /* ...and where that end is */
    uint32_t at;
    uint32_t depth;
    struct wf_native_decoder_loop loops[WF_NATIVE_LOOPS_MAX];

    /* Moving back and forth. */
    struct wf_native_bookmarks *bookmarks; /* null before the first seek */
    uint64_t n_skipped;                    /* ops that seeks have decoded one by one */

    /* The check. */
    uint32_t checked;      /* the bytes before this are checked */
    uint32_t comm;         /* of the latest op */
    bool known;            /* whether the rank has this communicator, and then... */
    struct wf_group group; /* ...its group */
    const struct wf_groups *groups;
    struct wf_created *created;
    const char *fault; /* null if none was found so far */
};

/* The content of a block. */
struct wf_native_decoder_source {
    const unsigned char *raw;
    uint32_t size;
    const struct wf_groups *groups;
    /* Requests that the rank created in the blocks before; those of this block are added. */
    struct wf_created *created;
    uint32_t rank;
    bool is_old; /* of a version before 3 */
    /* This process wrote the block, and checked its ops then: they are not checked again. */
    bool is_ours;
    bool stays; /* the bytes outlive the decoder and need not be copied */
    uint64_t first_op, n_ops;
};

/* Bytes after those of a block that may be read, whatever they are. */
enum { WF_NATIVE_PADDING = 1 + WF_VARINT_MAX * (1 + (int)WF_FIELDS_MAX) + 8 };

/* Makes a decoder that stands at the first op. The bytes are copied, unless they stay; then
 * WF_NATIVE_PADDING more can be read. Groups and created requests are kept. On failure returns null, and *fault says what is wrong. */
struct wf_native_decoder *wf_native_decoder_new(const struct wf_native_decoder_source *from,
                                                const char **fault);
void wf_native_decoder_free(struct wf_native_decoder *block); /* null is allowed */
/* Without bookmarks, which take at most some kilobytes. */
size_t wf_native_decoder_memory(const struct wf_native_decoder *block);

/* Sets the next op, whose arrays are in `arrays` until that is used again. False after the last
 * op, or if `fault` is set. */
bool wf_native_decoder_next(struct wf_native_decoder *block, struct wf_buf *arrays,
                            struct wf_op *op);

/* Goes to op `n` <= n_ops of the block; false if `fault` is set. Cheap if seeks went close to it
 * not long ago, or if few ops and loops are before it. */
bool wf_native_decoder_seek(struct wf_native_decoder *block, struct wf_buf *arrays, uint64_t n);
