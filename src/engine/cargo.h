/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Cargo: data that travels between operating-system processes besides events, for example the
 * messages of real programs that run as simulated processes. Cargo that is ready when an event
 * has been handled arrives before the events that this event schedules are executed. Only
 * careful processes may send cargo, because it is never cancelled.
 */

#include "base/buf.h"
#include "engine/model.h"

struct wf_cargo {
    void *arg;
    /* Moves the data for another process to the end of `out`. One thread at a time calls it,
     * while others may be handling events. */
    void (*load)(void *arg, uint32_t process, struct wf_buf *out);
    /* Receives the data of another process; likewise. The bytes are aligned to 8. */
    void (*unload)(void *arg, const unsigned char *bytes, size_t size);
    /* After the last event: prepares the tally of a thread for merging with those of other
     * processes. */
    void (*settle)(void *arg, void *tally);
};

/* To be called before the run. The engine keeps a copy. */
void wf_engine_cargo(struct wf_engine *engine, const struct wf_cargo *cargo);

/* The operating-system processes of the run, and which one this is. */
uint32_t wf_engine_n_processes(const struct wf_engine *engine);
uint32_t wf_engine_process(const struct wf_engine *engine);
/* During the run: the operating-system process that has a simulated process. */
uint32_t wf_engine_process_of(const struct wf_engine *engine, uint32_t id);
