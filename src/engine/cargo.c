/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cargo.h"

#include "engine/internal.h"

void wf_engine_cargo(struct wf_engine *engine, const struct wf_cargo *cargo)
{
    engine->cargo = *cargo;
}

uint32_t wf_engine_n_processes(const struct wf_engine *engine)
{
    return engine->n_processes;
}

uint32_t wf_engine_process(const struct wf_engine *engine)
{
    return engine->process;
}

uint32_t wf_engine_process_of(const struct wf_engine *engine, uint32_t id)
{
    return wf_engine_owner(engine, id) / engine->n_threads;
}
