/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/chakra/chakra.h"

#include "base/array.h"
#include "base/lookup.h"
#include "base/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const wf_chakra_type_names[] = {
    "INVALID_NODE",   "METADATA_NODE",  "MEM_LOAD_NODE",
    "MEM_STORE_NODE", "COMP_NODE",      "COMM_SEND_NODE",
    "COMM_RECV_NODE", "COMM_COLL_NODE", NULL};

/* In small letters and without underscores. */
static const char *const attr_names[WF_CHAKRA_ATTRS] = {
    [WF_CHAKRA_IS_CPU] = "iscpuop",         [WF_CHAKRA_NUM_OPS] = "numops",
    [WF_CHAKRA_TENSOR_SIZE] = "tensorsize", [WF_CHAKRA_COMM_TYPE] = "commtype",
    [WF_CHAKRA_COMM_SIZE] = "commsize",     [WF_CHAKRA_COMM_SRC] = "commsrc",
    [WF_CHAKRA_COMM_DST] = "commdst",       [WF_CHAKRA_COMM_TAG] = "commtag",
    [WF_CHAKRA_COMM_ROOT] = "rootrank",     [WF_CHAKRA_PG_NAME] = "pgname",
    [WF_CHAKRA_STREAM] = "stream",
};

enum wf_chakra_attr wf_chakra_attr_of(const char *name, size_t length)
{
    char plain[32];
    size_t n = 0;

    for (size_t i = 0; i < length; i++) {
        if (n == sizeof(plain) - 1) {
            return WF_CHAKRA_ATTRS;
        }
        plain[n] = (char)tolower((unsigned char)name[i]);
        n += name[i] != '_' ? 1 : 0;
    }
    plain[n] = '\0';
    if (strcmp(plain, "commgroup") == 0) {
        return WF_CHAKRA_PG_NAME; /* as it was called until 2025 */
    }
    return (enum wf_chakra_attr)WF_LOOKUP_INDEX(attr_names, WF_CHAKRA_ATTRS, plain);
}

void wf_chakra_raw_reset(struct wf_chakra_raw *raw)
{
    raw->id = 0;
    raw->type = WF_CHAKRA_INVALID;
    raw->duration_ps = 0;
    raw->group[0] = '\0';
    raw->defines_groups = false;
    raw->ctrl.size = 0;
    raw->data.size = 0;
    raw->group_values.size = 0;
    for (int i = 0; i < WF_CHAKRA_ATTRS; i++) {
        raw->attrs[i] = WF_CHAKRA_NOTHING;
    }
}

void wf_chakra_raw_fini(struct wf_chakra_raw *raw)
{
    wf_buf_fini(&raw->ctrl);
    wf_buf_fini(&raw->data);
    wf_buf_fini(&raw->group_values);
}

/* ---- nodes ---- */

static void add_deps(struct wf_chakra_rank *rank, const struct wf_buf *ids)
{
    const uint64_t *list = (const uint64_t *)(const void *)ids->data;

    for (size_t i = 0; i < ids->size / sizeof(*list); i++) {
        WF_PUSH(rank->deps, rank->n_deps, rank->deps_capacity, list[i]);
    }
}

/* The time of work on a processor of which the trace has only amounts. */
static double roofline_seconds(const struct wf_chakra_params *params, double ops, double bytes)
{
    double seconds = params->peak_flops > 0 ? ops / params->peak_flops : 0;
    double memory = params->memory_rate != WF_PARAM_WORD
                        ? (double)wf_transfer_ps((uint64_t)bytes, params->memory_rate) * 1e-12
                        : 0;

    return seconds > memory ? seconds : memory;
}

static int64_t duration_of(const struct wf_chakra *trace, struct wf_chakra_rank *rank,
                           const struct wf_chakra_raw *raw)
{
    const uint64_t *attrs = raw->attrs;
    uint64_t none = WF_CHAKRA_NOTHING;

    if (raw->duration_ps > 0) {
        return (int64_t)raw->duration_ps;
    }
    bool has_ops = attrs[WF_CHAKRA_NUM_OPS] != none && attrs[WF_CHAKRA_NUM_OPS] > 0;
    bool moves = raw->type == WF_CHAKRA_LOAD || raw->type == WF_CHAKRA_STORE;
    if (!has_ops && !moves) {
        return 0;
    }
    double bytes =
        attrs[WF_CHAKRA_TENSOR_SIZE] != none ? (double)attrs[WF_CHAKRA_TENSOR_SIZE] : 0;
    double seconds =
        roofline_seconds(trace->params, has_ops ? (double)attrs[WF_CHAKRA_NUM_OPS] : 0, bytes);
    rank->n_untimed += seconds > 0 ? 0 : 1;
    return seconds < 1e6 ? (int64_t)(seconds * 1e12) : WF_TIME_MAX;
}

static uint8_t gpu_stream(struct wf_chakra_rank *rank, uint64_t name)
{
    char text[24];
    uint32_t most = WF_STREAMS_MAX - WF_CHAKRA_GPU - 1;

    if (name == WF_CHAKRA_NOTHING) {
        name = 0;
    }
    int n = snprintf(text, sizeof(text), "%" PRIu64, name);
    uint32_t number = wf_strings_put(&rank->streams, text, (size_t)n);
    return (uint8_t)(WF_CHAKRA_GPU + (number < most ? number : most));
}

static uint8_t stream_of(struct wf_chakra_rank *rank, const struct wf_chakra_raw *raw)
{
    bool on_cpu =
        raw->attrs[WF_CHAKRA_IS_CPU] != WF_CHAKRA_NOTHING && raw->attrs[WF_CHAKRA_IS_CPU] != 0;

    switch (raw->type) {
    case WF_CHAKRA_LOAD:
    case WF_CHAKRA_STORE:
        return WF_CHAKRA_COPY;
    case WF_CHAKRA_COMP:
        return on_cpu ? WF_CHAKRA_CPU : gpu_stream(rank, raw->attrs[WF_CHAKRA_STREAM]);
    case WF_CHAKRA_SEND:
    case WF_CHAKRA_RECV:
    case WF_CHAKRA_COLL:
        return on_cpu ? WF_CHAKRA_CPU : WF_CHAKRA_COMM;
    default:
        return WF_CHAKRA_CPU;
    }
}

/* The collectives by their numbers in a trace. */
static const uint8_t kinds[] = {WF_COLL_ALLREDUCE,
                                WF_COLL_REDUCE,
                                WF_COLL_ALLGATHER,
                                WF_COLL_GATHER,
                                WF_COLL_SCATTER,
                                WF_COLL_BCAST,
                                WF_COLL_ALLTOALL,
                                WF_COLL_REDUCE_SCATTER_BLOCK,
                                WF_COLL_REDUCE_SCATTER_BLOCK,
                                WF_COLL_BARRIER};

/* Sets what a collective needs. Without it, or on a CPU, where a node is only the launch, the
 * node is its recorded time. */
static void set_collective(struct wf_chakra_rank *rank, struct wf_chakra_node *node,
                           const struct wf_chakra_raw *raw, struct wf_trace_place *place)
{
    uint64_t kind = raw->attrs[WF_CHAKRA_COMM_TYPE], bytes = raw->attrs[WF_CHAKRA_COMM_SIZE];
    char number[24];

    if (node->stream == WF_CHAKRA_CPU || kind == WF_CHAKRA_NOTHING ||
        (bytes == WF_CHAKRA_NOTHING && kind != 9)) {
        rank->n_recorded += node->stream == WF_CHAKRA_CPU ? 0 : 1;
        node->type = WF_CHAKRA_COMP;
        return;
    }
    if (kind >= sizeof(kinds)) {
        wf_trace_bad(place, "node %" PRIu64 " is a collective of an unknown kind (%" PRIu64 ")",
                     raw->id, kind);
        return;
    }
    node->kind = kinds[kind];
    node->bytes = node->kind == WF_COLL_BARRIER ? 0 : bytes;
    node->peer = raw->attrs[WF_CHAKRA_COMM_ROOT] <= UINT32_MAX
                     ? (uint32_t)raw->attrs[WF_CHAKRA_COMM_ROOT]
                     : UINT32_MAX;
    const char *name = raw->group;
    if (name[0] == '\0' && raw->attrs[WF_CHAKRA_PG_NAME] != WF_CHAKRA_NOTHING) {
        (void)snprintf(number, sizeof(number), "%" PRIu64, raw->attrs[WF_CHAKRA_PG_NAME]);
        name = number;
    }
    node->group =
        name[0] == '\0' ? UINT32_MAX : wf_strings_put(&rank->groups, name, strlen(name));
}

/* Likewise of a message; one from or to a rank without a file is its recorded time. */
static void set_message(const struct wf_chakra *trace, struct wf_chakra_rank *rank,
                        struct wf_chakra_node *node, const struct wf_chakra_raw *raw)
{
    bool sends = raw->type == WF_CHAKRA_SEND;
    uint64_t peer = raw->attrs[sends ? WF_CHAKRA_COMM_DST : WF_CHAKRA_COMM_SRC];
    uint64_t bytes = raw->attrs[WF_CHAKRA_COMM_SIZE], tag = raw->attrs[WF_CHAKRA_COMM_TAG];

    if (node->stream == WF_CHAKRA_CPU || peer >= trace->n_ranks || trace->replicated ||
        (bytes == WF_CHAKRA_NOTHING && sends)) {
        rank->n_recorded += node->stream == WF_CHAKRA_CPU ? 0 : 1;
        node->type = WF_CHAKRA_COMP;
        return;
    }
    node->peer = (uint32_t)peer;
    node->bytes = bytes != WF_CHAKRA_NOTHING ? bytes : 0;
    node->tag = tag != WF_CHAKRA_NOTHING ? (int32_t)tag : 0;
    node->duration = 0;
}

void wf_chakra_add(const struct wf_chakra *trace, uint32_t rank, struct wf_chakra_raw *raw,
                   struct wf_trace_place *place)
{
    struct wf_chakra_rank *own = &trace->ranks[rank];
    uint64_t bytes = raw->attrs[WF_CHAKRA_COMM_SIZE];

    if (raw->type >= WF_CHAKRA_TYPES) {
        wf_trace_bad(place, "node %" PRIu64 " has a type that is not known", raw->id);
        return;
    }
    if (raw->duration_ps > WF_TIME_MAX) {
        wf_trace_bad(place,
                     "node %" PRIu64 " has a duration that is negative or above 106 days",
                     raw->id);
        return;
    }
    bool has_bytes = raw->type >= WF_CHAKRA_SEND && bytes != WF_CHAKRA_NOTHING;
    if (has_bytes && bytes > INT64_MAX) {
        wf_trace_bad(place, "node %" PRIu64 " has a message that is too long", raw->id);
        return;
    }
    own->counts[raw->type]++;
    own->bytes[raw->type] += has_bytes ? bytes : 0;
    struct wf_chakra_node node = {.id = raw->id,
                                  .type = (uint8_t)raw->type,
                                  .stream = stream_of(own, raw),
                                  .duration = duration_of(trace, own, raw),
                                  .match = WF_NO_TASK};
    if (raw->type == WF_CHAKRA_COLL) {
        set_collective(own, &node, raw, place);
    } else if (raw->type == WF_CHAKRA_SEND || raw->type == WF_CHAKRA_RECV) {
        set_message(trace, own, &node, raw);
    } else if (raw->type == WF_CHAKRA_METADATA && raw->defines_groups &&
               raw->group_values.size > 0) {
        wf_buf_append(&own->pg, raw->group_values.data, raw->group_values.size);
        wf_buf_append(&own->pg, "", 1);
    }
    if (own->n >= WF_NO_TASK / 2) {
        wf_trace_bad(place, "more nodes than weft can number");
        return;
    }
    WF_GROW(own->deps_of, (uint64_t)own->n + 1, own->deps_of_capacity);
    own->deps_of[own->n].data = own->n_deps;
    add_deps(own, &raw->data);
    own->deps_of[own->n].ctrl = own->n_deps;
    if (trace->params->deps == 0) {
        add_deps(own, &raw->ctrl);
    }
    own->deps_of[own->n + 1].data = own->n_deps;
    WF_PUSH(own->nodes, own->n, own->capacity, node);
}
