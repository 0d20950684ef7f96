/* SPDX-License-Identifier: Apache-2.0 */
#include "program/trace/otf2/devices.h"

#include "base/array.h"
#include "base/units.h"

#include <stdlib.h>

/* Kernels or copies begin or end to run on a stream. */
struct wf_otf2_change {
    uint64_t time;
    bool is_copy, begins;
};

void wf_otf2_devices_fini(struct wf_otf2_devices *devices)
{
    free(devices->changes);
    *devices = (struct wf_otf2_devices){.n = 0};
}

void wf_otf2_devices_begin(struct wf_otf2_devices *devices)
{
    *devices =
        (struct wf_otf2_devices){.changes = devices->changes, .capacity = devices->capacity};
}

/* ---- streams ---- */

static void add_change(struct wf_otf2_devices *devices, bool is_copy, bool begins)
{
    WF_PUSH(
        devices->changes, devices->n, devices->capacity,
        (struct wf_otf2_change){.time = devices->time, .is_copy = is_copy, .begins = begins});
}

static bool copies(const struct wf_otf2_devices *devices)
{
    return devices->open_copies + devices->open_transfers > 0;
}

static void enter(struct wf_otf2_devices *devices, enum wf_otf2_work work)
{
    if (work == WF_OTF2_KERNEL) {
        devices->n_kernels++;
        if (devices->open_kernels++ == 0) {
            add_change(devices, false, true);
        }
    } else if (work == WF_OTF2_COPY) {
        devices->n_copies++;
        if (!copies(devices)) {
            add_change(devices, true, true);
        }
        devices->open_copies++;
    }
}

/* What is left without having been entered is passed over. */
static void leave(struct wf_otf2_devices *devices, enum wf_otf2_work work)
{
    if (work == WF_OTF2_KERNEL && devices->open_kernels > 0) {
        if (--devices->open_kernels == 0) {
            add_change(devices, false, false);
        }
    } else if (work == WF_OTF2_COPY && devices->open_copies > 0) {
        devices->open_copies--;
        if (!copies(devices)) {
            add_change(devices, true, false);
        }
    }
}

/* A one-sided operation within a region that is a copy belongs to it. */
static void begin_transfer(struct wf_otf2_devices *devices, uint64_t bytes)
{
    devices->n_copies += devices->open_copies == 0 ? 1 : 0;
    devices->n_bytes = wf_count_add(devices->n_bytes, bytes);
    if (!copies(devices)) {
        add_change(devices, true, true);
    }
    devices->open_transfers++;
}

static void end_transfer(struct wf_otf2_devices *devices)
{
    if (devices->open_transfers > 0) {
        devices->open_transfers--;
        if (!copies(devices)) {
            add_change(devices, true, false);
        }
    }
}

void wf_otf2_devices_add(struct wf_otf2_devices *devices, const struct wf_otf2_event *event,
                         const struct wf_otf2_region *region)
{
    devices->time = event->time > devices->time ? event->time : devices->time;
    if (event->kind == WF_OTF2_ENTER && region != NULL) {
        enter(devices, region->work);
    } else if (event->kind == WF_OTF2_LEAVE && region != NULL) {
        leave(devices, region->work);
    } else if (event->kind == WF_OTF2_RMA_PUT || event->kind == WF_OTF2_RMA_GET) {
        begin_transfer(devices, event->bytes);
    } else if (event->kind == WF_OTF2_RMA_COMPLETE) {
        end_transfer(devices);
    }
}

void wf_otf2_devices_stream_ends(struct wf_otf2_devices *devices)
{
    if (devices->open_kernels > 0) {
        add_change(devices, false, false);
    }
    if (copies(devices)) {
        add_change(devices, true, false);
    }
    devices->time = 0;
    devices->open_kernels = 0;
    devices->open_copies = 0;
    devices->open_transfers = 0;
}

/* ---- all streams together ---- */

/* Changes at the same time may come in any order: no time passes between them. */
static int by_time(const void *a, const void *b)
{
    const struct wf_otf2_change *x = a, *y = b;

    return WF_ORDER(x->time, y->time);
}

void wf_otf2_devices_finish(struct wf_otf2_devices *devices)
{
    WF_SORT(devices->changes, devices->n, by_time);
}

/* Lets time pass in which nothing begins or ends. */
static void pass(struct wf_otf2_devices *devices, uint64_t until)
{
    uint64_t ticks = until > devices->now ? until - devices->now : 0;
    bool kernels = devices->running_kernels > 0, copy = devices->running_copies > 0;

    devices->busy.both += kernels && copy ? ticks : 0;
    devices->busy.kernels += kernels && !copy ? ticks : 0;
    devices->busy.copies += copy && !kernels ? ticks : 0;
    devices->now += ticks;
}

struct wf_otf2_busy wf_otf2_devices_at(struct wf_otf2_devices *devices, uint64_t time)
{
    while (devices->next < devices->n && devices->changes[devices->next].time <= time) {
        const struct wf_otf2_change *change = &devices->changes[devices->next++];
        int32_t *running =
            change->is_copy ? &devices->running_copies : &devices->running_kernels;
        pass(devices, change->time);
        *running += change->begins ? 1 : -1;
    }
    pass(devices, time);
    return devices->busy;
}
