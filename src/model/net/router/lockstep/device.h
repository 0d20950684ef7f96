/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Lock step on a device: networks live in its memory, and a kernel advances all of them by some
 * thousand cycles at a time. One large network is spread over the whole device; of many small ones,
 * each has a block of threads of its own, so that all points of a curve take hardly longer than
 * one.
 */

#include "model/net/router/gpu/gpu.h"
#include "model/net/router/lockstep/lockstep.h"

#include <signal.h>

/* A network to simulate, and its outcome. */
struct wf_lockstep_task {
    const struct wf_lockstep *lockstep;
    struct wf_lockstep_result *result;
    /* WF_OK, WF_EINTR (partial result) or a failure; as wf_lockstep_run_host() */
    enum wf_status status;
    struct wf_err err;
};

struct wf_lockstep_device_run {
    struct wf_gpu *gpu;
    const volatile sig_atomic_t *stop;            /* polled between launches; may be null */
    void (*progress)(void *arg, double fraction); /* of all tasks; may be null */
    void *progress_arg;
};

/* Simulates all tasks and sets their outcomes. */
void wf_lockstep_device_run(const struct wf_lockstep_device_run *run,
                            struct wf_lockstep_task *tasks, size_t n);
