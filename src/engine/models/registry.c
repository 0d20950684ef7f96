/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/models/bench.h"

/* The one place that lists bench models. */
static const struct wf_bench_ops *const bench_table[] = {
    &wf_phold_ops,
    &wf_queues_ops,
    &wf_ties_ops,
    NULL,
};

const struct wf_bench_ops *const *wf_bench_table(void)
{
    return bench_table;
}
