/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Formats of files that the end of a name chooses: ".txt", ".json". */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the name ends in the extension and has something before it. */
bool wf_extension_is(const char *path, const char *extension);

/* A list of formats: the extension of number i; null after the last one. */
typedef const char *wf_extension_at(size_t i);

/* The number of the format of a file. WF_EUSAGE if there is none: "<what> '<path>': the name must
 * end in .txt or .json". */
enum wf_status wf_extension_find(wf_extension_at *at, const char *what, const char *path,
                                 size_t *out, struct wf_err *err);

/* ".txt, .json or .csv" in a buffer of WF_EXTENSION_LIST_MAX bytes, which it returns. */
enum { WF_EXTENSION_LIST_MAX = 160 };
const char *wf_extension_list(wf_extension_at *at, char *buf);
