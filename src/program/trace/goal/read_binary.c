/* SPDX-License-Identifier: Apache-2.0 */
/* GOAL: the binary form of schedules that txt2bin writes, for LogGOPSim and ATLAHS. */
#include "base/array.h"
#include "base/mem.h"
#include "base/units.h"
#include "base/varint.h"
#include "program/trace/goal/goal.h"
#include "program/trace/kit/kit.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    MAGIC = 4223,
    MAGIC_USED_UP = 2342, /* LogGOPSim counted down in the file (--save-mem) */
    MAGIC_BYTES = 8,      /* offsets in the file are counted from here */
    HEAD_BYTES = 14,
    RANGE_BYTES = 16, /* where the block of a rank is */
    BLOCK_HEAD_BYTES = 8,
    NODE_BYTES = 39,
    NAME_REQUIRES = WF_GOAL_KINDS,
    NAME_IREQUIRES,
    NAMES
};

/* A node as it is in the file. */
struct node {
    uint32_t n_before;
    uint8_t type;
    uint32_t peer;
    uint64_t size;
    uint32_t tag;
    uint8_t cpu, nic;
    uint32_t n_after_end, after_end, n_after_start, after_start; /* in the appendix */
};

struct reading {
    int64_t calc_unit;
    struct wf_infile file;
    struct wf_goal *goal;
    struct wf_records *records;
    uint32_t record_names[NAMES];
    uint32_t *appendix; /* of the rank */
    uint64_t appendix_capacity;
    uint32_t *n_before; /* of the nodes of the rank, as the file says */
    uint64_t n_before_capacity;
};

static bool has_failed(const struct reading *r)
{
    return wf_trace_failed(r->file.place.err);
}

static void bad(struct reading *r, const char *what)
{
    r->file.place.byte = wf_infile_at(&r->file);
    wf_trace_bad(&r->file.place, "%s", what);
}

static struct node take_node(struct reading *r)
{
    const unsigned char *at = wf_infile_bytes(&r->file, NODE_BYTES);
    struct node node;

    node.n_before = (uint32_t)wf_fixed_read(&at, 4);
    node.type = (uint8_t)wf_fixed_read(&at, 1);
    node.peer = (uint32_t)wf_fixed_read(&at, 4);
    node.size = wf_fixed_read(&at, 8);
    node.tag = (uint32_t)wf_fixed_read(&at, 4);
    node.cpu = (uint8_t)wf_fixed_read(&at, 1);
    node.nic = (uint8_t)wf_fixed_read(&at, 1);
    node.n_after_end = (uint32_t)wf_fixed_read(&at, 4);
    node.after_end = (uint32_t)wf_fixed_read(&at, 4);
    node.n_after_start = (uint32_t)wf_fixed_read(&at, 4);
    node.after_start = (uint32_t)wf_fixed_read(&at, 4);
    return node;
}

/* The error in a node, in words; null if there is none. */
static const char *fault_of(const struct reading *r, const struct node *node)
{
    static const char *const kinds = "a node that is no send, recv or calc";

    if (node->type < 1 || node->type > 3) {
        return kinds;
    }
    if (node->type == 3) {
        return node->size > (uint64_t)(WF_TIME_MAX / r->calc_unit) ? "a calc that is too long"
                                                                   : NULL;
    }
    bool is_any = node->type == 2 && node->peer == WF_GOAL_ANY;
    if (node->peer >= r->goal->n_ranks && !is_any) {
        return "a message from or to a rank that is not there";
    }
    if (node->tag > INT32_MAX && !(node->type == 2 && node->tag == WF_GOAL_ANY)) {
        return "a tag that is neither from 0 to 2147483647 nor, at a recv, any";
    }
    return node->size > INT64_MAX ? "a message that is too long" : NULL;
}

static void add_op(struct reading *r, const struct node *node)
{
    static const enum wf_goal_kind kinds[] = {
        [1] = WF_GOAL_SEND, [2] = WF_GOAL_RECV, [3] = WF_GOAL_CALC};
    struct wf_goal_block *block = &r->goal->blocks[0];
    enum wf_goal_kind kind = kinds[node->type];
    bool is_calc = kind == WF_GOAL_CALC;
    const struct wf_goal_op op = {
        .kind = (uint8_t)kind,
        .cpu = node->cpu,
        .nic = node->nic,
        .tag = is_calc ? 0 : node->tag,
        .peer = is_calc ? 0 : node->peer,
        .amount = is_calc ? node->size * (uint64_t)r->calc_unit : node->size,
        .match = WF_NO_TASK,
    };

    WF_PUSH(block->ops, block->n_ops, block->ops_capacity, op);
    block->n_streams += (node->cpu != 0 ? 1U : 0U) + (node->nic != 0 ? 1U : 0U);
    block->n_wildcards += wf_goal_is_wildcard(&op) ? 1 : 0;
    wf_records_add(r->records, (uint32_t)r->file.place.rank, r->record_names[kind],
                   is_calc ? 0 : node->size);
}

/* Adds the edges from a node to `n` others, which are listed in the appendix. */
static void add_edges(struct reading *r, struct wf_goal_rank *rank, uint32_t from, uint32_t at,
                      uint32_t n, bool for_end)
{
    struct wf_goal_block *block = &r->goal->blocks[0];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t after = r->appendix[at + i];
        if (after >= rank->n || r->n_before[after]-- == 0) {
            bad(r, after >= rank->n ? "a node that waits is not there"
                                    : "more nodes name a node than it waits for");
            return;
        }
        WF_PUSH(block->edges, block->n_edges, block->edges_capacity,
                (struct wf_goal_edge){from, after, for_end,
                                      (uint32_t)rank->n_edges & (WF_GOAL_EDGES_MAX - 1)});
        rank->n_edges++;
        wf_records_add(r->records, (uint32_t)r->file.place.rank,
                       r->record_names[for_end ? NAME_REQUIRES : NAME_IREQUIRES], 0);
    }
}

/* Reads the indices of all nodes that wait for others, which follow the nodes. */
static void read_appendix(struct reading *r, uint64_t n)
{
    if (n > r->appendix_capacity) {
        free(r->appendix);
        r->appendix = wf_xmalloc(n * sizeof(*r->appendix));
        r->appendix_capacity = n;
    }
    for (uint64_t i = 0; i < n; i++) {
        r->appendix[i] = (uint32_t)wf_infile_unsigned(&r->file, 4);
    }
}

/* Reads the nodes again, for their edges, after the appendix. */
static void read_edges(struct reading *r, struct wf_goal_rank *rank, uint64_t at,
                       uint64_t n_listed)
{
    wf_infile_seek(&r->file, at + rank->n * NODE_BYTES);
    read_appendix(r, n_listed);
    wf_infile_seek(&r->file, at);
    uint64_t n_named = 0;
    for (uint32_t i = 0; i < rank->n && !has_failed(r); i++) {
        const struct node node = take_node(r);
        n_named += (uint64_t)node.n_after_end + node.n_after_start;
        if (n_named > n_listed) { /* few bytes must not make many edges */
            bad(r, "nodes share lists of nodes that wait");
            return;
        }
        if ((uint64_t)node.after_end + node.n_after_end > n_listed ||
            (uint64_t)node.after_start + node.n_after_start > n_listed) {
            /* Lists without an entry may begin anywhere. */
            if (node.n_after_end > 0 || node.n_after_start > 0) {
                bad(r, "a list of nodes that wait is outside the block of its rank");
                return;
            }
        }
        add_edges(r, rank, i, node.after_start, node.n_after_start, false);
        add_edges(r, rank, i, node.after_end, node.n_after_end, true);
    }
    for (uint32_t i = 0; i < rank->n && !has_failed(r); i++) {
        if (r->n_before[i] != 0) {
            bad(r, "a node waits for more nodes than name it");
        }
    }
}

static void read_rank(struct reading *r, uint64_t start, uint64_t end)
{
    struct wf_goal_block *block = &r->goal->blocks[0];
    struct wf_goal_rank *rank = &r->goal->ranks[r->file.place.rank];

    *rank = (struct wf_goal_rank){
        .first = block->n_ops, .first_edge = block->n_edges, .is_there = true};
    wf_infile_seek(&r->file, start);
    uint64_t n_nodes = wf_infile_unsigned(&r->file, 4);
    uint64_t n_roots = wf_infile_unsigned(&r->file, 4);
    uint64_t used = BLOCK_HEAD_BYTES + 4 * n_roots + NODE_BYTES * n_nodes;
    if (used > end - start || (end - start - used) % 4 != 0 || n_nodes >= WF_NO_TASK / 2 ||
        (end - start - used) / 4 >= WF_GOAL_EDGES_MAX) {
        bad(r, "the block of the rank has another length than its nodes need");
        return;
    }
    uint64_t nodes_at = start + BLOCK_HEAD_BYTES + 4 * n_roots;
    wf_infile_seek(&r->file, nodes_at);
    if (n_nodes > r->n_before_capacity) {
        free(r->n_before);
        r->n_before = wf_xmalloc(n_nodes * sizeof(*r->n_before));
        r->n_before_capacity = n_nodes;
    }
    for (uint64_t i = 0; i < n_nodes && !has_failed(r); i++) {
        const struct node node = take_node(r);
        const char *fault = fault_of(r, &node);
        if (fault != NULL) {
            bad(r, fault);
            return;
        }
        r->n_before[i] = node.n_before;
        add_op(r, &node);
    }
    rank->n = n_nodes;
    read_edges(r, rank, nodes_at, (end - start - used) / 4);
}

static void read_head(struct reading *r)
{
    uint64_t magic = wf_infile_unsigned(&r->file, 8), n = wf_infile_unsigned(&r->file, 4);

    if (magic == MAGIC_USED_UP) {
        bad(r, "LogGOPSim has used this file up (--save-mem); make it again with txt2bin");
    } else if (n == 0 || n > (r->file.size - HEAD_BYTES) / (RANGE_BYTES + BLOCK_HEAD_BYTES) ||
               n >= WF_RANKS_MAX) {
        r->file.place.byte = MAGIC_BYTES;
        wf_trace_bad(&r->file.place,
                     "%" PRIu64 " ranks, but the file has %" PRIu64 " bytes; truncated?", n,
                     r->file.size);
    } else {
        r->goal->n_ranks = (uint32_t)n;
        r->goal->ranks = wf_xcalloc((size_t)n, sizeof(*r->goal->ranks));
    }
}

static void read_all(struct reading *r, struct wf_trace *out)
{
    static const char *const names[NAMES] = {[WF_GOAL_CALC] = "calc",
                                             [WF_GOAL_SEND] = "send",
                                             [WF_GOAL_RECV] = "recv",
                                             [NAME_REQUIRES] = "requires",
                                             [NAME_IREQUIRES] = "irequires"};

    read_head(r);
    if (has_failed(r)) {
        return;
    }
    out->records = wf_records_new(r->goal->n_ranks);
    r->records = out->records;
    for (uint32_t i = 0; i < NAMES; i++) {
        r->record_names[i] = wf_records_name(r->records, names[i]);
    }
    uint64_t before = HEAD_BYTES + (uint64_t)RANGE_BYTES * r->goal->n_ranks;
    r->file.place.unit = "rank";
    for (uint32_t i = 0; i < r->goal->n_ranks && !has_failed(r); i++) {
        r->file.place.rank = i;
        wf_infile_seek(&r->file, HEAD_BYTES + (uint64_t)RANGE_BYTES * i);
        uint64_t start = wf_infile_unsigned(&r->file, 8) + MAGIC_BYTES;
        uint64_t end = wf_infile_unsigned(&r->file, 8) + MAGIC_BYTES;
        /* Each begins where the one before ends, so that none is read twice. */
        if (start != before || end < start + BLOCK_HEAD_BYTES || end > r->file.size) {
            bad(r, "the block of the rank is not where that of the rank before ends, or is cut "
                   "off; truncated?");
            return;
        }
        read_rank(r, start, end);
        before = end;
    }
    if (!has_failed(r) && r->file.failed) {
        bad(r, "the file ends before its last node; truncated?");
    }
}

static bool detect(const struct wf_reader_probe *probe)
{
    const unsigned char *at = probe->bytes;

    if (probe->is_directory || probe->n < HEAD_BYTES) {
        return false;
    }
    uint64_t magic = wf_fixed_read(&at, 8);
    return magic == MAGIC || magic == MAGIC_USED_UP;
}

static enum wf_status open_trace(const struct wf_reader_probe *probe, const void *params,
                                 struct wf_trace *out, struct wf_err *err)
{
    struct reading r = {.calc_unit = ((const struct wf_goal_params *)params)->calc_unit,
                        .goal = wf_goal_new()};

    if (wf_infile_open(&r.file, probe->path, err) == WF_OK) {
        r.file.swapped = true;
        read_all(&r, out);
    }
    if (!wf_trace_failed(err)) {
        wf_goal_finish(r.goal, out);
        r.goal = NULL;
    }
    wf_infile_close(&r.file);
    free(r.appendix);
    free(r.n_before);
    wf_goal_free(r.goal);
    return err->status;
}

const struct wf_reader_ops wf_goal_binary_reader_ops = {
    .name = "goal_binary",
    .summary = "GOAL schedules of LogGOPSim and ATLAHS, as binary files; tasks",
    .params = wf_goal_params_table,
    .params_size = sizeof(struct wf_goal_params),
    .detect = detect,
    .open = open_trace,
};
