/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/weft/encode.h"

#include <string.h>

enum { INDEX_BLOCKS_MAX = 1 << 20 }; /* in one frame of the index */

/* ---- blocks ---- */

unsigned char *wf_native_encode_op(struct wf_native_encoder *encoder, enum wf_op_kind kind,
                                   const uint64_t *values, uint64_t arrays, unsigned char *at)
{
    const struct wf_op_layout *layout = wf_op_layout_of(kind);
    uint8_t slot = wf_native_slot_of(encoder, kind);
    uint64_t wide = 0;

    for (uint32_t i = 0; i < layout->n_fields; i++) {
        wide |= (uint64_t)(layout->fields[i].width == WF_FIELD_64) << i;
    }
    *at++ = slot;
    return wf_native_encode_values(encoder->values[slot], values, layout->n_fields, wide,
                                   arrays, at);
}

unsigned char *wf_native_encode_array(const struct wf_op_parts *parts, uint32_t i,
                                      unsigned char *at)
{
    const uint64_t *wide = parts->arrays[i];
    const uint32_t *narrow = parts->arrays[i];
    bool is_wide = parts->layout->arrays[i].width == WF_FIELD_64;

    at = wf_varint_write(at, (uint64_t)parts->lengths[i] + 1);
    for (uint32_t k = 0; k < parts->lengths[i]; k++) {
        at = wf_varint_write(at, is_wide ? wide[k] : narrow[k]);
    }
    return at;
}

void wf_native_encode_restart(struct wf_native_encoder *encoder)
{
    memset(encoder->values, 0, encoder->n_slots * sizeof(encoder->values[0]));
}

unsigned char *wf_native_encode_head(struct wf_native_encoder *encoder, unsigned char *at)
{
    *at++ = (unsigned char)encoder->n_slots;
    for (uint32_t i = 0; i < encoder->n_slots; i++) {
        *at++ = encoder->kinds[i];
        encoder->slots[encoder->kinds[i]] = 0;
    }
    encoder->n_slots = 0;
    return at;
}

/* ---- tables ---- */

static size_t text_length(const struct wf_native_record *record)
{
    return record->text != NULL ? strlen(record->text) : 0;
}

size_t wf_native_record_max(const struct wf_native_record *record)
{
    return (record->n_numbers + 2) * WF_VARINT_MAX + text_length(record);
}

unsigned char *wf_native_encode_record(const struct wf_native_record *record, unsigned char *at)
{
    size_t length = text_length(record);
    unsigned char skipped[WF_VARINT_MAX];
    size_t size = length;

    for (size_t i = 0; i < record->n_numbers; i++) {
        size += (size_t)(wf_varint_write(skipped, record->numbers[i]) - skipped);
    }
    at = wf_varint_write(at, record->type);
    at = wf_varint_write(at, size);
    for (size_t i = 0; i < record->n_numbers; i++) {
        at = wf_varint_write(at, record->numbers[i]);
    }
    memcpy(at, record->text != NULL ? record->text : "", length);
    return at + length;
}

size_t wf_native_group_numbers(uint32_t comm, const struct wf_group *group, uint64_t *numbers)
{
    const uint64_t head[] = {comm, group->id, group->size, group->members == NULL};
    const uint64_t grid[] = {group->first, group->stride, group->width, group->stride2};
    size_t n = sizeof(head) / sizeof(head[0]);

    memcpy(numbers, head, sizeof(head));
    if (group->members == NULL) {
        memcpy(numbers + n, grid, sizeof(grid));
        return n + sizeof(grid) / sizeof(grid[0]);
    }
    for (uint32_t r = 0, before = 0; r < group->size; before = group->members[r++]) {
        numbers[n++] = wf_zigzag((int64_t)group->members[r] - (int64_t)before);
    }
    return n;
}

/* ---- the index ---- */

static bool is_open(const struct wf_op *op)
{
    return op->peer == WF_ANY_SOURCE || op->tag == WF_ANY_TAG;
}

/* Returns whether the outcome of a call depends on timing, if the trace has not recorded it. Looks
 * only at members that ops of the kind have: the others may not be set. */
static bool depends_on_time(const struct wf_op *op, const struct wf_op_info *info)
{
    switch ((int)info->family) {
    case WF_FAMILY_RECV:
        return is_open(op);
    case WF_FAMILY_SENDRECV:
        return op->recv_peer == WF_ANY_SOURCE || op->recv_tag == WF_ANY_TAG;
    case WF_FAMILY_PROBE:
    case WF_FAMILY_TEST:
        return true;
    case WF_FAMILY_WAIT:
        return info->detail >= WF_WAIT_ANY;
    case WF_FAMILY_PERSISTENT:
        return info->detail == WF_PERSISTENT_RECV && is_open(op);
    default:
        return false;
    }
}

void wf_native_totals_add(struct wf_native_totals *totals, const struct wf_op *op)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    bool sends = info->family == WF_FAMILY_SEND;
    bool persistent = info->family == WF_FAMILY_PERSISTENT;

    totals->n_ops++;
    totals->n_messages += sends || info->family == WF_FAMILY_SENDRECV ? 1 : 0;
    totals->acts_in_background |=
        ((sends || persistent) && info->detail == WF_SEND_SYNCHRONOUS) ||
        (info->family == WF_FAMILY_COLLECTIVE && info->returns_request) ||
        info->family == WF_FAMILY_ONESIDED;
    totals->depends_on_time |= depends_on_time(op, info) && (persistent || !op->recorded);
}

static unsigned char *encode_totals(const struct wf_native_index *index,
                                    const struct wf_native_totals *totals, unsigned char *at)
{
    const uint64_t numbers[] = {(totals->acts_in_background ? 1U : 0U) |
                                    (totals->depends_on_time ? 2U : 0U) |
                                    (totals->any_sizes ? 4U : 0U),
                                totals->n_ops,
                                totals->n_stored,
                                totals->raw_bytes,
                                totals->n_messages,
                                index->n_blocks,
                                index->n_tables};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        at = wf_varint_write(at, numbers[i]);
    }
    for (size_t i = 0; i < index->n_tables; i++) {
        at = wf_varint_write(at, index->tables[i] - (i > 0 ? index->tables[i - 1] : 0));
    }
    return at;
}

static size_t blocks_in_frame(const struct wf_native_index *index, size_t done)
{
    size_t left = index->n_blocks - done;

    return left < INDEX_BLOCKS_MAX ? left : INDEX_BLOCKS_MAX;
}

size_t wf_native_index_max(const struct wf_native_index *index, size_t done)
{
    return WF_VARINT_MAX *
           (3 * blocks_in_frame(index, done) + (done == 0 ? 7 + index->n_tables : 0));
}

unsigned char *wf_native_encode_index(const struct wf_native_index *index,
                                      const struct wf_native_totals *totals, size_t *done,
                                      unsigned char *at)
{
    struct wf_native_block before = {.offset = 0};
    size_t end = *done + blocks_in_frame(index, *done);

    if (*done == 0) {
        at = encode_totals(index, totals, at);
    } else {
        before = index->blocks[*done - 1];
    }
    for (; *done < end; ++*done) {
        const struct wf_native_block *block = &index->blocks[*done];
        at = wf_varint_write(at, block->offset - before.offset);
        at = wf_varint_write(at, wf_zigzag((int64_t)block->rank - (int64_t)before.rank));
        at = wf_varint_write(at, block->n_ops);
        before = *block;
    }
    return at;
}
