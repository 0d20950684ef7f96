/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Finding something by its name in a table, with an error that proposes the nearest name:
 * "unknown topology 'tours'; did you mean 'torus'?" `what` is the noun of that message.
 *
 * A name that is not there sets *err to WF_EUSAGE; `err` may be null. The time is proportional
 * to the length of the table.
 */

#include "base/status.h"

#include <stddef.h>

/* The entry with this name of a null-terminated table of pointers to structs whose first
 * member is `const char *name`; null if there is none. */
const void *wf_lookup(const char *what, const char *name, const void *table,
                      struct wf_err *err);

/* The same for an array of such structs of `size` bytes each, which ends with a null name. */
const void *wf_lookup_row(const char *what, const char *name, const void *rows, size_t size,
                          struct wf_err *err);

/*
 * Finding without an error: in `n` structs of `size` bytes whose first member is their name, or in
 * `n` names. The row, or null; its index, or `n`.
 */
const void *wf_lookup_among(const void *rows, size_t n, size_t size, const char *name);
size_t wf_lookup_index(const void *rows, size_t n, size_t size, const char *name);

#define WF_LOOKUP_AMONG(rows, n, name) wf_lookup_among((rows), (n), sizeof(*(rows)), (name))
#define WF_LOOKUP_INDEX(rows, n, name) wf_lookup_index((rows), (n), sizeof(*(rows)), (name))
