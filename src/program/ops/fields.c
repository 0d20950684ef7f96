/* SPDX-License-Identifier: Apache-2.0 */
#include "program/ops/fields.h"
#include "program/ops/fields_inline.h"

#include <string.h>

/* clang-format off */
#define ARRAY(member, bits) {#member, offsetof(struct wf_op, member), WF_FIELD_##bits}
#define ARRAYS_NONE              {{0}}
#define ARRAYS_REQUESTS          {ARRAY(requests, 32)}
#define ARRAYS_REQUESTS_OUTCOMES {ARRAY(requests, 32), ARRAY(outcomes, 32)}
#define ARRAYS_COUNTS            {ARRAY(counts, 64)}
#define ARRAYS_COUNTS_BOTH       {ARRAY(counts, 64), ARRAY(recv_counts, 64)}
#define ARRAYS_NEIGHBORS         {ARRAY(counts, 64), ARRAY(recv_counts, 64), \
                                  ARRAY(sources, 32), ARRAY(destinations, 32)}
/* clang-format on */

#define ROW_N(member) {#member, offsetof(struct wf_op, member), WF_FIELD_32},
#define ROW_W(member) {#member, offsetof(struct wf_op, member), WF_FIELD_64},
#define ROW_B(member) {#member, offsetof(struct wf_op, member), WF_FIELD_BOOL},
#define ROW_1(member) 1,

static const struct wf_op_layout layouts[] = {
#define X(name, flags, n_arrays, arrays)                                             \
    [WF_SHAPE_##name] = {WF_SHAPE_##name,                                            \
                         (flags),                                                    \
                         sizeof((const char[]){FIELDS_##name(ROW_1, ROW_1, ROW_1)}), \
                         (n_arrays),                                                 \
                         {FIELDS_##name(ROW_N, ROW_W, ROW_B)},                       \
                         ARRAYS_##arrays},
    SHAPES(X)
#undef X
};

/* The shape of each family. Details of collectives are values of enum wf_coll_kind, which this
 * module cannot include. They are stored in files and never change. */
#define SHAPE_COMPUTE(detail)    WF_SHAPE_COMPUTE
#define SHAPE_SEND(detail)       WF_SHAPE_SEND
#define SHAPE_RECV(detail)       WF_SHAPE_RECV
#define SHAPE_SENDRECV(detail)   WF_SHAPE_SENDRECV
#define SHAPE_PROBE(detail)      WF_SHAPE_PROBE
#define SHAPE_PERSISTENT(detail) WF_SHAPE_SEND
#define SHAPE_START(detail)      ((detail) == 0 ? WF_SHAPE_ONE : WF_SHAPE_SET)
#define SHAPE_FREE(detail)       WF_SHAPE_ONE
#define SHAPE_WAIT(detail)              \
    ((detail) == 0   ? WF_SHAPE_ONE     \
     : (detail) == 1 ? WF_SHAPE_SET     \
     : (detail) == 2 ? WF_SHAPE_SET_ANY \
                     : WF_SHAPE_SET_SOME)
#define SHAPE_TEST(detail) \
    ((detail) == 0 ? WF_SHAPE_TEST : (detail) < 3 ? WF_SHAPE_SET_ANY : WF_SHAPE_SET_SOME)
#define SHAPE_COLLECTIVE(detail)                                                              \
    ((detail) == 0                                                      ? WF_SHAPE_BARRIER    \
     : (detail) == 1 || (detail) == 2 || (detail) == 4 || (detail) == 6 ? WF_SHAPE_ROOTED     \
     : (detail) == 5 || (detail) == 7                                   ? WF_SHAPE_ROOTED_V   \
     : (detail) == 9                                                    ? WF_SHAPE_COLL_V     \
     : (detail) == 12                                                   ? WF_SHAPE_REDUCE_V   \
     : (detail) == 11                                                   ? WF_SHAPE_ALLTOALL_V \
     : (detail) >= 16                                                   ? WF_SHAPE_NEIGHBOR   \
                                                                        : WF_SHAPE_COLL)
#define SHAPE_COMM(detail)     WF_SHAPE_NEW_COMM
#define SHAPE_ONESIDED(detail) WF_SHAPE_ONESIDED
#define SHAPE_EPOCH(detail)    WF_SHAPE_EPOCH
#define SHAPE_MARKER(detail)   WF_SHAPE_MARKER
#define SHAPE_CALL(detail)     WF_SHAPE_CALL
#define SHAPE_FILE(detail)     WF_SHAPE_FILE

static const uint8_t shapes[] = {
#define X(name, text, family, detail, returns) [WF_OP_##name] = SHAPE_##family(detail),
    WF_OP_MAP(X)
#undef X
};

const struct wf_op_layout *wf_op_layout_of(enum wf_op_kind kind)
{
    return &layouts[shapes[kind]];
}

/* Before version 3 of the format a reduce_scatter had no reduction. */
const struct wf_op_layout *wf_op_layout_before_3(enum wf_op_kind kind)
{
    return &layouts[shapes[kind] == WF_SHAPE_REDUCE_V ? WF_SHAPE_COLL_V : shapes[kind]];
}

bool wf_op_has_comm(enum wf_op_kind kind)
{
    return (layouts[shapes[kind]].flags & WF_HAS_COMM) != 0 || kind == WF_OP_COMM_FREE;
}

/* Whether ops of this kind create a request. */
static bool needs_request(enum wf_op_kind kind)
{
    const struct wf_op_info *info = wf_op_info(kind);

    return info->returns_request || info->family == WF_FAMILY_PERSISTENT;
}

/* Returns a copy of the op in which unused members are 0. */
static struct wf_op only_used(const struct wf_op *op, enum wf_op_shape shape)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    struct wf_op used = *op;

    if ((shape == WF_SHAPE_SEND || shape == WF_SHAPE_RECV ||
         info->family == WF_FAMILY_COLLECTIVE) &&
        info->family != WF_FAMILY_PERSISTENT && !info->returns_request) {
        used.request = 0;
    }
    /* A kind that does not use `recorded` may hold anything there. */
    if ((layouts[shape].flags & WF_HAS_RECORD) == 0 || !op->recorded) {
        used.matched_peer = 0;
        used.matched_tag = 0;
        used.outcome = 0;
        used.outcomes = NULL;
    }
    if (!wf_op_reduces(op->kind)) {
        used.reduction = 0;
    }
    if (shape == WF_SHAPE_MARKER && op->kind != WF_OP_REGION_BEGIN) {
        used.bytes = 0;
    }
    if (shape == WF_SHAPE_PROBE && op->kind != WF_OP_IPROBE) {
        used.outcome = 0;
    }
    if (shape == WF_SHAPE_CALL && op->kind != WF_OP_COMM_FREE) {
        used.comm = 0;
    }
    if ((layouts[shape].flags & WF_HAS_SET) != 0 && op->requests != NULL) {
        used.request = 0;
    }
    if (shape == WF_SHAPE_COMPUTE) {
        for (uint32_t i = op->n_counters; i < WF_COUNTERS_MAX; i++) {
            used.counters[i] = 0;
        }
    }
    return used;
}

static const void *get_array(const struct wf_op *op, const struct wf_op_array *array)
{
    const void *data = NULL;

    memcpy(&data, (const char *)op + array->offset, sizeof(data));
    return data;
}

uint32_t wf_op_length(const struct wf_op *op, const struct wf_op_array *array,
                      uint32_t comm_size)
{
    bool neighbor = shapes[op->kind] == WF_SHAPE_NEIGHBOR;

    switch (array->offset) {
    case offsetof(struct wf_op, requests):
        return op->count;
    case offsetof(struct wf_op, outcomes):
        return op->outcome;
    case offsetof(struct wf_op, sources):
        return op->n_sources;
    case offsetof(struct wf_op, destinations):
        return op->n_destinations;
    case offsetof(struct wf_op, counts):
        return neighbor ? op->n_destinations : comm_size;
    default:
        return neighbor ? op->n_sources : comm_size;
    }
}

void wf_op_take_apart(const struct wf_op *op, uint32_t comm_size, struct wf_op_parts *parts)
{
    enum wf_op_shape shape = (enum wf_op_shape)shapes[op->kind];
    const struct wf_op_layout *layout = &layouts[shape];

    if (wf_op_is_simple(op, shape)) {
        wf_op_take_simple(op, shape, needs_request(op->kind), parts->values);
        parts->layout = layout;
        return;
    }
    struct wf_op used = only_used(op, shape);

    parts->layout = layout;
    wf_op_get_fields(&used, shape, parts->values);
    for (uint32_t i = 0; i < layout->n_arrays; i++) {
        parts->arrays[i] = get_array(&used, &layout->arrays[i]);
        parts->lengths[i] =
            parts->arrays[i] == NULL ? 0 : wf_op_length(&used, &layout->arrays[i], comm_size);
    }
}
