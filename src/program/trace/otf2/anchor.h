/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The anchor file of an OTF2 archive, which names it and says how the other files are written.
 * Archives that are compressed or have several locations in a file are refused.
 */

#include "program/trace/otf2/defs.h"

#include <stddef.h>

#define WF_OTF2_MAGIC "OTF2" /* after two bytes */

/* What the anchor file says of the others. */
struct wf_otf2_layout {
    unsigned version;  /* of the format */
    bool is_supported; /* a file for each location, not compressed */
    uint64_t event_chunk, definition_chunk;
    uint64_t n_definitions; /* of all ranks */
};

/* Whether a file that begins so is an anchor file. */
bool wf_otf2_is_anchor(const unsigned char *bytes, size_t n);

/* Reads and checks it. The first failure is kept in `err`. */
void wf_otf2_anchor_read(const char *path, struct wf_otf2_layout *layout, struct wf_err *err);

/* Reads the definitions of all ranks of the archive with this anchor file, and finds what they
 * mean together (wf_otf2_defs_finish()). Does nothing if `err` holds a failure. */
void wf_otf2_defs_read(const char *anchor, const struct wf_otf2_layout *layout,
                       struct wf_otf2_defs *defs, struct wf_err *err);

/* Gives a whole anchor file this number of its archive, which the library derives from the
 * time. WF_EIO, WF_EINVAL. */
enum wf_status wf_otf2_set_id(const char *path, uint64_t id, struct wf_err *err);
