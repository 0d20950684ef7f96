/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What a run would take on several threads, counted while one thread executes it.
 *
 * In each window the threads wait for the one that has the most events. The sum of these numbers
 * over all windows is the critical path. An event that a process of another thread scheduled is
 * remote. Both are counted for powers of two of threads and for each kind of partition, and depend on
 * the model alone. An event costs eight increments, a window some hundred additions.
 */

#include "engine/config.h"
#include "engine/run.h"

struct wf_engine;

enum {
    WF_FORECAST_BITS = 6, /* of the largest number of threads */
    WF_FORECAST_PARTS = 1 << WF_FORECAST_BITS
};

/* The kinds of partitions: stretches with a share of each group, or stretches of 1, 8 and 32 in turn. */
enum {
    WF_FORECAST_BLOCK,
    WF_FORECAST_SPREAD,
    WF_FORECAST_SPREAD_8,
    WF_FORECAST_SPREAD_32,
    WF_FORECAST_KINDS
};

/* Counts for one kind. */
struct wf_forecast_part {
    uint32_t events[WF_FORECAST_PARTS]; /* of the window */
    /* Events by how far apart they and their source are: in blocks the number of low bits of the places up to
     * the highest that differs, otherwise the number of low bits that are the same. */
    uint64_t apart[WF_FORECAST_BITS + 1];
    /* [b] for 2^b threads. */
    uint64_t critical[WF_FORECAST_BITS + 1];
    uint64_t remote[WF_FORECAST_BITS + 1];
};

struct wf_forecast {
    uint8_t *place; /* by process: in which 64th of its group it is */
    uint64_t window, n_windows, n_events;
    struct wf_forecast_part parts[WF_FORECAST_KINDS];
};

/* The logarithm of the number of processes that stay side by side in this kind of spread partition. */
unsigned wf_forecast_stretch(int partition);

/* The caller frees the forecast with wf_forecast_free(). */
struct wf_forecast *wf_forecast_new(const struct wf_engine *engine);
void wf_forecast_free(struct wf_forecast *forecast); /* null is allowed */
/* Counts the events of the last window. To be called when the window ends. */
void wf_forecast_end_window(struct wf_forecast *forecast);

static const unsigned char wf_forecast_stretch_bits[WF_FORECAST_KINDS] = {
    [WF_FORECAST_SPREAD_8] = 3, [WF_FORECAST_SPREAD_32] = 5};

/* Counts an event of a process, scheduled by `src`. Windows come in ascending order. */
static inline void wf_forecast_count(struct wf_forecast *forecast, uint64_t window,
                                     uint32_t dst, uint32_t src)
{
    struct wf_forecast_part *parts = forecast->parts;
    unsigned high = forecast->place[dst] ^ forecast->place[src];

    if (window != forecast->window) {
        wf_forecast_end_window(forecast);
        forecast->window = window;
    }
    parts[WF_FORECAST_BLOCK].events[forecast->place[dst]]++;
    parts[WF_FORECAST_BLOCK].apart[high == 0 ? 0 : 32 - (unsigned)__builtin_clz(high)]++;
    for (unsigned kind = WF_FORECAST_SPREAD; kind < WF_FORECAST_KINDS; kind++) {
        unsigned stretch = wf_forecast_stretch_bits[kind];
        uint32_t low = ((dst ^ src) >> stretch) % WF_FORECAST_PARTS;
        parts[kind].events[(dst >> stretch) % WF_FORECAST_PARTS]++;
        parts[kind].apart[low == 0 ? WF_FORECAST_BITS : (unsigned)__builtin_ctz(low)]++;
    }
}

struct wf_forecast_choice {
    uint32_t threads;
    int partition; /* enum wf_partition */
};

/* The number of threads up to `max` that takes least by the counts, and its partition; one thread, if more
 * save little. `partition` is the one that the user wants, or WF_PARTITION_AUTO. */
struct wf_forecast_choice wf_forecast_choose(struct wf_forecast *forecast, uint32_t max,
                                             int partition, double event_seconds,
                                             double meeting_seconds);

/* What a window costs several threads beside its events, in seconds. */
double wf_forecast_window(uint32_t threads, double meeting_seconds);

/* The partition that takes least on so many threads. */
int wf_forecast_partition(struct wf_forecast *forecast, uint32_t threads);

/* Measures what it takes two threads to meet once; some milliseconds. */
double wf_forecast_meeting(void);

/* Writes what the report of the run needs. */
void wf_forecast_report(struct wf_forecast *forecast, double event_seconds, struct wf_run *run);
