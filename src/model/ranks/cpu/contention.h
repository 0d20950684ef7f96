/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Computations that share something with those of other ranks. Memory bandwidth of a domain, like
 * a roofline: the part of a computation that waits for memory takes longer where the cores of its
 * domain together draw more than the domain has. The cores of the computer that all nodes run
 * on: with more ranks than cores, a rank has its share of a core. See docs/models/node.md.
 */

#include "model/ranks/cpu/cpu.h"

struct wf_node_params;

/* Set by wf_cpu_contention_init(); does not change during a run. */
struct wf_cpu_contention {
    bool on;        /* some computation may take longer than alone */
    bool memory;    /* because of memory */
    uint64_t crowd; /* ranks for each core of a shared computer, at least 1, as a factor */
    uint64_t memory_bound; /* share of a computation that waits for memory, like a factor */
    uint64_t core_bandwidth, memory_bandwidth;
};

/* WF_EUSAGE if the share is set and a bandwidth is missing. */
enum wf_status wf_cpu_contention_check(const struct wf_node_params *params, struct wf_err *err);

/* Of a run with so many ranks in all; `cpu` may be null. */
struct wf_cpu_contention wf_cpu_contention_init(const struct wf_node_params *params,
                                                const struct wf_cpu *cpu, uint32_t n_ranks);

/* The time of a computation that takes `duration` alone, of which the part `memory_bound`
 * waits for memory, if `n_cores` cores of the domain compute at once. */
int64_t wf_cpu_contention_time(const struct wf_cpu_contention *contention,
                               uint64_t memory_bound, uint32_t n_cores, int64_t duration);
