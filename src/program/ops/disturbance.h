/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What the operating system did during a compute span, as counted while it was recorded. A
 * compute op holds it in 32 bits (member `disturbances`):
 *
 *     bits  0 to  7   involuntary context switches
 *     bits  8 to 23   page faults
 *     bits 24 to 31   the part of the recorded time, in 1/255 and rounded up, in which the rank
 *                     waited for a processor or the hypervisor ran something else
 *
 * Counts that do not fit are the largest that do. 0: the system did nothing that was counted,
 * or nothing was counted. The packing is part of the trace format.
 */

#include "base/os_watch.h"

#include <stdint.h>

enum { WF_DISTURBANCE_LOST_ALL = 255 }; /* `lost` of a rank that did not run at all */

struct wf_disturbance {
    uint32_t switches; /* up to 255 */
    uint32_t faults;   /* up to 65535 */
    uint32_t lost;     /* up to 255 */
};

static inline uint32_t wf_disturbance_pack(const struct wf_disturbance *d)
{
    uint32_t switches = d->switches < 255 ? d->switches : 255;
    uint32_t faults = d->faults < 65535 ? d->faults : 65535;
    uint32_t lost = d->lost < 255 ? d->lost : 255;

    return switches | faults << 8 | lost << 24;
}

static inline struct wf_disturbance wf_disturbance_unpack(uint32_t packed)
{
    return (struct wf_disturbance){packed & 255, packed >> 8 & 65535, packed >> 24};
}

/* Packs the counts of a span of `ns` nanoseconds, of which the rank did not run for
 * `idle_ns`. */
static inline uint32_t wf_disturbance_of(const struct wf_os_watch_counts *counts,
                                         int64_t idle_ns, int64_t ns)
{
    int64_t idle = idle_ns < ns ? idle_ns : ns;
    /* Shares of long spans are computed in microseconds, so that they do not overflow. */
    int64_t whole = ns / 1000 > 0 ? ns / 1000 : 1;
    int64_t lost = (idle / 1000 * WF_DISTURBANCE_LOST_ALL + whole - 1) / whole;
    const struct wf_disturbance found = {counts->switches, counts->faults, (uint32_t)lost};

    return wf_disturbance_pack(&found);
}

/* What happened during two spans that are recorded as one. */
static inline uint32_t wf_disturbance_join(uint32_t a, uint32_t b)
{
    const struct wf_disturbance x = wf_disturbance_unpack(a), y = wf_disturbance_unpack(b);
    const struct wf_disturbance both = {x.switches + y.switches, x.faults + y.faults,
                                        x.lost > y.lost ? x.lost : y.lost};

    return wf_disturbance_pack(&both);
}
