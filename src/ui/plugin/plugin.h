/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Plug-ins: shared objects with topologies, routing policies, collective algorithms, generators,
 * trace formats or outputs of a user's own (weft/plugin.h). What they add stands in the registries
 * beside what weft has, and everything treats it alike.
 *
 * To be called while the process starts, by one thread, before anything is looked up.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Loads a plug-in and adds all that it has; nothing if it is loaded already. A file that is none, that
 * was compiled for another version, that crashes while it is loaded, or that has a name which is
 * taken, is WF_EINVAL, and adds nothing. */
enum wf_status wf_plugin_load(const char *path, struct wf_err *err);

/* Loads those of a list of paths with colons between them; null is allowed. */
enum wf_status wf_plugin_load_list(const char *paths, struct wf_err *err);

/* What plug-ins have added: number `i`, its kind ("topology") and name; null at the end. */
const char *wf_plugin_added(size_t i, const char **kind);

/* The path of plug-in number `i`; null at the end. May be called by signal handlers. */
const char *wf_plugin_path(size_t i);

/* In between, a crash in a thread of a guarded call (base/guard.h) is a failure of that call, WF_EINVAL with the
 * name of the plug-in, instead of the end of the process. False, and nothing to end, if no plug-in is
 * loaded. */
bool wf_plugin_watch_begin(void);
void wf_plugin_watch_end(void);
