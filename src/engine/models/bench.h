/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Models for testing and measuring the engine. They know nothing about networks.
 *
 * To add one: one .c file with a const struct wf_bench_ops, one line in models.def. The
 * equivalence tests and `weft bench` then include it.
 */

#include "base/param.h"
#include "engine/model.h"

struct wf_bench_ops {
    const char *name;
    const char *summary;
    const struct wf_param *params;
    size_t params_size;
    size_t end_offset; /* of the simulated end, an int64_t among the parameters */
    /* Adds the model's processes. `params` stays valid during the run. */
    enum wf_status (*build)(struct wf_engine *engine, void *params, struct wf_err *err);
};

#define WF_BENCH_MODEL(name) extern const struct wf_bench_ops wf_bench_##name##_ops;
#include "engine/models/models.def"

/* The registered models in a fixed order, null-terminated. */
const struct wf_bench_ops *const *wf_bench_table(void);
