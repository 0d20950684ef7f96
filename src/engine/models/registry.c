/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/models/bench.h"

/* The one place that lists bench models. */
static const struct wf_bench_ops *const bench_table[] = {
    &wf_bench_phold_ops,
    &wf_bench_queues_ops,
    &wf_bench_ties_ops,
    NULL,
};

const struct wf_bench_ops *const *wf_bench_table(void)
{
    return bench_table;
}
