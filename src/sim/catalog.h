/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * All that a scenario can be made of, with its parameters: for help, reference pages and
 * completion. Filled from the registries of each kind.
 */

#include "base/param.h"

#include <stdbool.h>

struct wf_catalog_entry {
    const char *kind;    /* "net" */
    const char *name;    /* "loggp"; null if the kind has no members ("engine") */
    const char *scope;   /* of its parameters on the command line: "net" */
    const char *summary; /* one line */
    const char *args;    /* what follows the name in a spec ("<size>x..."); null for nothing */
    const struct wf_param *params; /* null for none */
    const char *limits;            /* what a network model leaves out, for its users; or null */
};

/* Steps through all entries, those of a kind together: start with *at = 0; false at the end. */
bool wf_catalog_next(size_t *at, struct wf_catalog_entry *entry);

/* The entry of that kind and name (null or "" for a kind without members); false if none. */
bool wf_catalog_find(const char *kind, const char *name, struct wf_catalog_entry *entry);

/* What a kind is called in a heading: "Network models". */
const char *wf_catalog_title(const char *kind);
