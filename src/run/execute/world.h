/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The operating-system processes that share a run: the part of engine/hosts/comm.h that programs
 * need. A null world is this process alone.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wf_comm;

enum wf_status wf_world_open(struct wf_comm **out, struct wf_err *err);
void wf_world_close(struct wf_comm *world);

/* Told, in one line, that a process has waited for another for long: see wf_comm_tell_waits(). With
 * `last`, it has waited for limit_s seconds, and should not go on. */
struct wf_world_listener {
    void (*tell)(void *arg, const char *text, bool last);
    void *arg;
    unsigned limit_s; /* 0: none */
};

/* Keeps the listener; null: nobody is told, and there is no limit. Of many processes only the first ones
 * tell before the last time. */
void wf_world_listen(struct wf_comm *world, struct wf_world_listener *listener);

uint32_t wf_world_size(const struct wf_comm *world);
/* The processes on this host, and the cores that each of them has; at least 1. */
uint32_t wf_world_local_size(const struct wf_comm *world);
uint32_t wf_world_local_cores(const struct wf_comm *world);
/* True in the one process that prints. */
bool wf_world_is_first(const struct wf_comm *world);

/* Gives every process the status and message of the first one. All processes must call it. */
enum wf_status wf_world_agree(struct wf_comm *world, enum wf_status status, struct wf_err *err);

/* Gives every process the error of the first process that has one; WF_OK if none has. All
 * processes must call it. */
enum wf_status wf_world_first_error(struct wf_comm *world, enum wf_status status,
                                    struct wf_err *err);

/* The smallest, the largest and the sum of the values of all processes, which all must call it. */
int64_t wf_world_min(struct wf_comm *world, int64_t value);
int64_t wf_world_max(struct wf_comm *world, int64_t value);
int64_t wf_world_sum(struct wf_comm *world, int64_t value);

/* As wf_comm_share() and wf_comm_collect(). */
void wf_world_share(struct wf_comm *world, void *bytes, size_t size);
void wf_world_collect(struct wf_comm *world, const void *bytes, size_t size,
                      void (*take)(void *arg, const void *bytes), void *arg);

/* The library that connects processes: "none" or the name of the MPI library. */
const char *wf_world_library(void);
