/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A registry: the entries that weft was built with, and after them those of plug-ins
 * (ui/plugin/plugin.h), which come while the process starts, before anything asks. From then on a
 * registry does not change, so that it may be read from any thread.
 *
 * An entry is a struct whose first member is `const char *name`.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct wf_registry {
    const char *kind;        /* for messages: "topology" */
    const void *const *own;  /* null-terminated */
    const void *const *with; /* the same and those of plug-ins; null: there are none */
    /* Whether two entries of one name may not both be there; null: no two may. */
    bool (*collide)(const void *one, const void *other);
};

/* For a static null-terminated array of pointers to entries; other members may follow. */
#define WF_REGISTRY(kind_, table, ...)                                    \
    {                                                                     \
        .kind = (kind_), .own = (const void *const *)(table), __VA_ARGS__ \
    }

/* All entries, null-terminated. */
static inline const void *const *wf_registry_entries(const struct wf_registry *registry)
{
    return registry->with != NULL ? registry->with : registry->own;
}

/* Adds an entry, which must live as long as the process. A name that is there already is
 * WF_EINVAL. */
enum wf_status wf_registry_add(struct wf_registry *registry, const void *entry,
                               struct wf_err *err);

/* Removes the entry that was added last; for plug-ins that turn out to be wrong. */
void wf_registry_drop(struct wf_registry *registry);
