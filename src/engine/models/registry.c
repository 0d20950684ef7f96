/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/models/bench.h"

static const struct wf_bench_ops *const bench_table[] = {
#define WF_BENCH_MODEL(name) &wf_bench_##name##_ops,
#include "engine/models/models.def"
    NULL,
};

const struct wf_bench_ops *const *wf_bench_table(void)
{
    return bench_table;
}
