/* SPDX-License-Identifier: Apache-2.0 */
#include "run/execute/world.h"

#include "engine/hosts/comm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TELLING = 16, WAIT_TEXT_MAX = 512 }; /* processes that tell; bytes */

enum wf_status wf_world_open(struct wf_comm **out, struct wf_err *err)
{
    return wf_comm_open(out, err);
}

void wf_world_close(struct wf_comm *world)
{
    wf_comm_close(world);
}

static void tell_wait(void *arg, const struct wf_comm_wait *wait)
{
    const struct wf_world_listener *listener = arg;
    char who[WAIT_TEXT_MAX / 2] = "the other processes", text[WAIT_TEXT_MAX];

    bool last = listener->limit_s > 0 && wait->seconds >= listener->limit_s;

    if (wait->process >= TELLING && !last) {
        return;
    }
    if (wait->host != NULL) {
        (void)snprintf(who, sizeof(who), "process %" PRIu32 " on %s", wait->from, wait->host);
    }
    (void)snprintf(text, sizeof(text), "process %" PRIu32 " has waited %u s for %s%s",
                   wait->process, wait->seconds, who,
                   last ? " and ends: that seems to be gone or out of reach (the environment "
                          "variable WEFT_WAIT sets these seconds, 0: no end)"
                        : "; if that is gone or cannot be reached, interrupt the run");
    listener->tell(listener->arg, text, last);
}

void wf_world_listen(struct wf_comm *world, struct wf_world_listener *listener)
{
    if (listener == NULL) {
        wf_comm_tell_waits(world, 0, NULL, NULL);
    } else {
        wf_comm_tell_waits(world, listener->limit_s, tell_wait, listener);
    }
}

uint32_t wf_world_size(const struct wf_comm *world)
{
    return wf_comm_size(world);
}

uint32_t wf_world_local_size(const struct wf_comm *world)
{
    return wf_comm_local_size(world);
}

uint32_t wf_world_local_cores(const struct wf_comm *world)
{
    return wf_comm_local_cores(world);
}

bool wf_world_is_first(const struct wf_comm *world)
{
    return wf_comm_rank(world) == 0;
}

enum wf_status wf_world_agree(struct wf_comm *world, enum wf_status status, struct wf_err *err)
{
    if (wf_comm_size(world) == 1) {
        return status;
    }
    if (status == WF_OK) {
        *err = (struct wf_err){.status = WF_OK};
    }
    wf_comm_share(world, err, sizeof(*err));
    return err->status;
}

/* Keeps the first error that processes report. */
static void keep_first(void *arg, const void *bytes)
{
    struct wf_err *first = arg;

    if (first->status == WF_OK) {
        memcpy(first, bytes, sizeof(*first));
    }
}

enum wf_status wf_world_first_error(struct wf_comm *world, enum wf_status status,
                                    struct wf_err *err)
{
    struct wf_err found = {.status = WF_OK};

    if (status != WF_OK) {
        found = *err;
    }
    if (wf_comm_size(world) > 1) {
        wf_comm_collect(world, &found, sizeof(found), keep_first, &found);
        wf_comm_share(world, &found, sizeof(found));
    }
    if (found.status != WF_OK) {
        *err = found;
    }
    return found.status;
}

void wf_world_share(struct wf_comm *world, void *bytes, size_t size)
{
    if (wf_comm_size(world) > 1) {
        wf_comm_share(world, bytes, size);
    }
}

void wf_world_collect(struct wf_comm *world, const void *bytes, size_t size,
                      void (*take)(void *arg, const void *bytes), void *arg)
{
    if (wf_comm_size(world) > 1) {
        wf_comm_collect(world, bytes, size, take, arg);
    }
}

static int64_t combine(struct wf_comm *world, enum wf_comm_op op, int64_t value)
{
    if (wf_comm_size(world) > 1) {
        wf_comm_reduce(world, op, &value, 1);
    }
    return value;
}

int64_t wf_world_min(struct wf_comm *world, int64_t value)
{
    return combine(world, WF_COMM_MIN, value);
}

int64_t wf_world_max(struct wf_comm *world, int64_t value)
{
    return combine(world, WF_COMM_MAX, value);
}

int64_t wf_world_sum(struct wf_comm *world, int64_t value)
{
    return combine(world, WF_COMM_SUM, value);
}

const char *wf_world_library(void)
{
    return wf_comm_library();
}
