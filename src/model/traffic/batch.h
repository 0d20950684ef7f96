/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What is counted of the messages of a batch. A run is divided into batches of equal length; all
 * counts are integers. Compiled for devices, too.
 */

#include <stdint.h>

enum {
    WF_TRAFFIC_BATCHES = 32,
    /* Latencies are counted in classes: 16 for each power of two, in picoseconds. */
    WF_TRAFFIC_CLASSES = 16 * 60,
};

struct wf_traffic_batch {
    uint64_t offered, dropped;             /* messages generated in this batch */
    uint64_t offered_bytes, dropped_bytes; /* likewise */
    uint64_t arrived, arrived_bytes;       /* messages that arrived in this batch */
    uint64_t latency_sum, latency_max;     /* picoseconds, of these messages */
    uint32_t classes[WF_TRAFFIC_CLASSES];  /* likewise, by latency */
};

/* The class of a latency. */
static inline uint32_t wf_traffic_class(uint64_t latency)
{
    if (latency < 16) {
        return (uint32_t)latency;
    }
    uint32_t power = 63 - (uint32_t)__builtin_clzll(latency); /* 4 or more */
    uint32_t at = (power - 3) * 16 + (uint32_t)(latency >> (power - 4) & 15);
    return at < WF_TRAFFIC_CLASSES ? at : WF_TRAFFIC_CLASSES - 1;
}
