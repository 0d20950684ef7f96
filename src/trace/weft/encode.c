/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/weft/encode.h"

#include "base/varint.h"
#include "trace/weft/fold.h"

#include <string.h>

void wf_encoder_fini(struct wf_encoder *encoder)
{
    wf_buf_fini(&encoder->records);
}

static void reset_values(struct wf_encoder *encoder)
{
    memset(encoder->values, 0, encoder->n_slots * sizeof(encoder->values[0]));
}

static uint8_t slot_of(struct wf_encoder *encoder, uint8_t kind)
{
    if (encoder->slots[kind] == 0) {
        memset(encoder->values[encoder->n_slots], 0, sizeof(encoder->values[0]));
        encoder->kinds[encoder->n_slots++] = kind;
        encoder->slots[kind] = (uint8_t)encoder->n_slots;
    }
    return (uint8_t)(encoder->slots[kind] - 1);
}

static uint64_t difference(const struct wf_field *field, uint64_t old, uint64_t value)
{
    if (field->width == WF_FIELD_64) {
        return wf_zigzag((int64_t)(value - old));
    }
    return wf_zigzag((int32_t)((uint32_t)value - (uint32_t)old));
}

/* Steps over an array, or nothing if there is none; returns whether there is one. */
static bool skip_array(struct wf_reading *in)
{
    uint64_t n = wf_varint_get(in);

    for (uint64_t i = 1; i < n; i++) {
        (void)wf_varint_get(in);
    }
    return n > 0;
}

static void encode_op(struct wf_encoder *encoder, struct wf_reading *in)
{
    uint8_t kind = *in->at++;
    const struct wf_layout *layout = wf_layout_of((enum wf_op_kind)kind);
    uint8_t slot = slot_of(encoder, kind);
    uint64_t *values = encoder->values[slot];
    unsigned char deltas[WF_FIELDS_MAX * WF_VARINT_MAX];
    unsigned char head[1 + WF_VARINT_MAX];
    unsigned char *at = deltas;
    uint64_t mask = 0;

    for (uint32_t i = 0; i < layout->n_fields; i++) {
        uint64_t value = wf_varint_get(in);
        if (value != values[i]) {
            mask |= UINT64_C(1) << i;
            at = wf_varint_write(at, difference(&layout->fields[i], values[i], value));
            values[i] = value;
        }
    }
    const unsigned char *spans[WF_ARRAYS_MAX][2];
    for (uint32_t i = 0; i < layout->n_arrays; i++) {
        spans[i][0] = in->at;
        mask |= skip_array(in) ? UINT64_C(1) << (layout->n_fields + i) : 0;
        spans[i][1] = in->at;
    }
    head[0] = slot;
    wf_buf_append(&encoder->records, head, (size_t)(wf_varint_write(head + 1, mask) - head));
    wf_buf_append(&encoder->records, deltas, (size_t)(at - deltas));
    for (uint32_t i = 0; i < layout->n_arrays; i++) {
        if ((mask >> (layout->n_fields + i) & 1) != 0) {
            wf_buf_append(&encoder->records, spans[i][0], (size_t)(spans[i][1] - spans[i][0]));
        }
    }
    encoder->n_ops++;
    encoder->n_stored++;
}

/* The length of a body is known only behind it, and is written before it. */
static void encode_loop(struct wf_encoder *encoder, struct wf_reading *in)
{
    const unsigned char *at = in->at + 1;
    uint64_t count = wf_fixed_read(&at, 8);
    uint64_t body_ops = wf_fixed_read(&at, 8);
    size_t length = (size_t)wf_fixed_read(&at, 4);
    uint64_t before = encoder->n_ops;
    size_t begin = encoder->records.size;
    unsigned char head[1 + 3 * WF_VARINT_MAX];

    reset_values(encoder);
    wf_encode_items(encoder, at, length);
    reset_values(encoder);
    in->at = at + length;

    size_t encoded = encoder->records.size - begin;
    unsigned char *to = head;
    *to++ = WF_FOLD_LOOP;
    to = wf_varint_write(to, count);
    to = wf_varint_write(to, body_ops);
    to = wf_varint_write(to, encoded);
    size_t n = (size_t)(to - head);
    (void)wf_buf_extend(&encoder->records, n);
    memmove(encoder->records.data + begin + n, encoder->records.data + begin, encoded);
    memcpy(encoder->records.data + begin, head, n);
    encoder->n_ops = before + count * body_ops;
}

void wf_encode_items(struct wf_encoder *encoder, const unsigned char *items, size_t size)
{
    struct wf_reading in = {items, items + size, false};

    while (in.at < in.end) {
        if (*in.at == WF_FOLD_LOOP) {
            encode_loop(encoder, &in);
        } else {
            encode_op(encoder, &in);
        }
    }
}

size_t wf_encoder_size(const struct wf_encoder *encoder)
{
    return encoder->records.size + encoder->n_slots + 1;
}

void wf_encoder_take(struct wf_encoder *encoder, struct wf_buf *out)
{
    unsigned char n = (unsigned char)encoder->n_slots;

    wf_buf_append(out, &n, 1);
    wf_buf_append(out, encoder->kinds, encoder->n_slots);
    wf_buf_append(out, encoder->records.data, encoder->records.size);
    for (uint32_t i = 0; i < encoder->n_slots; i++) {
        encoder->slots[encoder->kinds[i]] = 0;
    }
    encoder->records.size = 0;
    encoder->n_slots = 0;
    encoder->n_ops = 0;
    encoder->n_stored = 0;
}
