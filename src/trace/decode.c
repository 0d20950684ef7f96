/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/decode.h"

#include "base/mem.h"
#include "trace/fields_inline.h"
#include "trace/varint.h"

#include <stdlib.h>
#include <string.h>

struct loop_head {
    uint64_t count, n_ops, length;
};

static void reset_values(struct wf_block *block)
{
    memset(block->values, 0, block->n_slots * sizeof(block->values[0]));
}

/* Reads the elements of one array to the end of `arrays`. */
static uint32_t read_array(struct wf_reading *in, const struct wf_array *array,
                           struct wf_buf *arrays)
{
    uint64_t n = wf_varint_get(in);

    /* An element has at least a byte. */
    if (n == 0 || n - 1 > (uint64_t)(in->end - in->at)) {
        in->failed = true;
        return 0;
    }
    n--;
    size_t width = array->width == WF_FIELD_64 ? sizeof(uint64_t) : sizeof(uint32_t);
    unsigned char *to = wf_buf_extend(arrays, ((size_t)n * width + 7) / 8 * 8);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t wide = wf_varint_get(in);
        uint32_t narrow = (uint32_t)wide;
        if (width == sizeof(wide)) {
            memcpy(to + i * width, &wide, width);
        } else {
            in->failed |= wide > UINT32_MAX;
            memcpy(to + i * width, &narrow, width);
        }
    }
    return (uint32_t)n;
}

static void read_arrays(struct wf_reading *in, const struct wf_layout *layout, uint64_t mask,
                        struct wf_buf *arrays, struct wf_op *op, uint32_t *lengths)
{
    size_t offsets[WF_ARRAYS_MAX];

    arrays->size = 0;
    wf_buf_reserve(arrays, 8); /* even an array without elements is not null */
    for (uint32_t i = 0; i < layout->n_arrays; i++) {
        offsets[i] = arrays->size;
        lengths[i] = (mask >> i & 1) != 0 ? read_array(in, &layout->arrays[i], arrays) : 0;
    }
    for (uint32_t i = 0; i < layout->n_arrays; i++) {
        const void *data = arrays->data + offsets[i];
        if ((mask >> i & 1) != 0) {
            memcpy((char *)op + layout->arrays[i].offset, &data, sizeof(data));
        }
    }
}

/* Reads the record of an op behind its slot. `lengths` of its arrays are for the check. */
static inline __attribute__((always_inline)) void read_op(struct wf_block *block,
                                                          uint8_t number, struct wf_reading *in,
                                                          struct wf_buf *arrays,
                                                          struct wf_op *op, uint32_t *lengths)
{
    const struct wf_slot *slot = &block->slots[number];
    const struct wf_layout *layout = slot->layout;
    uint64_t *values = block->values[number];
    uint64_t mask = wf_varint_get(in);
    uint64_t fields = mask & ((UINT64_C(1) << layout->n_fields) - 1);

    while (fields != 0) {
        uint32_t i = (uint32_t)__builtin_ctzll(fields);
        fields &= fields - 1;
        values[i] += wf_unzigzag(wf_varint_get(in));
    }
    wf_op_assemble(slot->kind, layout, values, op);
    if (layout->n_arrays > 0) {
        struct wf_reading rest = *in;
        read_arrays(&rest, layout, mask >> layout->n_fields, arrays, op, lengths);
        *in = rest;
    }
}

/* ---- the check ---- */

static const char *fault_of(struct wf_block *block, const struct wf_layout *layout,
                            const struct wf_op *op, const uint32_t *lengths)
{
    bool has_comm = (layout->flags & WF_HAS_COMM) != 0 || op->kind == WF_OP_COMM_FREE;

    if (has_comm && op->comm != block->comm) {
        block->comm = op->comm;
        block->known = wf_groups_find(block->groups, block->rank, op->comm, &block->group);
    }
    for (uint32_t i = 0; i < layout->n_arrays; i++) {
        const void *data = NULL;
        memcpy(&data, (const char *)op + layout->arrays[i].offset, sizeof(data));
        if (data != NULL && lengths[i] != wf_op_length(op, &layout->arrays[i],
                                                       block->known ? block->group.size : 0)) {
            return "an array has another length than it should";
        }
    }
    return wf_op_fault(op, block->known ? &block->group : NULL);
}

/* Where the innermost loop under way ends, or the block. */
static uint32_t end_of(const struct wf_block *block)
{
    return block->depth > 0 ? block->loops[block->depth - 1].end : block->size;
}

/* Ops that may still come before that. */
static uint64_t room_of(const struct wf_block *block)
{
    if (block->depth == 0) {
        return block->n_ops - block->n_done;
    }
    const struct wf_block_loop *loop = &block->loops[block->depth - 1];
    return loop->first + loop->n_ops - block->n_done;
}

/* Whether nothing is left. */
static bool is_finished(const struct wf_block *block)
{
    uint32_t at = block->at;

    for (uint32_t i = block->depth; i-- > 0;) {
        if (at != block->loops[i].end || block->loops[i].left > 1) {
            return false;
        }
        at = block->loops[i].end;
    }
    return at == block->size;
}

static bool wrong(struct wf_block *block, const char *fault)
{
    block->fault = fault;
    return false;
}

/* ---- blocks ---- */

static const char *read_slots(struct wf_block *block)
{
    for (uint32_t i = 0; i < block->n_slots; i++) {
        uint8_t kind = block->raw[1 + i];
        if (kind >= WF_OP_KINDS) {
            return "it has ops of a kind that this version of weft does not know";
        }
        block->slots[i] =
            (struct wf_slot){wf_layout_of((enum wf_op_kind)kind), (enum wf_op_kind)kind};
    }
    return NULL;
}

static void rewind_block(struct wf_block *block)
{
    block->at = block->records;
    block->depth = 0;
    block->n_done = 0;
    reset_values(block);
}

struct wf_block *wf_block_new(const struct wf_block_source *from, const char **fault)
{
    uint32_t n_slots = from->size > 0 ? from->raw[0] : 0;

    if (n_slots == 0 || n_slots >= WF_FOLD_LOOP || from->size < n_slots + 1) {
        *fault = "it does not list its kinds of ops";
        return NULL;
    }
    /* One piece of memory: the struct, slots, values, bytes. */
    struct wf_block *block = NULL;
    size_t slots = sizeof(*block), values = slots + n_slots * sizeof(*block->slots);
    size_t bytes = values + n_slots * sizeof(*block->values);
    char *memory = wf_xmalloc(bytes + from->size);

    block = (struct wf_block *)memory;
    *block = (struct wf_block){
        .first_op = from->first_op,
        .n_ops = from->n_ops,
        .rank = from->rank,
        .records = 1 + n_slots,
        .size = from->size,
        .n_slots = n_slots,
        .slots = (struct wf_slot *)(memory + slots),
        .values = (uint64_t(*)[WF_FIELDS_MAX])(memory + values),
        .raw = (unsigned char *)memory + bytes,
        .checked = 1 + n_slots,
        .groups = from->groups,
        .comm = WF_COMM_WORLD,
        .known = true,
    };
    (void)wf_groups_find(from->groups, from->rank, WF_COMM_WORLD, &block->group);
    memcpy(block->raw, from->raw, from->size);
    *fault = read_slots(block);
    if (*fault != NULL) {
        free(block);
        return NULL;
    }
    rewind_block(block);
    return block;
}

void wf_block_free(struct wf_block *block)
{
    free(block);
}

size_t wf_block_memory(const struct wf_block *block)
{
    return sizeof(*block) + block->n_slots * (sizeof(*block->slots) + sizeof(*block->values)) +
           block->size;
}

/* ---- ops ---- */

/* Reads the head of a loop, behind its first byte. */
static bool read_loop(struct wf_block *block, struct wf_reading *in, struct loop_head *head)
{
    head->count = wf_varint_get(in);
    head->n_ops = wf_varint_get(in);
    head->length = wf_varint_get(in);
    if (in->failed || head->count < 2 || head->n_ops == 0 ||
        block->depth == WF_FOLD_DEPTH_MAX || head->length > (uint64_t)(in->end - in->at) ||
        head->count > room_of(block) / head->n_ops) {
        return wrong(block, "a loop makes no sense");
    }
    return true;
}

/* Steps into the loop whose body is at `in`, skipping repetitions. */
static void enter_loop(struct wf_block *block, const struct wf_reading *in,
                       const struct loop_head *head, uint64_t skipped)
{
    uint32_t begin = (uint32_t)(in->at - block->raw);

    /* What lies before what was not checked yet does not count as checked. */
    if (block->at <= block->checked && begin > block->checked) {
        block->checked = begin;
    }
    block->n_done += skipped * head->n_ops;
    block->loops[block->depth++] = (struct wf_block_loop){
        .begin = begin,
        .end = begin + (uint32_t)head->length,
        .left = head->count - skipped,
        .n_ops = head->n_ops,
        .first = block->n_done,
    };
    block->at = begin;
    reset_values(block);
}

/* At the end of a body: once more, or on. */
static bool leave_body(struct wf_block *block)
{
    struct wf_block_loop *loop = &block->loops[block->depth - 1];

    if (block->n_done - loop->first != loop->n_ops) {
        return wrong(block, "a loop has fewer ops than it says");
    }
    reset_values(block);
    if (--loop->left > 0) {
        block->at = loop->begin;
        loop->first = block->n_done;
    } else {
        block->depth--;
    }
    return true;
}

/* Brings the place to an op, into loops and out of them. False if there is none. */
static bool find_op(struct wf_block *block)
{
    for (;;) {
        uint32_t end = end_of(block);
        struct loop_head head;

        if (block->at == end) {
            if (block->depth == 0) {
                return wrong(block, "it has fewer ops than it says");
            }
            if (!leave_body(block)) {
                return false;
            }
            continue;
        }
        if (block->raw[block->at] != WF_FOLD_LOOP) {
            return true;
        }
        struct wf_reading in = {block->raw + block->at + 1, block->raw + end, false};
        if (!read_loop(block, &in, &head)) {
            return false;
        }
        enter_loop(block, &in, &head, 0);
    }
}

bool wf_block_next(struct wf_block *block, struct wf_buf *arrays, struct wf_op *op)
{
    uint32_t lengths[WF_ARRAYS_MAX] = {0};

    if (block->fault != NULL || block->n_done == block->n_ops || !find_op(block)) {
        return false;
    }
    uint32_t begin = block->at;
    uint8_t slot = block->raw[begin];
    struct wf_reading in = {block->raw + begin + 1, block->raw + end_of(block), false};
    if (slot >= block->n_slots) {
        return wrong(block, "an op is of a kind that its block does not list");
    }
    if (room_of(block) == 0) {
        return wrong(block, "a loop has more ops than it says");
    }
    read_op(block, slot, &in, arrays, op, lengths);
    if (in.failed) {
        return wrong(block, "an op is cut off");
    }
    block->at = (uint32_t)(in.at - block->raw);
    block->n_done++;
    if (block->at > block->checked) {
        const char *fault = fault_of(block, block->slots[slot].layout, op, lengths);
        if (fault != NULL) {
            return wrong(block, fault);
        }
        block->checked = begin <= block->checked ? block->at : block->checked;
    }
    if (block->n_done == block->n_ops && !is_finished(block)) {
        return wrong(block, "it has more ops than it says");
    }
    return true;
}

bool wf_block_seek(struct wf_block *block, struct wf_buf *arrays, uint64_t n)
{
    struct loop_head head;
    struct wf_op op = {.kind = WF_OP_COMPUTE};

    rewind_block(block);
    while (block->n_done < n) {
        struct wf_reading in = {block->raw + block->at + 1, block->raw + end_of(block), false};

        if (block->at == end_of(block) || block->raw[block->at] != WF_FOLD_LOOP) {
            if (!wf_block_next(block, arrays, &op)) {
                return false;
            }
            continue;
        }
        if (!read_loop(block, &in, &head)) {
            return false;
        }
        if (n - block->n_done >= head.count * head.n_ops) {
            block->at = (uint32_t)(in.at - block->raw + (ptrdiff_t)head.length);
            block->n_done += head.count * head.n_ops;
            reset_values(block);
        } else {
            enter_loop(block, &in, &head, (n - block->n_done) / head.n_ops);
        }
    }
    return true;
}
