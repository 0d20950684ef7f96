/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Everything that a scenario can consist of, with its parameters: for help, reference pages and
 * completion. Filled from the registry of each kind.
 */

#include "base/param.h"

#include <stdbool.h>

struct wf_catalog_entry {
    const char *kind;    /* "net" */
    const char *name;    /* "loggp"; null if the kind has no members ("engine") */
    const char *scope;   /* prefix of its parameters on the command line: "net" */
    const char *summary; /* one line */
    const char *args;    /* what follows the name in a spec ("<size>x..."); null for nothing */
    const struct wf_param *params; /* null for none */
    const char *limits; /* effects that a network model leaves out, for its users; or null */
};

/* The "engine.*" settings, over struct wf_plan: those of the engine, and who executes a model. */
extern const struct wf_param wf_executor_params[];

/* Steps through all entries, kind by kind. Start with *at = 0; returns false at the end. */
bool wf_catalog_next(size_t *at, struct wf_catalog_entry *entry);

/* Finds the entry of that kind and name (null or "" for a kind without members). False if there
 * is none. */
bool wf_catalog_find(const char *kind, const char *name, struct wf_catalog_entry *entry);

/* The heading for a kind: "Network models". */
const char *wf_catalog_title(const char *kind);
