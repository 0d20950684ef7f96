/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A program as steps: sends, receives and computations of hosts, of which some wait for others
 * of the same host. GOAL schedules have this form. It says what a task graph does not: tags and
 * wildcards, the network interface (NIC) that a receive takes, and what waits for the start of
 * a step and not for its end. A stream of a task graph is a CPU of the host.
 *
 * Every task graph can be seen as steps. A step is named by its host and by a number that
 * means nothing to the caller. Like a graph, it may be asked for any step at any time.
 */

#include "program/ops/graph.h"

enum wf_step_kind { WF_STEP_SEND, WF_STEP_RECV, WF_STEP_CALC };

#define WF_STEP_ANY UINT32_MAX /* any sender, any tag */

struct wf_step {
    enum wf_step_kind kind;
    uint8_t cpu, nic;
    bool is_last;      /* its end is the end of its task */
    uint32_t task;     /* only one step of a task waits for more than one step */
    uint32_t peer;     /* receiver or sender of a message */
    uint32_t tag;      /* likewise */
    uint64_t bytes;    /* of a message */
    int64_t duration;  /* of a computation, in picoseconds */
    uint32_t n_before; /* steps that it waits for */
    uint32_t n_after_start, n_after_end; /* steps that wait for it */
};

struct wf_steps;

struct wf_steps_ops {
    uint32_t (*n_tasks)(const struct wf_steps *steps, uint32_t host);
    /* Finds the first step that waits for nothing and whose number is *number or more. Returns
     * false if there is none. */
    bool (*root)(const struct wf_steps *steps, uint32_t host, uint64_t *number);
    void (*step)(const struct wf_steps *steps, uint32_t host, uint64_t number,
                 struct wf_step *out);
    /* The i-th step that waits for the start or for the end of this one. */
    uint64_t (*after)(const struct wf_steps *steps, uint32_t host, uint64_t number,
                      bool of_start, uint32_t i);
};

struct wf_steps {
    const struct wf_steps_ops *ops;
    const struct wf_graph *graph; /* the same program as tasks */
    uint32_t n_cpus, n_nics;      /* of a host */
};

/* The steps of a graph: its own if it has some. Otherwise a task is the steps that weft writes
 * for it into a GOAL file. A message is received by a step that waits for nothing; then the
 * task computes, and sends between two computations. A task that only sends or receives one
 * message is one step. The graph must outlive the steps. */
struct wf_steps wf_steps_of(const struct wf_graph *graph);
