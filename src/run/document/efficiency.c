/* SPDX-License-Identifier: Apache-2.0 */
#include "run/document/efficiency.h"

#include "base/result/doc.h"

enum { PERCENT_DECIMALS = 3 };

static double ratio(int64_t a, int64_t b)
{
    return b > 0 ? (double)a / (double)b : 1;
}

struct wf_efficiency wf_efficiency(const struct wf_efficiency_times *times)
{
    return (struct wf_efficiency){
        .load_balance = ratio(times->mean_compute, times->max_compute),
        .serialisation = ratio(times->max_compute, times->ideal_time),
        .transfer = ratio(times->ideal_time, times->time),
        .parallel = ratio(times->mean_compute, times->time),
    };
}

void wf_efficiency_describe(struct wf_value *parent, const struct wf_efficiency_times *times)
{
    struct wf_value *section = wf_doc_section(parent, "efficiency");
    const struct wf_efficiency e = wf_efficiency(times);

    wf_doc_count(section, "ideal_time_ps", (uint64_t)times->ideal_time);
    if (times->free_network_time >= 0) {
        wf_doc_count(section, "free_network_ps", (uint64_t)times->free_network_time);
    }
    wf_doc_measured(section, "load_balance_percent", 100 * e.load_balance, PERCENT_DECIMALS);
    wf_doc_measured(section, "serialisation_percent", 100 * e.serialisation, PERCENT_DECIMALS);
    wf_doc_measured(section, "transfer_percent", 100 * e.transfer, PERCENT_DECIMALS);
    wf_doc_measured(section, "parallel_percent", 100 * e.parallel, PERCENT_DECIMALS);
}
