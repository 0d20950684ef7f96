/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/weft/decode.h"

#include "base/mem.h"
#include "base/varint.h"
#include "program/trace/weft/bookmarks.h"

#include <stdlib.h>
#include <string.h>

/* A record without arrays (a slot, a mask, fields) is read to its end before the check that it
 * is complete, so some bytes after the block are readable. */
enum { PADDING = WF_NATIVE_PADDING };

struct loop_head {
    uint64_t count, n_ops, length;
};

static void reset_values(struct wf_native_decoder *block)
{
    memset(block->values, 0, block->n_slots * sizeof(block->values[0]));
}

/* Reads the elements of one array and appends them to `arrays`. */
static uint32_t read_array(struct wf_reading *in, const struct wf_op_array *array,
                           struct wf_buf *arrays)
{
    uint64_t n = wf_varint_get(in);

    /* An element takes at least one byte. */
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

static void read_arrays(struct wf_reading *in, const struct wf_op_layout *layout, uint64_t mask,
                        struct wf_buf *arrays, struct wf_op *op, uint32_t *lengths)
{
    size_t offsets[WF_ARRAYS_MAX];

    arrays->size = 0;
    wf_buf_reserve(arrays, 8); /* so that an empty array is not null */
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

/* Reads the record of an op, without its slot and its arrays, and sets *end to the byte after
 * it. Returns the mask of the arrays. */
static inline __attribute__((always_inline)) uint64_t
read_fields(struct wf_native_decoder *block, uint8_t number, const unsigned char **end,
            bool *failed, struct wf_op *op)
{
    const struct wf_op_plan *slot = &block->slots[number];
    const struct wf_op_layout *layout = slot->layout;
    uint64_t *values = block->values[number];
    const unsigned char *at = *end;
    uint64_t mask = wf_varint_take(&at, failed);
    uint64_t fields = mask & ((UINT64_C(1) << layout->n_fields) - 1);

    while (fields != 0) {
        uint32_t i = (uint32_t)__builtin_ctzll(fields);
        fields &= fields - 1;
        values[i] += wf_unzigzag(wf_varint_take(&at, failed));
    }
    wf_op_assemble(slot->kind, layout, values, op);
    *end = at;
    return mask >> layout->n_fields;
}

/* ---- checking ops ---- */

static __attribute__((noinline)) const char *fault_of(struct wf_native_decoder *block,
                                                      const struct wf_op_layout *layout,
                                                      const struct wf_op *op,
                                                      const uint32_t *lengths)
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
    const char *fault = wf_op_fault(op, block->known ? &block->group : NULL);
    return fault != NULL ? fault : wf_created_check(block->created, op);
}

/* Sets the end to that of the innermost open loop, or of the block if no loop is open. */
static void set_end(struct wf_native_decoder *block)
{
    const struct wf_native_decoder_loop *loop =
        &block->loops[block->depth > 0 ? block->depth - 1 : 0];
    bool within = block->depth > 0;

    block->end = within ? loop->end : block->size;
    block->last = within ? loop->first + loop->n_ops : block->n_ops;
}

/* Returns whether the block has no ops left, in this or a further round of its loops. */
static __attribute__((noinline)) bool is_finished(const struct wf_native_decoder *block)
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

static __attribute__((noinline)) bool wrong(struct wf_native_decoder *block, const char *fault)
{
    block->fault = fault;
    return false;
}

/* ---- blocks ---- */

static const char *read_slots(struct wf_native_decoder *block, bool is_old)
{
    for (uint32_t i = 0; i < block->n_slots; i++) {
        uint8_t kind = block->raw[1 + i];
        if (kind >= WF_OP_KINDS) {
            return "it has ops of a kind that this version of weft does not know";
        }
        block->slots[i] = wf_op_plan_of((enum wf_op_kind)kind,
                                        is_old ? wf_op_layout_before_3((enum wf_op_kind)kind)
                                               : wf_op_layout_of((enum wf_op_kind)kind));
    }
    return NULL;
}

static void rewind_block(struct wf_native_decoder *block)
{
    block->at = block->records;
    block->depth = 0;
    block->n_done = 0;
    set_end(block);
    reset_values(block);
}

struct wf_native_decoder *wf_native_decoder_new(const struct wf_native_decoder_source *from,
                                                const char **fault)
{
    uint32_t n_slots = from->size > 0 ? from->raw[0] : 0;

    if (n_slots == 0 || n_slots >= WF_NATIVE_LOOP || from->size < n_slots + 1) {
        *fault = "it does not list its kinds of ops";
        return NULL;
    }
    /* One allocation holds the struct, the slots, the values and the bytes. */
    struct wf_native_decoder *block = NULL;
    size_t slots = sizeof(*block), values = slots + n_slots * sizeof(*block->slots);
    size_t bytes = values + n_slots * sizeof(*block->values);
    char *memory = wf_xmalloc(bytes + (from->stays ? 0 : from->size + PADDING));
    unsigned char *copy = from->stays ? NULL : (unsigned char *)memory + bytes;

    block = (struct wf_native_decoder *)memory;
    *block = (struct wf_native_decoder){
        .first_op = from->first_op,
        .n_ops = from->n_ops,
        .rank = from->rank,
        .records = 1 + n_slots,
        .size = from->size,
        .n_slots = n_slots,
        .slots = (struct wf_op_plan *)(memory + slots),
        .values = (uint64_t(*)[WF_FIELDS_MAX])(memory + values),
        .raw = from->stays ? from->raw : copy,
        .has_copy = copy != NULL,
        .checked = from->is_ours ? from->size : 1 + n_slots,
        .groups = from->groups,
        .created = from->created,
        .comm = WF_COMM_WORLD,
        .known = true,
    };
    (void)wf_groups_find(from->groups, from->rank, WF_COMM_WORLD, &block->group);
    if (copy != NULL) {
        memcpy(copy, from->raw, from->size);
        memset(copy + from->size, 0, PADDING);
    }
    *fault = read_slots(block, from->is_old);
    if (*fault != NULL) {
        free(block);
        return NULL;
    }
    rewind_block(block);
    return block;
}

void wf_native_decoder_free(struct wf_native_decoder *block)
{
    if (block != NULL) {
        wf_native_bookmarks_free(block->bookmarks);
    }
    free(block);
}

size_t wf_native_decoder_memory(const struct wf_native_decoder *block)
{
    return sizeof(*block) + block->n_slots * (sizeof(*block->slots) + sizeof(*block->values)) +
           (block->has_copy ? block->size + PADDING : 0);
}

/* ---- ops ---- */

/* Reads the head of a loop, without its first byte. */
static bool read_loop(struct wf_native_decoder *block, struct wf_reading *in,
                      struct loop_head *head)
{
    head->count = wf_varint_get(in);
    head->n_ops = wf_varint_get(in);
    head->length = wf_varint_get(in);
    if (in->failed || head->count < 2 || head->n_ops == 0 ||
        block->depth == WF_NATIVE_LOOPS_MAX || head->length > (uint64_t)(in->end - in->at) ||
        head->count > (block->last - block->n_done) / head->n_ops) {
        return wrong(block, "a loop makes no sense");
    }
    return true;
}

/* Steps into the loop whose body is at `in`, skipping repetitions. */
static void enter_loop(struct wf_native_decoder *block, const struct wf_reading *in,
                       const struct loop_head *head, uint64_t skipped)
{
    uint32_t begin = (uint32_t)(in->at - block->raw);

    /* The head of a loop counts as checked if all records before it are checked. */
    if (block->at <= block->checked && begin > block->checked) {
        block->checked = begin;
    }
    block->n_done += skipped * head->n_ops;
    block->loops[block->depth++] = (struct wf_native_decoder_loop){
        .begin = begin,
        .end = begin + (uint32_t)head->length,
        .left = head->count - skipped,
        .n_ops = head->n_ops,
        .first = block->n_done,
    };
    block->at = begin;
    set_end(block);
    reset_values(block);
}

/* At the end of the body of a loop: begins its next round, or leaves the loop. */
static bool leave_body(struct wf_native_decoder *block)
{
    struct wf_native_decoder_loop *loop = &block->loops[block->depth - 1];

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
    set_end(block);
    return true;
}

/* Moves to the next op, into loops and out of them. Returns false if there is none. Functions
 * that are not needed for every op are not inlined, so that the frequent path stays short. */
static __attribute__((noinline)) bool find_op(struct wf_native_decoder *block)
{
    for (;;) {
        struct loop_head head;

        if (block->at == block->end) {
            if (block->depth == 0) {
                return wrong(block, "it has fewer ops than it says");
            }
            if (!leave_body(block)) {
                return false;
            }
            continue;
        }
        if (block->raw[block->at] < block->n_slots) {
            return true;
        }
        if (block->raw[block->at] != WF_NATIVE_LOOP) {
            return wrong(block, "an op is of a kind that its block does not list");
        }
        struct wf_reading in = {block->raw + block->at + 1, block->raw + block->end, false};
        if (!read_loop(block, &in, &head)) {
            return false;
        }
        enter_loop(block, &in, &head, 0);
    }
}

/* An op whose fields have been read; its arrays begin at `at`. */
struct begun {
    const struct wf_op_plan *slot;
    uint64_t mask;
    const unsigned char *at;
};

/* Reads the arrays of an op. Returns the end of its record, or null if it is damaged. */
static __attribute__((noinline)) const unsigned char *
finish_op(const struct begun *begun, const unsigned char *end, struct wf_buf *arrays,
          struct wf_op *op, uint32_t *lengths)
{
    struct wf_reading in = {begun->at, end, false};

    read_arrays(&in, begun->slot->layout, begun->mask, arrays, op, lengths);
    return in.failed ? NULL : in.at;
}

/* Checks an op that was read for the first time; its record began at `begin`. */
static bool check_op(struct wf_native_decoder *block, const struct wf_op_plan *slot,
                     uint32_t begin, const struct wf_op *op, const uint32_t *lengths)
{
    const struct wf_op_known known = {block->comm, block->known ? block->group.size : 0,
                                      block->created->latest};

    if (!wf_op_quick_check(op, slot, &known)) {
        const char *fault = fault_of(block, slot->layout, op, lengths);
        if (fault != NULL) {
            return wrong(block, fault);
        }
    }
    block->checked = begin <= block->checked ? block->at : block->checked;
    return true;
}

bool wf_native_decoder_next(struct wf_native_decoder *block, struct wf_buf *arrays,
                            struct wf_op *op)
{
    uint32_t lengths[WF_ARRAYS_MAX];
    bool failed = false;

    if (block->n_done == block->n_ops || block->fault != NULL) {
        return false;
    }
    /* The byte that begins a loop is no valid slot either. */
    if ((block->at == block->end || block->raw[block->at] >= block->n_slots) &&
        !find_op(block)) {
        return false;
    }
    if (block->n_done == block->last) {
        return wrong(block, "a loop has more ops than it says");
    }
    uint32_t begin = block->at;
    const struct wf_op_plan *slot = &block->slots[block->raw[begin]];
    const unsigned char *at = block->raw + begin + 1, *end = block->raw + block->end;
    uint64_t mask = read_fields(block, block->raw[begin], &at, &failed, op);
    if (slot->layout->n_arrays > 0 && at <= end) {
        at = finish_op(&(struct begun){slot, mask, at}, end, arrays, op, lengths);
    }
    if (at == NULL || at > end || failed) {
        return wrong(block, "an op is cut off");
    }
    block->at = (uint32_t)(at - block->raw);
    block->n_done++;
    if (block->at > block->checked && !check_op(block, slot, begin, op, lengths)) {
        return false;
    }
    if (block->n_done == block->n_ops && !is_finished(block)) {
        return wrong(block, "it has more ops than it says");
    }
    return true;
}

/* If op `n` is not in the present round of the innermost loop: goes to the round that has it, or
 * leaves the loop. Returns whether it did. */
static bool skip_rounds(struct wf_native_decoder *block, uint64_t n)
{
    struct wf_native_decoder_loop *loop =
        &block->loops[block->depth > 0 ? block->depth - 1 : 0];

    if (block->depth == 0 || n - loop->first < loop->n_ops) {
        return false;
    }
    uint64_t rounds = (n - loop->first) / loop->n_ops;
    if (rounds < loop->left) {
        loop->left -= rounds;
        loop->first += rounds * loop->n_ops;
        block->n_done = loop->first;
        block->at = loop->begin;
    } else {
        block->n_done = loop->first + loop->left * loop->n_ops;
        block->at = loop->end;
        block->depth--;
    }
    set_end(block);
    reset_values(block);
    return true;
}

/* Decodes ops and skips loops until the block is at op `n`, which is not before its position. */
static bool walk_to(struct wf_native_decoder *block, struct wf_buf *arrays, uint64_t n)
{
    struct loop_head head;
    struct wf_op op = {.kind = WF_OP_COMPUTE};

    while (block->n_done < n) {
        if (skip_rounds(block, n)) {
            continue;
        }
        struct wf_reading in = {block->raw + block->at + 1, block->raw + block->end, false};

        if (block->at == block->end || block->raw[block->at] != WF_NATIVE_LOOP) {
            if (!wf_native_decoder_next(block, arrays, &op)) {
                return false;
            }
            block->n_skipped++;
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

bool wf_native_decoder_seek(struct wf_native_decoder *block, struct wf_buf *arrays, uint64_t n)
{
    if (block->n_done > n) {
        rewind_block(block);
    }
    wf_native_bookmarks_approach(block, n);
    if (!walk_to(block, arrays, n)) {
        return false;
    }
    wf_native_bookmarks_keep(block);
    return true;
}
