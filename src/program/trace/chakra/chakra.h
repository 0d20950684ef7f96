/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Chakra execution traces in memory: for each rank its nodes, and which of them wait for which.
 * It is a task graph. A collective is as many tasks as its algorithm (model/coll/coll.h) has steps,
 * and one more; they are computed when somebody asks for them, so that memory is needed for
 * nodes only: about 100 bytes each, and 4 for a dependency.
 *
 *   proto.c, json.c   decode a file into nodes
 *   nodes.c           what a node becomes: its stream, duration and communication
 *   build.c           groups, dependencies, partners of messages, collectives
 *   graph.c           the task graph
 *   table.c           collectives that take the time of NCCL's table
 *   read.c            the reader: files of a trace, parameters
 */

#include "base/buf.h"
#include "base/strings.h"
#include "model/coll/coll.h"
#include "model/coll/nccl.h"
#include "program/ops/graph.h"
#include "program/trace/kit/infile.h"

struct wf_trace;

enum wf_chakra_type {
    WF_CHAKRA_INVALID,
    WF_CHAKRA_METADATA,
    WF_CHAKRA_LOAD,
    WF_CHAKRA_STORE,
    WF_CHAKRA_COMP,
    WF_CHAKRA_SEND,
    WF_CHAKRA_RECV,
    WF_CHAKRA_COLL,
    WF_CHAKRA_TYPES
};

extern const char *const wf_chakra_type_names[]; /* as records are called */

/* Streams of a rank; GPU streams follow. */
enum { WF_CHAKRA_CPU, WF_CHAKRA_COMM, WF_CHAKRA_COPY, WF_CHAKRA_GPU };

#define WF_CHAKRA_NOTHING UINT64_MAX /* an attribute that a node does not have */
#define WF_CHAKRA_WORLD   0          /* the group of all ranks */

/* What can be said about a node in any of the formats; the order of the names in nodes.c. */
enum wf_chakra_attr {
    WF_CHAKRA_IS_CPU,
    WF_CHAKRA_NUM_OPS,
    WF_CHAKRA_TENSOR_SIZE,
    WF_CHAKRA_COMM_TYPE,
    WF_CHAKRA_COMM_SIZE,
    WF_CHAKRA_COMM_SRC,
    WF_CHAKRA_COMM_DST,
    WF_CHAKRA_COMM_TAG,
    WF_CHAKRA_COMM_ROOT,
    WF_CHAKRA_PG_NAME, /* a text, or a number */
    WF_CHAKRA_STREAM,
    WF_CHAKRA_ATTRS
};

/* The attribute of this name, in any spelling (comm_size, commSize), or WF_CHAKRA_ATTRS. */
enum wf_chakra_attr wf_chakra_attr_of(const char *name, size_t length);

/* A node as a file has it. */
struct wf_chakra_raw {
    uint64_t id;
    uint32_t type; /* enum wf_chakra_type, unchecked */
    uint64_t duration_ps;
    uint64_t attrs[WF_CHAKRA_ATTRS];
    char group[64];             /* pg_name, if it is a text */
    struct wf_buf ctrl, data;   /* uint64_t: ids */
    bool defines_groups;        /* a METADATA node with... */
    struct wf_buf group_values; /* ...this text */
};

/* A collective of a group, which all its members make. */
struct wf_chakra_call {
    struct wf_coll_args args; /* of any rank */
    const struct wf_coll_ops *ops;
    enum wf_coll_protocol protocol;
    uint32_t n_slots;
    uint32_t group;
    uint64_t firsts;  /* the first task of each member begins here in firsts of the trace */
    uint32_t n_steps; /* by the table, of each member */
    bool aligned;     /* what is sent in a step is received in the same step */
    bool by_table;    /* takes the time of NCCL's table; the steps are its traffic, if any */
    int64_t time;     /* by the table... */
    uint64_t
        traffic; /* ...and the bytes of each message of its traffic; 0: those of the step */
};

struct wf_chakra_node {
    uint64_t id;
    int64_t duration;
    uint64_t bytes;
    uint32_t first_task, n_tasks;
    uint32_t n_before;
    uint32_t after, n_after; /* nodes that wait for it begin here in `after` of the rank */
    uint32_t group;          /* of a collective */
    uint32_t peer;           /* of a message, or root of a collective */
    int32_t tag;
    uint32_t match;  /* SEND: the node that receives it, or WF_NO_TASK; COLL: the call */
    uint32_t member; /* COLL: rank in the group */
    uint8_t type;    /* enum wf_chakra_type; communication that is only its recorded time is
                         a WF_CHAKRA_COMP */
    uint8_t stream;
    uint8_t kind; /* COLL: enum wf_coll_kind */
};

/* What the latest answers were, to answer the next question quickly. */
struct wf_chakra_cache {
    uint32_t needs_task;
    struct wf_task_needs needs;
    uint32_t wait_node, wait_from, wait_to; /* steps of a node that wait together */
    uint32_t recv_node, recv_src, recv_n, recv_step;
    uint32_t send_node, send_dst, send_n, send_step;
};

struct wf_chakra_rank {
    struct wf_chakra_node *nodes;
    uint32_t n, capacity;
    uint32_t n_tasks;
    /* While reading: ids that nodes wait for, and where those of each node begin. */
    uint64_t *deps;
    uint64_t n_deps, deps_capacity;
    struct wf_chakra_deps {
        uint64_t data, ctrl; /* those of control dependencies follow the others */
    } * deps_of;
    uint64_t deps_of_capacity;
    bool without_ctrl;         /* they would form a circle */
    struct wf_strings groups;  /* names of groups that its nodes name */
    struct wf_strings streams; /* names of GPU streams */
    struct wf_buf pg;          /* texts of METADATA nodes, each with a NUL after it */
    uint32_t *after;
    uint32_t *order; /* nodes in an order in which they can run */
    uint64_t counts[WF_CHAKRA_TYPES], bytes[WF_CHAKRA_TYPES];
    uint64_t n_dangling, n_untimed, n_recorded; /* for notes */
};

struct wf_chakra_group {
    uint32_t *members; /* sorted */
    uint32_t n;
};

struct wf_chakra_params {
    int deps;
    int coll_rules;
    char *groups;
    uint64_t reduce_rate;
    double peak_flops;
    uint64_t memory_rate;
};

struct wf_chakra {
    struct wf_graph graph;                 /* must be the first member */
    const struct wf_chakra_params *params; /* while reading */
    uint64_t reduce_rate;
    enum wf_coll_rules coll_rules;
    struct wf_coll_nccl nccl; /* of the machine, once prepared... */
    int64_t least_delay;      /* ...and the least delay of its network */
    uint32_t n_ranks;
    struct wf_chakra_rank *ranks;
    struct wf_strings names; /* of groups; number 0 is that of all ranks */
    struct wf_chakra_group *groups;
    uint32_t groups_capacity;
    struct wf_chakra_call *calls;
    uint64_t n_calls, calls_capacity;
    uint32_t *firsts;
    uint64_t n_firsts, firsts_capacity;
    struct wf_chakra_cache *caches; /* of each rank */
    uint8_t streams[WF_STREAMS_MAX];
    uint64_t n_unmatched;
    bool replicated;  /* all ranks have the nodes of one */
    bool defined;     /* the groups of the trace are known */
    uint32_t n_world; /* ranks that they name */
    char assumed[320];
};

/* Decodes a file; `place` names it. Nodes are added to the rank. */
void wf_chakra_read_proto(const struct wf_chakra *trace, uint32_t rank,
                          const struct wf_buf *file, struct wf_trace_place *place);
void wf_chakra_read_json(const struct wf_chakra *trace, uint32_t rank,
                         const struct wf_buf *file, struct wf_trace_place *place);
/* Decodes a file of groups: {"1": [0, 1], "2": [2, 3]}. */
void wf_chakra_read_groups(struct wf_chakra *trace, const struct wf_buf *file,
                           struct wf_trace_place *place);
/* Decodes the text of a METADATA node: [{"pg_name": "0", "ranks": [0, 1]}]. Text that has no
 * groups is left alone. */
void wf_chakra_read_pg(struct wf_chakra *trace, const char *text, size_t size,
                       struct wf_trace_place *place);

/* An empty node, in which attributes are WF_CHAKRA_NOTHING. Keeps the buffers. */
void wf_chakra_raw_reset(struct wf_chakra_raw *raw);
void wf_chakra_raw_fini(struct wf_chakra_raw *raw);

/* Adds a node to a rank. Changes nothing but the rank, so that threads may read different ranks
 * at once. */
void wf_chakra_add(const struct wf_chakra *trace, uint32_t rank, struct wf_chakra_raw *raw,
                   struct wf_trace_place *place);
/* Defines a group, or does nothing if it is defined alike. An empty list is all ranks. */
void wf_chakra_define(struct wf_chakra *trace, const char *name, uint32_t *members, uint32_t n,
                      const struct wf_trace_place *place);

/* Finds dependencies, partners and collectives when all nodes have been read. `path` is the
 * trace, for errors. */
void wf_chakra_build(struct wf_chakra *trace, const char *path, struct wf_err *err);

/* How many steps a rank has, and whether all messages of a call are sent and received in steps of
 * the same number. */
uint32_t wf_chakra_count_steps(const struct wf_coll_ops *ops, const struct wf_coll_args *args);
bool wf_chakra_is_aligned(const struct wf_chakra_call *call);
/* Sets the algorithm of a call that is messages. `last` is another call, or null. */
void wf_chakra_choose(const struct wf_chakra *trace, struct wf_chakra_call *call,
                      const struct wf_chakra_call *last);
/* Numbers the tasks of all ranks when the algorithms are known. False if a rank has too many. */
bool wf_chakra_number_tasks(struct wf_chakra *trace);

/* Tells the trace which collectives take the time of a table, and which. */
void wf_chakra_prepare(struct wf_graph *graph, const struct wf_graph_machine *machine);
/* Such collectives: how many tasks they have, what task k > n_steps needs, what a task has besides
 * its step, and its i-th message if that is a signal. */
uint32_t wf_chakra_table_tasks(const struct wf_chakra_call *call, uint32_t member);
struct wf_task_needs wf_chakra_table_needs(const struct wf_chakra_call *call, uint32_t member,
                                           uint32_t k);
void wf_chakra_table_task(const struct wf_chakra_call *call, uint32_t member, uint32_t k,
                          struct wf_task *out);
bool wf_chakra_table_send(const struct wf_chakra *trace, const struct wf_chakra_call *call,
                          uint32_t member, uint32_t k, uint32_t i, struct wf_task_send *out);

/* Forgets the latest answers. */
void wf_chakra_forget(struct wf_chakra *trace);

/* Fills in the graph of a trace that was built; wf_graph_free() releases all. */
void wf_chakra_graph(struct wf_chakra *trace);
void wf_chakra_free(struct wf_chakra *trace); /* null is allowed */
