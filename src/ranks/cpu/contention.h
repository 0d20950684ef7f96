/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Computations that share the memory bandwidth of a domain, like a roofline: the part of a
 * computation that waits for memory takes longer where the cores of its domain together draw
 * more than the domain has. See docs/models/node.md.
 */

#include "ranks/cpu/cpu.h"

struct wf_node_params;

/* Set by wf_cpu_contention_init(); does not change during a run. */
struct wf_cpu_contention {
    bool on;
    uint64_t memory_bound; /* share of a computation that waits for memory, like a factor */
    uint64_t core_bandwidth, memory_bandwidth;
};

/* WF_EUSAGE if the share is set and a bandwidth is missing. */
WF_NODISCARD
enum wf_status wf_cpu_contention_check(const struct wf_node_params *params, struct wf_err *err);

struct wf_cpu_contention wf_cpu_contention_init(const struct wf_node_params *params,
                                                const struct wf_cpu *cpu);

/* The time of a computation that takes `duration` alone, of which the part `memory_bound`
 * waits for memory, if `n_cores` cores of the domain compute at once. */
int64_t wf_cpu_contention_time(const struct wf_cpu_contention *contention,
                               uint64_t memory_bound, uint32_t n_cores, int64_t duration);
