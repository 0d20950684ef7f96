/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_WEFT_ENCODE_H
#define WF_TRACE_WEFT_ENCODE_H

/*
 * The raw content of a block, as docs/reference/trace-format.md describes it, from items of
 * trace/weft/fold.h.
 */

#include "base/buf.h"
#include "ops/fields.h"

/* Zeroed is empty. */
struct wf_encoder {
    struct wf_buf records;
    uint8_t kinds[WF_OP_KINDS]; /* of each slot */
    uint8_t slots[WF_OP_KINDS]; /* of each kind its slot + 1, or 0 */
    uint32_t n_slots;
    uint64_t n_ops;    /* with loops unrolled... */
    uint64_t n_stored; /* ...and not */
    uint64_t values[WF_OP_KINDS][WF_FIELDS_MAX];
};

void wf_encoder_fini(struct wf_encoder *encoder);

/* Adds the items in these bytes. */
void wf_encode_items(struct wf_encoder *encoder, const unsigned char *items, size_t size);

/* Bytes of the block so far. */
size_t wf_encoder_size(const struct wf_encoder *encoder);

/* Appends the block to `out` and makes the encoder empty. */
void wf_encoder_take(struct wf_encoder *encoder, struct wf_buf *out);

#endif
