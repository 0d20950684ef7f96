/* SPDX-License-Identifier: Apache-2.0 */
#include "base/registry.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static const char *name_of(const void *entry)
{
    const char *name;

    memcpy(&name, entry, sizeof(name));
    return name;
}

enum wf_status wf_registry_add(struct wf_registry *registry, const void *entry,
                               struct wf_err *err)
{
    const void *const *before = wf_registry_entries(registry);
    size_t n = 0;

    for (; before[n] != NULL; n++) {
        if (strcmp(name_of(before[n]), name_of(entry)) == 0 &&
            (registry->collide == NULL || registry->collide(before[n], entry))) {
            return wf_err_set(err, WF_EINVAL, "there is a %s called '%.64s' already",
                              registry->kind, name_of(entry));
        }
    }
    /* The array that this replaces stays, as it may be in use; the new one ends with its address. */
    const void **with = wf_xcalloc(n + 3, sizeof(*with));
    memcpy(with, before, n * sizeof(*with));
    with[n] = entry;
    with[n + 2] = registry->with;
    registry->with = with;
    return WF_OK;
}

void wf_registry_drop(struct wf_registry *registry)
{
    const void *const *with = registry->with;
    size_t n = 0;

    while (with[n] != NULL) {
        n++;
    }
    registry->with = with[n + 1];
    free(wf_unconst(with));
}
