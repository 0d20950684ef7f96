/* SPDX-License-Identifier: Apache-2.0 */
/* Moving back and forth in a block of a native trace. */
#include "base/buf.h"
#include "base/rng.h"
#include "harness/wf_test.h"
#include "program/ops/created.h"
#include "program/ops/groups.h"
#include "program/trace/weft/decode.h"
#include "program/trace/weft/encode.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 200, OUTER = 5, BODY = 3, PLAIN = 6000, OPS_MAX = 20000 };

/* A block of compute ops, and the duration of each. */
struct block {
    struct wf_native_encoder encoder;
    unsigned char records[OPS_MAX * 4], raw[OPS_MAX * 4 + WF_NATIVE_PADDING];
    size_t n_bytes;
    uint64_t durations[OPS_MAX];
    uint32_t n_ops;
    struct wf_groups *groups;
    struct wf_created created;
    struct wf_buf arrays;
    struct wf_native_decoder *decoder;
};

/* Appends the record of an op. */
static void add_op(struct block *b, uint64_t duration)
{
    const struct wf_op op = {.kind = WF_OP_COMPUTE, .duration = (int64_t)duration};
    struct wf_op_parts parts;

    wf_op_take_apart(&op, 1, &parts);
    unsigned char *at = b->records + b->n_bytes;
    b->n_bytes += (size_t)(wf_native_encode_op(&b->encoder, op.kind, parts.values, 0, at) - at);
}

static void add_plain(struct block *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        b->durations[b->n_ops] = 1000 + b->n_ops * 7 % 50;
        add_op(b, b->durations[b->n_ops]);
        b->n_ops++;
    }
}

/* Begins a loop around the bytes from `begin`. */
static void wrap(struct block *b, size_t begin, uint64_t count, uint64_t n_ops)
{
    unsigned char head[1 + 3 * WF_VARINT_MAX] = {WF_NATIVE_LOOP};
    unsigned char *end = wf_varint_write(head + 1, count);

    end = wf_varint_write(end, n_ops);
    end = wf_varint_write(end, b->n_bytes - begin);
    size_t size = (size_t)(end - head);
    memmove(b->records + begin + size, b->records + begin, b->n_bytes - begin);
    memcpy(b->records + begin, head, size);
    b->n_bytes += size;
}

/* A loop of ROUNDS rounds, within a loop of OUTER rounds that ends with one op more. */
static void add_loops(struct block *b)
{
    size_t begin = b->n_bytes;

    wf_native_encode_restart(&b->encoder);
    for (uint64_t i = 0; i < BODY; i++) {
        add_op(b, 10 + i);
    }
    wrap(b, begin, ROUNDS, BODY);
    wf_native_encode_restart(&b->encoder);
    add_op(b, 99);
    wrap(b, begin, OUTER, ROUNDS * BODY + 1);
    wf_native_encode_restart(&b->encoder);
    for (uint32_t i = 0; i < OUTER; i++) {
        for (uint32_t k = 0; k < ROUNDS * BODY; k++) {
            b->durations[b->n_ops++] = 10 + k % BODY;
        }
        b->durations[b->n_ops++] = 99;
    }
}

static struct block *new_block(void)
{
    struct block *b = calloc(1, sizeof(*b));
    const char *fault = NULL;

    add_plain(b, PLAIN);
    add_loops(b);
    add_plain(b, PLAIN);
    size_t head = (size_t)(wf_native_encode_head(&b->encoder, b->raw) - b->raw);
    memcpy(b->raw + head, b->records, b->n_bytes);
    b->groups = wf_groups_new(1);
    const struct wf_native_decoder_source from = {.raw = b->raw,
                                                  .size = (uint32_t)(head + b->n_bytes),
                                                  .groups = b->groups,
                                                  .created = &b->created,
                                                  .stays = true,
                                                  .n_ops = b->n_ops};
    b->decoder = wf_native_decoder_new(&from, &fault);
    return b;
}

static void free_block(struct block *b)
{
    wf_native_decoder_free(b->decoder);
    wf_buf_fini(&b->arrays);
    wf_created_fini(&b->created);
    wf_groups_free(b->groups);
    free(b);
}

/* Goes to op n and reads some ops. */
static bool reads(struct block *b, uint64_t n, uint32_t n_read)
{
    struct wf_op op;
    bool right = wf_native_decoder_seek(b->decoder, &b->arrays, n);

    for (uint64_t i = n; right && i < n + n_read && i < b->n_ops; i++) {
        right = wf_native_decoder_next(b->decoder, &b->arrays, &op) &&
                op.kind == WF_OP_COMPUTE && op.duration == (int64_t)b->durations[i];
    }
    return right;
}

static void any_op_can_be_reached_from_any_other(void)
{
    struct block *b = new_block();
    uint64_t rng = wf_rng_start(18, 0);
    bool right = b->decoder != NULL && reads(b, 0, b->n_ops);

    for (uint32_t i = 0; i < 20000; i++) {
        right &= reads(b, wf_rng_below(wf_rng_next(&rng), b->n_ops + 1), i % 40);
    }
    CHECK(right);
    free_block(b);
}

/* As a rank does that has 20 nonblocking collectives under way. */
static void going_back_a_little_is_cheap(void)
{
    struct block *b = new_block();
    bool right = b->decoder != NULL;
    uint64_t n_seeks = 0;

    for (uint64_t front = 100; front < b->n_ops; front++) {
        right &= reads(b, front - 5 * (front % 20), 1) && reads(b, front, 1);
        n_seeks += 2;
    }
    CHECK(right);
    CHECK(b->decoder->n_skipped < 40 * n_seeks);
    free_block(b);
}

int main(void)
{
    RUN(any_op_can_be_reached_from_any_other);
    RUN(going_back_a_little_is_cheap);
    return wf_test_done();
}
