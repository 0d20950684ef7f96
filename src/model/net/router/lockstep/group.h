/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Networks that are alike, on a device, as the files of model/net/router/lockstep/device.c see them. */

#include "model/net/router/lockstep/device.h"
#include "model/net/router/lockstep/launch.h"

enum { WF_LOCKSTEP_TABLES = 8 };

struct wf_lockstep_group {
    const struct wf_lockstep_device_run *run;
    const struct wf_gpu_ops *ops;
    struct wf_gpu *gpu;
    struct wf_gpu_facts facts;
    struct wf_lockstep_task **tasks;
    size_t n;
    struct wf_lockstep_launch launch;
    wf_gpu_address tables[WF_LOCKSTEP_TABLES], state, out, varied, count;
    struct wf_gpu_program program;
    uint64_t state_bytes;
    size_t n_outs; /* counts: those of a network, or of a block */
    struct wf_gpu_launch how;
};

/* Threads of a block, and blocks, of kernels that are not important. */
static inline uint32_t wf_lockstep_plain_threads(const struct wf_lockstep_group *group)
{
    enum { MOST = 512 };

    return group->facts.threads_max < MOST ? group->facts.threads_max : MOST;
}

static inline uint32_t wf_lockstep_plain_blocks(const struct wf_lockstep_group *group)
{
    return 4 * group->facts.processors;
}

/* model/net/router/lockstep/device_spread.c: loads the kernels and chooses how they are spread over the
 * device. */
enum wf_status wf_lockstep_group_spread(struct wf_lockstep_group *group, struct wf_err *err);

/* model/net/router/lockstep/device_results.c: sets the outcome of each network. */
enum wf_status wf_lockstep_group_collect(struct wf_lockstep_group *group,
                                         enum wf_status outcome, struct wf_err *err);
