/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/core/forecast.h"

#include "base/clock.h"
#include "base/guard.h"
#include "base/mem.h"
#include "engine/core/internal.h"

#include <pthread.h>
#include <stdlib.h>

static const double nano = 1e-9;

static const int partitions[WF_FORECAST_KINDS] = {
    [WF_FORECAST_BLOCK] = WF_PARTITION_BLOCK,
    [WF_FORECAST_SPREAD] = WF_PARTITION_SPREAD,
    [WF_FORECAST_SPREAD_8] = WF_PARTITION_SPREAD_8,
    [WF_FORECAST_SPREAD_32] = WF_PARTITION_SPREAD_32,
};

/* The kind that is counted for a partition; CYCLIC is judged like BLOCK. */
static unsigned kind_of(int partition)
{
    unsigned kind = WF_FORECAST_KINDS - 1;

    while (kind > WF_FORECAST_BLOCK && partitions[kind] != partition) {
        kind--;
    }
    return kind;
}

unsigned wf_forecast_stretch(int partition)
{
    return wf_forecast_stretch_bits[kind_of(partition)];
}

struct wf_forecast *wf_forecast_new(const struct wf_engine *engine)
{
    struct wf_forecast *forecast = wf_xcalloc(1, sizeof(*forecast));

    forecast->place = wf_xcalloc(engine->next_id, 1);
    for (uint32_t g = 0; g < engine->n_groups; g++) {
        const struct wf_process_group *group = &engine->groups[g];
        for (uint32_t i = 0; i < group->count; i++) {
            forecast->place[group->first + i] =
                (uint8_t)((uint64_t)i * WF_FORECAST_PARTS / group->count);
        }
    }
    return forecast;
}

void wf_forecast_free(struct wf_forecast *forecast)
{
    if (forecast != NULL) {
        free(forecast->place);
        free(forecast);
    }
}

static uint32_t most_of(const uint32_t *counts, uint32_t n)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < n; i++) {
        most = counts[i] > most ? counts[i] : most;
    }
    return most;
}

/* Neighbours become one part with `by_neighbours`; otherwise those half of all parts away. */
static void halve(uint32_t *counts, size_t n, bool by_neighbours)
{
    for (size_t i = 0; i < n / 2; i++) {
        counts[i] =
            by_neighbours ? counts[2 * i] + counts[2 * i + 1] : counts[i] + counts[i + n / 2];
    }
}

static void end_part(struct wf_forecast_part *part, bool by_neighbours)
{
    uint32_t *counts = part->events;

    for (unsigned bits = WF_FORECAST_BITS;; bits--) {
        part->critical[bits] += most_of(counts, UINT32_C(1) << bits);
        if (bits == 0) {
            break;
        }
        halve(counts, UINT32_C(1) << bits, by_neighbours);
    }
    memset(counts, 0, sizeof(part->events));
    for (unsigned bits = 0; bits <= WF_FORECAST_BITS; bits++) {
        part->remote[bits] = 0;
        for (unsigned same = 0; same < bits; same++) {
            part->remote[bits] += part->apart[by_neighbours ? WF_FORECAST_BITS - same : same];
        }
    }
}

void wf_forecast_end_window(struct wf_forecast *forecast)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < WF_FORECAST_PARTS; i++) {
        before += forecast->parts[WF_FORECAST_BLOCK].events[i];
    }
    if (before == 0) {
        return;
    }
    forecast->n_windows++;
    forecast->n_events += before;
    for (unsigned kind = 0; kind < WF_FORECAST_KINDS; kind++) {
        end_part(&forecast->parts[kind], kind == WF_FORECAST_BLOCK);
    }
}

/* What the busiest thread of each window does on 2^bits threads, in events: it executes them, and
 * hands over its share of the remote ones. */
static double work_of(const struct wf_forecast *forecast, unsigned part, unsigned bits)
{
    const struct wf_forecast_part *counts = &forecast->parts[part];
    double threads = (double)(UINT32_C(1) << bits);

    return (double)counts->critical[bits] +
           (double)counts->remote[bits] / threads / WF_TUNE_MESSAGE_SHARE;
}

/* ---- the cost of a synchronisation ---- */

enum { MEETINGS = 128, TRIES = 8 };

static void *meet(void *barrier)
{
    for (uint32_t i = 0; i < MEETINGS; i++) {
        wf_barrier_wait(barrier);
    }
    return NULL;
}

/* A usual value if there is one core. The least of several tries: other programs may use the cores
 * meanwhile. */
double wf_forecast_meeting(void)
{
    double least = WF_TUNE_MEETING_NS * nano;
    bool known = false;

    for (uint32_t i = 0; i < TRIES && wf_clock_cores() > 1; i++) {
        struct wf_barrier barrier;
        pthread_t other;
        wf_barrier_init(&barrier, 2, 2);
        if (wf_thread_start(&other, meet, &barrier) != 0) {
            return least;
        }
        wf_barrier_wait(&barrier); /* it has started */
        double begun = wf_clock_wall();
        for (uint32_t n = 1; n < MEETINGS; n++) {
            wf_barrier_wait(&barrier);
        }
        double each = (wf_clock_wall() - begun) / (MEETINGS - 1);
        wf_thread_join(other);
        least = !known || each < least ? each : least;
        known = true;
    }
    return least;
}

/* ---- choosing ---- */

/* The work of the busiest of any number of threads: between two powers of two it falls like that of the lower
 * one does with the number of threads. */
static double work_on(const struct wf_forecast *forecast, unsigned part, uint32_t threads)
{
    unsigned bits = 31 - (unsigned)__builtin_clz(threads);

    bits = bits < WF_FORECAST_BITS ? bits : WF_FORECAST_BITS;
    return work_of(forecast, part, bits) * (double)(UINT32_C(1) << bits) / (double)threads;
}

/* The kind with the least work; with a partition that the user wants, that one. */
static unsigned best_of(const struct wf_forecast *forecast, uint32_t threads, int partition)
{
    unsigned best = kind_of(partition);

    for (unsigned kind = 0; partition == WF_PARTITION_AUTO && kind < WF_FORECAST_KINDS;
         kind++) {
        if (work_on(forecast, kind, threads) < work_on(forecast, best, threads)) {
            best = kind;
        }
    }
    return best;
}

int wf_forecast_partition(struct wf_forecast *forecast, uint32_t threads)
{
    wf_forecast_end_window(forecast);
    return partitions[best_of(forecast, threads, WF_PARTITION_AUTO)];
}

double wf_forecast_window(uint32_t threads, double meeting_seconds)
{
    return (double)threads / 2 * meeting_seconds + WF_TUNE_TRIAL_WINDOW_NS * nano;
}

struct wf_forecast_choice wf_forecast_choose(struct wf_forecast *forecast, uint32_t max,
                                             int partition, double event_seconds,
                                             double meeting_seconds)
{
    wf_forecast_end_window(forecast);

    struct wf_forecast_choice best = {1, WF_PARTITION_BLOCK};
    double least =
        (double)forecast->n_events * event_seconds * (100 - WF_TUNE_TRIAL_GAIN) / 100;

    for (uint64_t next = 2; max > 1; next *= 2) {
        uint32_t n = next < max ? (uint32_t)next : max;
        unsigned kind = best_of(forecast, n, partition);
        double seconds = work_on(forecast, kind, n) * event_seconds +
                         (double)forecast->n_windows * wf_forecast_window(n, meeting_seconds);
        if (seconds < least) {
            least = seconds;
            best.threads = n;
            best.partition = partition != WF_PARTITION_AUTO ? partition : partitions[kind];
        }
        if (n == max) {
            break;
        }
    }
    return best;
}

/* When threads meet, each reads a line of memory of each other: the time grows with their number. */
static struct wf_run_forecast forecast_of(const struct wf_forecast *forecast, unsigned bits,
                                          double event_seconds, double meeting_seconds)
{
    unsigned kind = best_of(forecast, UINT32_C(1) << bits, WF_PARTITION_AUTO);

    return (struct wf_run_forecast){
        .threads = UINT32_C(1) << bits,
        .partition = partitions[kind],
        .critical_events = forecast->parts[kind].critical[bits],
        .remote_events = forecast->parts[kind].remote[bits],
        .seconds = work_of(forecast, kind, bits) * event_seconds +
                   (double)forecast->n_windows * (UINT32_C(1) << (bits - 1)) * meeting_seconds,
    };
}

void wf_forecast_report(struct wf_forecast *forecast, double event_seconds, struct wf_run *run)
{
    static const unsigned bits[WF_RUN_FORECASTS] = {1, 2, 4, 6};

    wf_forecast_end_window(forecast);
    run->meeting_seconds = wf_forecast_meeting();
    for (unsigned i = 0; i < WF_RUN_FORECASTS; i++) {
        run->forecasts[i] = forecast_of(forecast, bits[i], event_seconds, run->meeting_seconds);
    }
}
