/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The one encoder of the native format (docs/reference/trace-format.md): what is in blocks,
 * tables and indexes. The writer of traces uses it, and the library that records running
 * programs (capture/). So nothing here allocates, prints or has state of its own: every
 * function writes to memory of the caller and returns where it stopped.
 */

#include "base/varint.h"
#include "program/ops/fields.h"

#include <string.h>

/* ---- blocks ---- */

enum {
    WF_NATIVE_LOOP = 0xff,                                           /* in place of a slot */
    WF_NATIVE_HEAD_MAX = 1 + WF_OP_KINDS,                            /* bytes before the ops */
    WF_NATIVE_OP_MAX = 1 + WF_VARINT_MAX * (1 + (int)WF_FIELDS_MAX), /* without arrays */
    WF_NATIVE_LOOPS_MAX = 8,                                         /* loops in loops */
};

/* The state of a block that is being encoded; zeroed is an empty block. */
struct wf_native_encoder {
    uint8_t kinds[WF_OP_KINDS]; /* of each slot */
    uint8_t slots[WF_OP_KINDS]; /* of each kind its slot + 1, or 0 */
    uint32_t n_slots;
    uint64_t values[WF_OP_KINDS][WF_FIELDS_MAX]; /* of each slot, those of the latest op */
};

/* Writes an op without its arrays, which follow: bit i of `arrays` says that array i does.
 * Takes at most WF_NATIVE_OP_MAX bytes. */
unsigned char *wf_native_encode_op(struct wf_native_encoder *encoder, enum wf_op_kind kind,
                                   const uint64_t *values, uint64_t arrays, unsigned char *at);

/* The slot of a kind in the block. */
static inline uint8_t wf_native_slot_of(struct wf_native_encoder *encoder, enum wf_op_kind kind)
{
    if (encoder->slots[kind] == 0) {
        memset(encoder->values[encoder->n_slots], 0, sizeof(encoder->values[0]));
        encoder->kinds[encoder->n_slots++] = (uint8_t)kind;
        encoder->slots[kind] = (uint8_t)encoder->n_slots;
    }
    return (uint8_t)(encoder->slots[kind] - 1);
}

/* The part of an op after its slot: which of its `n` fields differ from the latest ones of the
 * slot, and how. Bit i of `wide`: field i has 64 bits. With a constant `n` the loop becomes
 * straight code. */
static inline __attribute__((always_inline)) unsigned char *
wf_native_encode_values(uint64_t *latest, const uint64_t *values, uint32_t n, uint64_t wide,
                        uint64_t arrays, unsigned char *at)
{
    unsigned char *end = at + 1; /* the mask mostly takes one byte */
    uint64_t mask = arrays << n;

#pragma GCC unroll 10
    for (uint32_t i = 0; i < n; i++) {
        if (values[i] != latest[i]) {
            int64_t by = (wide >> i & 1) != 0
                             ? (int64_t)(values[i] - latest[i])
                             : (int32_t)((uint32_t)values[i] - (uint32_t)latest[i]);
            end = wf_varint_write(end, wf_zigzag(by));
            mask |= UINT64_C(1) << i;
            latest[i] = values[i];
        }
    }
    if (mask < 0x80) {
        *at = (unsigned char)mask;
        return end;
    }
    memmove(at + 2, at + 1, (size_t)(end - at) - 1); /* it has at most 14 bits */
    (void)wf_varint_write(at, mask);
    return end + 1;
}

/* Writes array i of an op, at most WF_VARINT_MAX * (1 + length) bytes. */
unsigned char *wf_native_encode_array(const struct wf_op_parts *parts, uint32_t i,
                                      unsigned char *at);

/* Differences begin at 0 again, as they do around and inside every repetition of a loop. */
void wf_native_encode_restart(struct wf_native_encoder *encoder);

/* Writes what stands before the ops of the block, and makes the encoder empty. Takes
 * n_slots + 1 bytes. */
unsigned char *wf_native_encode_head(struct wf_native_encoder *encoder, unsigned char *at);

/* ---- tables ---- */

enum wf_native_record_type {
    WF_RECORD_CREATOR = 1,
    WF_RECORD_NAME = 2,
    WF_RECORD_GROUP = 3,
    WF_RECORD_BIND = 4,
    WF_RECORD_WALL = 5,
    WF_RECORD_ROOTS = 6,
    WF_RECORD_CLOCK = 7,
    WF_RECORD_COST = 8,
    WF_RECORD_CANCELLED = 9,
    WF_RECORD_STREAMS = 10,
};

/* What a record of a table holds: numbers, then perhaps a text. */
struct wf_native_record {
    enum wf_native_record_type type;
    const uint64_t *numbers;
    size_t n_numbers;
    const char *text; /* or null */
};

/* The most bytes that a record takes. */
size_t wf_native_record_max(const struct wf_native_record *record);
unsigned char *wf_native_encode_record(const struct wf_native_record *record,
                                       unsigned char *at);

/* The numbers of a record WF_RECORD_GROUP. Sets at most size + 8 numbers; returns how many. */
size_t wf_native_group_numbers(uint32_t comm, const struct wf_group *group, uint64_t *numbers);

/* ---- the index ---- */

/* A block of a file. */
struct wf_native_block {
    uint64_t offset, first_op, n_ops;
    uint32_t rank, file; /* the file: of several in a directory, when they are read */
};

/* Where the blocks and tables of a file are. */
struct wf_native_index {
    struct wf_native_block *blocks;
    uint64_t *tables; /* offsets */
    size_t n_blocks, n_tables;
    size_t blocks_capacity, tables_capacity; /* for whoever allocates these */
};

/* What the index says of the ops or tasks in all. */
struct wf_native_totals {
    uint64_t n_ops;    /* with loops unrolled... */
    uint64_t n_stored; /* ...and not */
    uint64_t raw_bytes;
    uint64_t n_messages;
    bool acts_in_background, depends_on_time, any_sizes;
};

/* Counts an op, as one that is not in a loop; n_stored and raw_bytes stay as they are. */
void wf_native_totals_add(struct wf_native_totals *totals, const struct wf_op *op);

/* Writes the content of the next frame of the index, which lists the blocks from number *done
 * on; *done becomes the number of the first that is left. The first frame begins with the
 * totals. There is at least one frame. */
size_t wf_native_index_max(const struct wf_native_index *index, size_t done);
unsigned char *wf_native_encode_index(const struct wf_native_index *index,
                                      const struct wf_native_totals *totals, size_t *done,
                                      unsigned char *at);
