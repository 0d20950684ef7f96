/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/fields.h"
#include "ops/fields_inline.h"

#include <string.h>

#define ARRAY(member, bits)                                      \
    {                                                            \
#member, offsetof(struct wf_op, member), WF_FIELD_##bits \
    }

#define ARRAYS_NONE \
    {               \
        {           \
            0       \
        }           \
    }
#define ARRAYS_REQUESTS     \
    {                       \
        ARRAY(requests, 32) \
    }
#define ARRAYS_REQUESTS_OUTCOMES                 \
    {                                            \
        ARRAY(requests, 32), ARRAY(outcomes, 32) \
    }
#define ARRAYS_COUNTS     \
    {                     \
        ARRAY(counts, 64) \
    }
#define ARRAYS_COUNTS_BOTH                        \
    {                                             \
        ARRAY(counts, 64), ARRAY(recv_counts, 64) \
    }
#define ARRAYS_NEIGHBORS                                                                       \
    {                                                                                          \
        ARRAY(counts, 64), ARRAY(recv_counts, 64), ARRAY(sources, 32), ARRAY(destinations, 32) \
    }

#define ROW_N(member) {#member, offsetof(struct wf_op, member), WF_FIELD_32},
#define ROW_W(member) {#member, offsetof(struct wf_op, member), WF_FIELD_64},
#define ROW_B(member) {#member, offsetof(struct wf_op, member), WF_FIELD_BOOL},
#define ROW_1(member) 1,

static const struct wf_layout layouts[] = {
#define X(name, flags, n_arrays, arrays)                                  \
    [name] = {(name),                                                     \
              (flags),                                                    \
              sizeof((const char[]){FIELDS_##name(ROW_1, ROW_1, ROW_1)}), \
              (n_arrays),                                                 \
              {FIELDS_##name(ROW_N, ROW_W, ROW_B)},                       \
              ARRAYS_##arrays},
    SHAPES(X)
#undef X
};

/* The shape of each family. The details of collectives are numbers of enum wf_coll_kind
 * (coll/coll.h), which cannot be included here; they are in files and therefore fixed. */
#define SHAPE_COMPUTE(detail)    COMPUTE
#define SHAPE_SEND(detail)       SEND
#define SHAPE_RECV(detail)       RECV
#define SHAPE_SENDRECV(detail)   SENDRECV
#define SHAPE_PROBE(detail)      PROBE
#define SHAPE_PERSISTENT(detail) SEND
#define SHAPE_START(detail)      ((detail) == 0 ? ONE : SET)
#define SHAPE_FREE(detail)       ONE
#define SHAPE_WAIT(detail) \
    ((detail) == 0 ? ONE : (detail) == 1 ? SET : (detail) == 2 ? SET_ANY : SET_SOME)
#define SHAPE_TEST(detail) ((detail) == 0 ? TEST : (detail) < 3 ? SET_ANY : SET_SOME)
#define SHAPE_COLLECTIVE(detail)                                                     \
    ((detail) == 0                                                      ? BARRIER    \
     : (detail) == 1 || (detail) == 2 || (detail) == 4 || (detail) == 6 ? ROOTED     \
     : (detail) == 5 || (detail) == 7                                   ? ROOTED_V   \
     : (detail) == 9                                                    ? COLL_V     \
     : (detail) == 12                                                   ? REDUCE_V   \
     : (detail) == 11                                                   ? ALLTOALL_V \
     : (detail) >= 16                                                   ? NEIGHBOR   \
                                                                        : COLL)
#define SHAPE_COMM(detail)     NEW_COMM
#define SHAPE_ONESIDED(detail) ONESIDED
#define SHAPE_EPOCH(detail)    EPOCH
#define SHAPE_MARKER(detail)   MARKER
#define SHAPE_CALL(detail)     CALL

static const uint8_t shapes[] = {
#define X(name, text, family, detail, returns) [WF_OP_##name] = SHAPE_##family(detail),
    WF_OP_MAP(X)
#undef X
};

const struct wf_layout *wf_layout_of(enum wf_op_kind kind)
{
    return &layouts[shapes[kind]];
}

/* Before version 3 of the format a reduce_scatter did not say what it reduces with. */
const struct wf_layout *wf_layout_before_3(enum wf_op_kind kind)
{
    return &layouts[shapes[kind] == REDUCE_V ? COLL_V : shapes[kind]];
}

bool wf_op_has_comm(enum wf_op_kind kind)
{
    return (layouts[shapes[kind]].flags & WF_HAS_COMM) != 0 || kind == WF_OP_COMM_FREE;
}

/* A copy in which members that mean nothing in this op are 0. */
static struct wf_op tidied(const struct wf_op *op, enum shape shape)
{
    const struct wf_op_info *info = wf_op_info(op->kind);
    struct wf_op tidy = *op;

    if ((shape == SEND || shape == RECV || info->family == WF_FAMILY_COLLECTIVE) &&
        info->family != WF_FAMILY_PERSISTENT && !info->returns_request) {
        tidy.request = 0;
    }
    /* Members that a kind does not list may hold anything, even what is no truth value. */
    if ((layouts[shape].flags & WF_HAS_RECORD) == 0 || !op->recorded) {
        tidy.matched_peer = 0;
        tidy.matched_tag = 0;
        tidy.outcome = 0;
        tidy.outcomes = NULL;
    }
    if (!wf_op_reduces(op->kind)) {
        tidy.reduction = 0;
    }
    if (shape == MARKER && op->kind != WF_OP_REGION_BEGIN) {
        tidy.bytes = 0;
    }
    if (shape == PROBE && op->kind != WF_OP_IPROBE) {
        tidy.outcome = 0;
    }
    if (shape == CALL && op->kind != WF_OP_COMM_FREE) {
        tidy.comm = 0;
    }
    if ((layouts[shape].flags & WF_HAS_SET) != 0 && op->requests != NULL) {
        tidy.request = 0;
    }
    if (shape == COMPUTE) {
        for (uint32_t i = op->n_counters; i < WF_COUNTERS_MAX; i++) {
            tidy.counters[i] = 0;
        }
    }
    return tidy;
}

#define GET_N(member) values[i++] = (uint32_t)op->member;
#define GET_W(member) values[i++] = (uint64_t)op->member;
#define GET_B(member) values[i++] = op->member ? 1 : 0;

static void get_fields(const struct wf_op *op, enum shape shape, uint64_t *values)
{
    uint32_t i = 0;

    switch (shape) {
#define X(name, flags, n_arrays, arrays) \
    case name:                           \
        FIELDS_##name(GET_N, GET_W, GET_B) break;
        SHAPES(X)
#undef X
    }
}

static const void *get_array(const struct wf_op *op, const struct wf_array *array)
{
    const void *data = NULL;

    memcpy(&data, (const char *)op + array->offset, sizeof(data));
    return data;
}

uint32_t wf_op_length(const struct wf_op *op, const struct wf_array *array, uint32_t comm_size)
{
    bool neighbor = shapes[op->kind] == NEIGHBOR;

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

void wf_op_take_apart(const struct wf_op *op, uint32_t comm_size, struct wf_parts *parts)
{
    enum shape shape = (enum shape)shapes[op->kind];
    const struct wf_layout *layout = &layouts[shape];
    struct wf_op tidy = tidied(op, shape);

    parts->layout = layout;
    get_fields(&tidy, shape, parts->values);
    for (uint32_t i = 0; i < layout->n_arrays; i++) {
        parts->arrays[i] = get_array(&tidy, &layout->arrays[i]);
        parts->lengths[i] =
            parts->arrays[i] == NULL ? 0 : wf_op_length(&tidy, &layout->arrays[i], comm_size);
    }
}
