/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/config.h"

#include <stddef.h>

const char *const wf_scheduler_names[] = {
    "sequential", "conservative", "optimistic", "check-undo", "perturb", "auto", NULL,
};

const char *const wf_engine_partition_names[] = {"block",    "cyclic", "spread", "spread8",
                                                 "spread32", "auto",   NULL};

const struct wf_param wf_engine_params[] = {
#define WF_ENGINE_PARAM(name_, member, kind, ...)         \
    {.name = (name_),                                     \
     .type = WF_PARAM_##kind,                             \
     .offset = offsetof(struct wf_engine_config, member), \
     __VA_ARGS__},
#include "engine/params.def"
#undef WF_ENGINE_PARAM
    WF_PARAM_END,
};
