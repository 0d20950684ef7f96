/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The statistics of a run. The digest, the numbers of committed and dropped events and the final
 * time depend on the model only; everything else depends on the host and the schedule.
 */

#include <stdbool.h>
#include <stdint.h>

/* Why a run has fewer threads than were asked for. */
enum wf_run_fit {
    WF_RUN_AS_ASKED,
    WF_RUN_TOO_SMALL,    /* the model is, for more threads */
    WF_RUN_TOO_SPARSE,   /* windows have too few events for more threads */
    WF_RUN_CORES_TOO_FEW /* threads without a core hold the others up */
};

enum { WF_RUN_DEVICE_MAX = 96, WF_RUN_FORECASTS = 4 };

/* What the run would take on several threads (engine/core/forecast.h). */
struct wf_run_forecast {
    uint32_t threads;
    int partition;            /* enum wf_partition: the best one */
    uint64_t critical_events; /* of the busiest thread of each window, summed over windows */
    uint64_t remote_events;   /* scheduled by a process of another thread */
    double seconds;
};

struct wf_run {
    uint64_t digest;
    uint64_t events_committed;
    uint64_t events_dropped; /* scheduled at or after the end of the run; 0 if it has none */
    int64_t time;            /* of the last committed event */

    uint64_t events_rolled_back;
    uint64_t rollbacks;
    uint64_t anti_messages;
    uint64_t gvt_rounds;
    double gvt_seconds; /* summed over threads */
    uint64_t windows;
    uint64_t windows_alone; /* that one thread executed for all */
    uint64_t remote_events; /* scheduled for another thread or process */
    uint64_t memory_throttles;

    double wall_seconds;
    double cpu_seconds;             /* summed over processes, without set-up of the model */
    uint64_t peak_rss_bytes;        /* summed over processes */
    uint32_t threads;               /* that took part, per process */
    enum wf_run_fit fit;            /* why there are fewer threads than were asked for */
    uint32_t processes;             /* likewise */
    int partition;                  /* enum wf_partition: the one used */
    int exec;                       /* enum wf_exec: what executed the run; 0: events */
    char device[WF_RUN_DEVICE_MAX]; /* name of the GPU; empty: none */
    /* Of a run on one thread that was asked for forecasts; else 0 threads. */
    struct wf_run_forecast forecasts[WF_RUN_FORECASTS];
    double meeting_seconds; /* measured: what it takes two threads to meet once */
    /* Events committed by the least and the most loaded thread. */
    uint64_t thread_events_min, thread_events_max;
};

/* (1 - rolled back / committed) * 100, as TraceR defines it; 100 for an empty run. */
double wf_engine_efficiency_percent(const struct wf_run *run);
