/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The text format of CODES configurations:
 *
 *   file    = { section }
 *   section = name "{" { section | entry } "}"
 *   entry   = name "=" ( string | "(" string { "," string } ")" ) [ ";" ]
 *
 * A string is enclosed in double quotes and contains none. A comment begins with a # outside of
 * a string and extends to the end of the line.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WF_CODES_BYTES_MAX = 1 << 20, WF_CODES_ENTRIES_MAX = 4096, WF_CODES_DEPTH_MAX = 8 };

struct wf_codes_entry {
    char *section; /* path with the sections around it: "LPGROUPS/MODELNET_GRP" */
    char *key;
    char *value; /* the strings of a list are separated by commas */
    bool is_list;
    uint32_t line, column; /* position of the key, from 1 */
};

struct wf_codes_text {
    struct wf_codes_entry *entries;
    size_t n;
};

/* Whether a text is a configuration and not a machine file: it begins with the name of a section
 * and a brace. */
bool wf_codes_is(const char *text, size_t size);

/* Reads a configuration. On failure (WF_EINVAL, the message begins with `label:line:column:`)
 * nothing is left to release. */
enum wf_status wf_codes_read(const char *label, const char *text, size_t size,
                             struct wf_codes_text *out, struct wf_err *err);
void wf_codes_fini(struct wf_codes_text *codes);

/* The entry with this section and key; null if there is none. */
struct wf_codes_entry *wf_codes_find(const struct wf_codes_text *codes, const char *section,
                                     const char *key);
