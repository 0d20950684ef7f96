/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lookup.h"

#include "base/text.h"

#include <string.h>

/* Both kinds of table are walked by address. `pointers` tells that an element is the address of
 * a struct instead of the struct. The first member of a struct is a pointer to its name. */
static const void *find_by_name(const char *what, const char *name, const void *table,
                                size_t size, int pointers, struct wf_err *err)
{
    struct wf_nearest nearest;
    char hint[WF_HINT_MAX];

    wf_nearest_begin(&nearest, name);
    for (const char *at = table;; at += size) {
        const void *entry = pointers ? *(const void *const *)(const void *)at : at;
        const char *known = entry != NULL ? *(const char *const *)entry : NULL;

        if (known == NULL) {
            (void)wf_err_set(err, WF_EUSAGE, "unknown %s '%.64s'%s", what, name,
                             wf_nearest_hint(&nearest, hint));
            return NULL;
        }
        if (strcmp(known, name) == 0) {
            return entry;
        }
        if (err != NULL) {
            wf_nearest_add(&nearest, known);
        }
    }
}

const void *wf_lookup(const char *what, const char *name, const void *table, struct wf_err *err)
{
    return find_by_name(what, name, table, sizeof(void *), 1, err);
}

const void *wf_lookup_row(const char *what, const char *name, const void *rows, size_t size,
                          struct wf_err *err)
{
    return find_by_name(what, name, rows, size, 0, err);
}

size_t wf_lookup_index(const void *rows, size_t n, size_t size, const char *name)
{
    size_t i = 0;

    while (i < n && strcmp(*(const char *const *)(const void *)((const char *)rows + i * size),
                           name) != 0) {
        i++;
    }
    return i;
}

const void *wf_lookup_among(const void *rows, size_t n, size_t size, const char *name)
{
    size_t i = wf_lookup_index(rows, n, size, name);

    return i < n ? (const char *)rows + i * size : NULL;
}
