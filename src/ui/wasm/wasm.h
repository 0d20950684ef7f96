/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The simulator as a WebAssembly module, for pages that run it in a browser. Not part of the
 * program: cmake/WeftLive.cmake compiles this folder and the modules below it for wasm32-wasi.
 * share/report/0-simulator.js is the other side.
 *
 * The page writes a request into memory that wf_wasm_room() reserves, calls one of the others, and
 * reads the answer, a JSON text that ends with a NUL and is valid until the next call. A run that
 * must end, for lack of memory or because of a mistake in weft, calls exit(): the page then
 * shows what was written to stderr, and starts another instance of the module.
 */

#include <stddef.h>
#include <stdint.h>

/* The name by which the page calls a function. */
#ifdef __wasm__
#define WF_WASM_EXPORT(name) __attribute__((export_name(name)))
#else
#define WF_WASM_EXPORT(name)
#endif

/* Memory for a request of `size` bytes, valid until the next call. */
WF_WASM_EXPORT("room")
char *wf_wasm_room(uint32_t size);

/* What a run does besides predicting a time. */
enum { WF_WASM_RECORDS = 1, WF_WASM_WHAT_IF = 2 };

/* Runs a scenario. The request is a list of settings, and for each six texts that end with a NUL:
 * key, value, origin, place, model, and "1" if it belongs to the topology of its file; texts
 * may be empty. `path_bytes` is the memory for the critical path, which is taken at once. The answer
 * has `code` (an exit code), `error`, `document` and `extra`, of which the last two may be
 * missing. */
WF_WASM_EXPORT("run")
const char *wf_wasm_run(uint32_t size, uint32_t flags, uint32_t record_limit,
                        uint32_t path_bytes);

/* Everything that a scenario can consist of (run/scenario/catalog.h). */
WF_WASM_EXPORT("catalog")
const char *wf_wasm_catalog(void);

/* The version of weft, not JSON. */
WF_WASM_EXPORT("version")
const char *wf_wasm_version(void);
