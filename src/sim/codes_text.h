/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The text format of CODES configurations:
 *
 *   file    = { section }
 *   section = name "{" { section | entry } "}"
 *   entry   = name "=" ( string | "(" string { "," string } ")" ) [ ";" ]
 *
 * A string is in double quotes and has none inside; what follows a # outside of one is a
 * comment.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WF_CODES_BYTES_MAX = 1 << 20, WF_CODES_ENTRIES_MAX = 4096, WF_CODES_DEPTH_MAX = 8 };

struct wf_codes_entry {
    char *section; /* with those around it: "LPGROUPS/MODELNET_GRP" */
    char *key;
    char *value; /* of a list, its strings with commas between them */
    bool is_list;
    uint32_t line, column; /* of the key, from 1 */
};

struct wf_codes_text {
    struct wf_codes_entry *entries;
    size_t n;
};

/* On failure (WF_EINVAL, with `label:line:column:`) nothing is left to release. */
WF_NODISCARD
enum wf_status wf_codes_read(const char *label, const char *text, size_t size,
                             struct wf_codes_text *out, struct wf_err *err);
void wf_codes_fini(struct wf_codes_text *codes);

/* Null if there is none. */
struct wf_codes_entry *wf_codes_find(const struct wf_codes_text *codes, const char *section,
                                     const char *key);
