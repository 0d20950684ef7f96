/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_ENGINE_CARGO_H
#define WF_ENGINE_CARGO_H

/*
 * What the operating-system processes of a run hand each other besides events, as with the data
 * of programs that run in it. It travels with the events: what is there for a process when an
 * event has been handled has arrived before anything is executed that this event causes. Only
 * careful processes may hand over something, since nothing of it is ever taken back.
 */

#include "base/buf.h"
#include "engine/engine.h"

struct wf_cargo {
    void *arg;
    /* Moves what is there for another process to the end of `out`. By one thread at a time,
     * while others may be handling events. */
    void (*load)(void *arg, uint32_t process, struct wf_buf *out);
    /* Takes what another process has loaded; likewise. The bytes are aligned to 8. */
    void (*unload)(void *arg, const unsigned char *bytes, size_t size);
    /* After the last event: makes the tally of a thread one that those of other processes can
     * be merged with. */
    void (*settle)(void *arg, void *tally);
};

/* Before the run. The engine keeps a copy. */
void wf_engine_cargo(struct wf_engine *engine, const struct wf_cargo *cargo);

/* The operating-system processes of the run, and which one this is. */
uint32_t wf_engine_n_processes(const struct wf_engine *engine);
uint32_t wf_engine_process(const struct wf_engine *engine);
/* During the run: the one that has a simulated process. */
uint32_t wf_engine_process_of(const struct wf_engine *engine, uint32_t id);

#endif
