/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/capture/cost.h"

#include "mpi/capture/clock.h"

static struct {
    uint64_t n_calls, n_measured, measured_ns;
    uint64_t written_ns;
    uint64_t written_before; /* written_ns at the end of the last call */
} cost;

void wf_cap_cost_call(void)
{
    cost.n_calls++;
    cost.written_before = cost.written_ns;
}

/* A longer sample contains time in which the thread was off its processor. */
void wf_cap_cost_measured(uint64_t entering_ns, uint64_t begin, uint64_t end)
{
    uint64_t wrote = cost.written_ns - cost.written_before;
    uint64_t ns = end - begin > wrote ? end - begin - wrote : 0;

    if (entering_ns < WF_CLOCK_LONG && ns < WF_CLOCK_LONG) {
        cost.n_measured++;
        cost.measured_ns += entering_ns + ns;
    }
}

void wf_cap_cost_wrote(uint64_t ns)
{
    cost.written_ns += ns;
}

uint64_t wf_cap_cost_total(void)
{
    if (cost.n_measured == 0) {
        return 0;
    }
    return (uint64_t)((double)cost.measured_ns / (double)cost.n_measured *
                      (double)cost.n_calls) +
           cost.written_ns;
}
