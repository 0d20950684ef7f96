/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The anchor file and the global definitions of an OTF2 archive, checked before the library
 * reads them. The library believes the number of items that a record has: it asks for as much
 * memory (16 GiB for a group that was damaged in one byte) and reads so many, beyond the end of
 * the record and of its buffer. So every record is checked to be as long as its number of items
 * needs; anything else that is wrong with it is left to the library.
 *
 * The first failure is kept in `err`; after it nothing is checked. Archives that are compressed
 * or have several locations in a file cannot be checked, and are refused.
 */

#include "program/trace/otf2/defs.h"

#include <stddef.h>

#define WF_OTF2_MAGIC "OTF2" /* after two bytes */

/* What the anchor file says of the others. */
struct wf_otf2_layout {
    unsigned version; /* of the format */
    bool is_plain;    /* a file for each location, not compressed */
    uint64_t event_chunk, definition_chunk;
};

/* Whether a file that begins so is an anchor file. */
bool wf_otf2_is_anchor(const unsigned char *bytes, size_t n);

/* The anchor file itself. */
void wf_otf2_check_anchor(const char *path, struct wf_otf2_layout *layout, struct wf_err *err);

/* The definitions of all ranks. */
void wf_otf2_check_definitions(const char *anchor, const struct wf_otf2_layout *layout,
                               struct wf_err *err);

/* Gives a whole anchor file this number of its archive, which the library derives from the
 * time. WF_EIO, WF_EINVAL. */
WF_NODISCARD
enum wf_status wf_otf2_set_id(const char *path, uint64_t id, struct wf_err *err);
