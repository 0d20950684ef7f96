/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/config.h"

#include "model/net/router/gpu/gpu.h"

#include <stddef.h>

const char *const wf_scheduler_names[] = {
    "sequential", "conservative", "optimistic", "check-undo", "perturb", NULL,
};

const char *const wf_exec_names[] = {"auto", "events", "lockstep", "gpu", NULL};

static const char *const partition_names[] = {"block", "cyclic", NULL};

#define AT(member) offsetof(struct wf_engine_config, member)

const struct wf_param wf_engine_params[] = {
    {.name = "sched",
     .type = WF_PARAM_ENUM,
     .offset = AT(scheduler),
     .def = "sequential",
     .choices = wf_scheduler_names,
     .doc = "Scheduler; none changes the result"},
    WF_PARAM_ROW(struct wf_engine_config, threads, COUNT, .def = "1", .min = "1", .max = "1024",
                 .doc = "Threads in each process"),
    WF_PARAM_ROW(struct wf_engine_config, exec, ENUM, .def = "auto", .choices = wf_exec_names,
                 .doc = "What executes synthetic traffic on routers: events, or all routers in "
                        "lock step, on cores or on a GPU; auto: the fastest. None changes the "
                        "result"),
    WF_PARAM_ROW(struct wf_engine_config, device, ENUM, .def = "auto", .choices = wf_gpu_names,
                 .doc = "Driver of the GPU; host runs the kernels on cores, for tests"),
    WF_PARAM_ROW(struct wf_engine_config, partition, ENUM, .def = "block",
                 .choices = partition_names,
                 .doc = "How simulated processes are dealt to threads"),
    WF_PARAM_ROW(struct wf_engine_config, fit, BOOL, .def = "true",
                 .doc = "Use one thread for models and windows that are too small for several, "
                        "and at most as many threads as cores; no: use all threads"),
    WF_PARAM_ROW(struct wf_engine_config, pin, BOOL, .def = "false",
                 .doc = "Pin threads to cores if there are enough and the run is one process"),
    WF_PARAM_ROW(struct wf_engine_config, batch, COUNT, .def = "64", .min = "1",
                 .max = "1000000",
                 .doc = "Optimistic: events between two looks at the incoming queue"),
    WF_PARAM_ROW(
        struct wf_engine_config, gvt_interval, COUNT, .def = "0", .max = "1000000",
        .doc = "Optimistic: batches between two GVT rounds; 0 adapts it to what rounds cost"),
    WF_PARAM_ROW(
        struct wf_engine_config, lps_per_kp, COUNT, .def = "1", .min = "1", .max = "2048",
        .doc = "Optimistic: processes that roll back together, rounded up to a power of two"),
    WF_PARAM_ROW(struct wf_engine_config, leash, TIME, .def = "0",
                 .doc = "Optimistic: how far past GVT to run in virtual time; 0 adapts it to "
                        "the rollbacks"),
    WF_PARAM_ROW(struct wf_engine_config, memory, SIZE, .def = "256MiB", .min = "4KiB",
                 .max = "1TiB",
                 .doc = "Optimistic: undo log of a thread, beyond which it is throttled"),
    WF_PARAM_ROW(struct wf_engine_config, safe, BOOL, .def = "true",
                 .doc = "Optimistic: do not log events that nothing can undo any more, which "
                        "are those before GVT plus lookahead; no: log all events"),
    WF_PARAM_ROW(struct wf_engine_config, perturb_seed, COUNT, .def = "1",
                 .doc = "Perturb: seed of the injected rollbacks, delays and reorderings"),
    WF_PARAM_END,
};
