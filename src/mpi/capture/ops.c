/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/capture/ops.h"

#include "mpi/capture/capture.h"
#include "mpi/capture/cost.h"
#include "mpi/capture/file.h"
#include "program/ops/disturbance.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_GOAL = 1 << 15,
    OP_MAX = WF_NATIVE_OP_MAX + WF_VARINT_MAX * (int)WF_ARRAYS_MAX,
    PS_PER_NS = 1000,
    STAGED_FIRST = 1024,
    QUESTIONS_MAX = 8,
};

/* The block that is being filled. Its head lists the kinds of its ops, so the head is written
 * last, right before the ops, which begin at WF_NATIVE_HEAD_MAX. */
static struct {
    unsigned char *bytes;
    size_t capacity, size; /* size: bytes of the ops */
    uint64_t n_ops;
    struct wf_native_encoder encoder;
} block;

struct staged {
    struct wf_op op;
    uint32_t comm_size;
    bool open;
    void *arrays; /* copies of the arrays of the op, or null */
};

static struct {
    struct staged *ops; /* ring buffer; its size is a power of two */
    uint64_t room, first, end;
} stage;

static struct staged *staged_at(uint64_t number)
{
    return &stage.ops[number & (stage.room - 1)];
}

static bool is_staged(uint64_t number)
{
    return number >= stage.first && number < stage.end;
}

static struct wf_native_totals totals;
static uint64_t n_computes;

bool wf_cap_ops_init(void)
{
    block.capacity = WF_NATIVE_HEAD_MAX + BLOCK_GOAL + OP_MAX;
    block.bytes = malloc(block.capacity);
    stage.room = STAGED_FIRST;
    stage.ops = calloc(stage.room, sizeof(*stage.ops));
    return block.bytes != NULL && stage.ops != NULL;
}

/* ---- blocks ---- */

static void write_block(void)
{
    if (block.n_ops == 0) {
        return;
    }
    size_t size = block.encoder.n_slots + 1 + block.size;
    unsigned char *raw = block.bytes + WF_NATIVE_HEAD_MAX + block.size - size;

    (void)wf_native_encode_head(&block.encoder, raw);
    totals.raw_bytes += size;
    totals.n_stored += block.n_ops;
    uint64_t begin = wf_cap_clock_now();
    wf_cap_file_block(raw, size, block.n_ops);
    wf_cap_cost_wrote(wf_cap_clock_now() - begin);
    block.n_ops = 0;
    block.size = 0;
}

/* Makes sure that an op with arrays of `n` elements fits into the block. Returns false if there
 * is no memory. */
static bool make_room(uint64_t n)
{
    size_t need = WF_NATIVE_HEAD_MAX + OP_MAX + n * WF_VARINT_MAX;

    if (block.size > 0 && block.size + need > block.capacity) {
        write_block();
    }
    if (need <= block.capacity) {
        return true;
    }
    unsigned char *larger = realloc(block.bytes, need);
    if (larger == NULL) {
        wf_cap_give_up("out of memory");
        return false;
    }
    block.bytes = larger;
    block.capacity = need;
    return true;
}

static void put_parts(enum wf_op_kind kind, const struct wf_op_parts *parts)
{
    unsigned char *begin = block.bytes + WF_NATIVE_HEAD_MAX, *at = begin + block.size;
    uint64_t arrays = 0;

    for (uint32_t i = 0; i < parts->layout->n_arrays; i++) {
        arrays |= parts->arrays[i] != NULL ? UINT64_C(1) << i : 0;
    }
    at = wf_native_encode_op(&block.encoder, kind, parts->values, arrays, at);
    for (uint32_t i = 0; i < parts->layout->n_arrays; i++) {
        at = parts->arrays[i] != NULL ? wf_native_encode_array(parts, i, at) : at;
    }
    block.size = (size_t)(at - begin);
    block.n_ops++;
    if (block.size >= BLOCK_GOAL) {
        write_block();
    }
}

static void put_op(const struct wf_op *op, uint32_t comm_size)
{
    struct wf_op_parts parts;
    uint64_t n = 0;

    wf_op_take_apart(op, comm_size, &parts);
    for (uint32_t i = 0; i < parts.layout->n_arrays; i++) {
        n += parts.lengths[i];
    }
    if (make_room(n)) {
        n_computes += op->kind == WF_OP_COMPUTE ? 1 : 0;
        wf_native_totals_add(&totals, op);
        put_parts(op->kind, &parts);
    }
}

/* ---- ops that wait for the source of a wildcard receive ---- */

/* Copies the arrays of a staged op, which outlive the call. Returns false if there is no
 * memory. */
static bool copy_arrays(struct staged *staged)
{
    struct wf_op_parts parts;
    size_t size = 0;

    wf_op_take_apart(&staged->op, staged->comm_size, &parts);
    for (uint32_t i = 0; i < parts.layout->n_arrays; i++) {
        size += (size_t)parts.lengths[i] * 8;
    }
    staged->arrays = size > 0 ? malloc(size) : NULL;
    if (size > 0 && staged->arrays == NULL) {
        wf_cap_give_up("out of memory");
        return false;
    }
    unsigned char *at = staged->arrays;
    for (uint32_t i = 0; i < parts.layout->n_arrays && size > 0; i++) {
        const struct wf_op_array *array = &parts.layout->arrays[i];
        size_t bytes = (size_t)parts.lengths[i] * (array->width == WF_FIELD_64 ? 8 : 4);
        if (parts.arrays[i] != NULL) {
            const void *copy = at;
            memcpy(at, parts.arrays[i], bytes);
            memcpy((char *)&staged->op + array->offset, &copy, sizeof(copy));
            at += (size_t)parts.lengths[i] * 8;
        }
    }
    return true;
}

/* Writes the staged ops up to the first receive whose source is still unknown. */
static void drain(void)
{
    while (stage.first < stage.end) {
        struct staged *front = staged_at(stage.first);
        if (front->open) {
            return;
        }
        put_op(&front->op, front->comm_size);
        free(front->arrays);
        stage.first++;
    }
}

/* Doubles the stage. Returns false if it would become too large, or if there is no memory. */
static bool enlarge_stage(void)
{
    struct staged *old = stage.ops;
    uint64_t room = stage.room;

    struct staged *larger = room < WF_STAGED_MAX ? malloc(2 * room * sizeof(*old)) : NULL;
    if (larger == NULL) {
        return false;
    }
    for (uint64_t i = stage.first; i < stage.end; i++) {
        larger[i & (2 * room - 1)] = old[i & (room - 1)];
    }
    free(old);
    stage.ops = larger;
    stage.room = 2 * room;
    return true;
}

static void push(const struct wf_op *op, uint32_t comm_size, bool open)
{
    if (stage.end - stage.first == stage.room && !enlarge_stage()) {
        staged_at(stage.first)->open = false;
        drain();
    }
    struct staged *staged = staged_at(stage.end);
    *staged = (struct staged){.op = *op, .comm_size = comm_size, .open = open};
    if (copy_arrays(staged)) {
        stage.end++;
    }
}

static void emit(const struct wf_op *op, uint32_t comm_size)
{
    if (stage.first < stage.end) {
        push(op, comm_size, false);
    } else {
        put_op(op, comm_size);
    }
}

/* ---- polls ---- */

/* Computing that is not recorded yet, and digests of the polls (tests and probes that found
 * nothing) since the last other op. There are several polls, because a program that waits for
 * two requests tests them in turn. */
static struct {
    struct wf_op compute;
    bool has_compute;
    uint64_t questions[QUESTIONS_MAX];
    uint32_t n_questions;
} between;

static bool is_answered_no(const struct wf_op *op)
{
    switch ((int)op->kind) {
    case WF_OP_TEST:
    case WF_OP_TESTALL:
    case WF_OP_TESTSOME:
    case WF_OP_IPROBE:
        return op->outcome == 0;
    case WF_OP_TESTANY:
        return op->outcome == op->count;
    default:
        return false;
    }
}

static uint64_t digest(const struct wf_op *op)
{
    struct wf_op_parts parts;
    uint64_t sum = (uint64_t)op->kind + 1;

    wf_op_take_apart(op, 0, &parts);
    for (uint32_t i = 0; i < parts.layout->n_fields; i++) {
        sum = (sum ^ parts.values[i]) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    for (uint32_t i = 0; op->requests != NULL && op->kind != WF_OP_IPROBE && i < op->count;
         i++) {
        sum = (sum ^ op->requests[i]) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    return sum | 1;
}

/* Returns whether the op repeats an earlier poll that found nothing. Remembers a new poll. */
static bool is_asked_again(const struct wf_op *op)
{
    if (!is_answered_no(op) || wf_cap.keeps_polls) {
        between.n_questions = 0;
        return false;
    }
    uint64_t question = digest(op);
    for (uint32_t i = 0; i < between.n_questions; i++) {
        if (between.questions[i] == question) {
            return true;
        }
    }
    if (between.n_questions == QUESTIONS_MAX) {
        between.n_questions = 0;
    }
    between.questions[between.n_questions++] = question;
    return false;
}

static void emit_between(void)
{
    if (between.has_compute) {
        between.has_compute = false;
        emit(&between.compute, 0);
    }
}

void wf_cap_emit(const struct wf_op *op, uint32_t comm_size)
{
    if (wf_cap.emits && !is_asked_again(op)) {
        emit_between();
        emit(op, comm_size);
    }
}

uint64_t wf_cap_emit_open(const struct wf_op *op, uint32_t comm_size)
{
    if (!wf_cap.emits) {
        return WF_NOT_STAGED;
    }
    between.n_questions = 0;
    emit_between();
    push(op, comm_size, true);
    return stage.end - 1;
}

void wf_cap_stay_open(uint64_t number)
{
    if (!is_staged(number)) {
        return;
    }
    staged_at(number)->open = false;
    if (number == stage.first) {
        drain();
    }
}

uint64_t wf_cap_ops_count(void)
{
    return wf_cap.emits ? totals.n_ops + (stage.end - stage.first) : 0;
}

/* The receive is in the file already: a record after it marks it as cancelled. */
static void record_cancelled(uint64_t op)
{
    if (op > 0 && !wf_cap.is_dead) {
        wf_cap_file_record(WF_RECORD_CANCELLED, (const uint64_t[]){wf_cap.rank, op - 1}, 2,
                           NULL);
    }
}

/* Makes a receive from WF_PROC_NULL: it matches no message, and later waits for its request
 * still find it. */
static void receive_nothing(struct wf_op *op)
{
    op->peer = WF_PROC_NULL;
    op->tag = 0;
    op->recorded = false;
}

void wf_cap_cancel(uint64_t number, uint64_t op)
{
    if (is_staged(number)) {
        receive_nothing(&staged_at(number)->op);
        wf_cap_stay_open(number);
    } else {
        record_cancelled(op);
    }
}

void wf_cap_resolve(uint64_t number, uint32_t peer, int32_t tag)
{
    if (is_staged(number)) {
        struct wf_op *op = &staged_at(number)->op;
        op->recorded = true;
        op->matched_peer = peer;
        op->matched_tag = tag;
    }
    wf_cap_stay_open(number);
}

void wf_cap_emit_compute(const struct wf_cap_span *span)
{
    if (!wf_cap.emits || wf_cap.clock == WF_CLOCK_NONE) {
        return;
    }
    if (between.n_questions == 0) {
        emit_between();
    }
    if (!between.has_compute) {
        between.has_compute = true;
        between.compute =
            (struct wf_op){.kind = WF_OP_COMPUTE, .n_counters = wf_cap.n_counters};
    }
    between.compute.duration += span->ns * PS_PER_NS;
    between.compute.site = span->site;
    between.compute.disturbances =
        wf_disturbance_join(between.compute.disturbances, span->disturbances);
    for (uint32_t i = 0; i < wf_cap.n_counters; i++) {
        between.compute.counters[i] += span->counters[i];
    }
}

/* Writes all staged ops. A receive whose source is still unknown is written as a wildcard, or,
 * at the end of the program, as a receive from WF_PROC_NULL: it never matched a message. */
static void flush(bool is_over)
{
    emit_between();
    for (uint64_t i = stage.first; i < stage.end; i++) {
        struct staged *staged = staged_at(i);
        if (staged->open && is_over) {
            receive_nothing(&staged->op);
        }
        staged->open = false;
    }
    drain();
    write_block();
}

void wf_cap_ops_flush(void)
{
    flush(false);
}

static void record_cost(void)
{
    uint64_t total = wf_cap_cost_total();

    if (total > 0 && n_computes > 0) {
        const uint64_t cost[] = {wf_cap.rank, total * PS_PER_NS / n_computes};
        wf_cap_file_record(WF_RECORD_COST, cost, 2, NULL);
    }
}

void wf_cap_ops_finish(void)
{
    flush(true);
    record_cost();
    wf_cap_file_finish(&totals);
}
