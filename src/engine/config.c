/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/config.h"

#include <stddef.h>

const char *const wf_scheduler_names[] = {
    "sequential", "conservative", "optimistic", "check-undo", "perturb", NULL,
};

static const char *const partition_names[] = {"block", "cyclic", NULL};

#define AT(member) offsetof(struct wf_engine_config, member)

const struct wf_param wf_engine_params[] = {
    {.name = "sched",
     .type = WF_PARAM_ENUM,
     .offset = AT(scheduler),
     .def = "sequential",
     .choices = wf_scheduler_names,
     .doc = "Scheduler; none changes the result"},
    {.name = "threads",
     .type = WF_PARAM_COUNT,
     .offset = AT(threads),
     .def = "1",
     .min = "1",
     .max = "1024",
     .doc = "Threads in each process"},
    {.name = "partition",
     .type = WF_PARAM_ENUM,
     .offset = AT(partition),
     .def = "block",
     .choices = partition_names,
     .doc = "How simulated processes are dealt to threads"},
    {.name = "pin",
     .type = WF_PARAM_BOOL,
     .offset = AT(pin),
     .def = "false",
     .doc = "Pin threads to cores if there are enough and the run is one process"},
    {.name = "batch",
     .type = WF_PARAM_COUNT,
     .offset = AT(batch),
     .def = "64",
     .min = "1",
     .max = "1000000",
     .doc = "Optimistic: events between two looks at the incoming queue"},
    {.name = "gvt_interval",
     .type = WF_PARAM_COUNT,
     .offset = AT(gvt_interval),
     .def = "0",
     .max = "1000000",
     .doc = "Optimistic: batches between two GVT rounds; 0 adapts it to what rounds cost"},
    {.name = "lps_per_kp",
     .type = WF_PARAM_COUNT,
     .offset = AT(lps_per_kp),
     .def = "1",
     .min = "1",
     .max = "2048",
     .doc = "Optimistic: processes that roll back together, rounded up to a power of two"},
    {.name = "leash",
     .type = WF_PARAM_TIME,
     .offset = AT(leash),
     .def = "0",
     .doc =
         "Optimistic: how far past GVT to run in virtual time; 0 adapts it to the rollbacks"},
    {.name = "memory",
     .type = WF_PARAM_SIZE,
     .offset = AT(memory),
     .def = "256MiB",
     .min = "4KiB",
     .max = "1TiB",
     .doc = "Optimistic: undo log of a thread, beyond which it is throttled"},
    {.name = "perturb_seed",
     .type = WF_PARAM_COUNT,
     .offset = AT(perturb_seed),
     .def = "1",
     .doc = "Perturb: seed of the injected rollbacks, delays and reorderings"},
    WF_PARAM_END,
};
