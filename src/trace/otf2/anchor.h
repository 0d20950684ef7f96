/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_OTF2_ANCHOR_H
#define WF_TRACE_OTF2_ANCHOR_H

/* The anchor file of an OTF2 archive, looked at before the library does: that believes the
 * number of properties in it and would go through four thousand millions that are not there. */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WF_OTF2_MAGIC "OTF2" /* behind two bytes */

/* The order of bytes of a file, behind its first byte. */
enum { WF_OTF2_LITTLE = 'B', WF_OTF2_BIG = '#' };

/* How the other files are laid out. */
struct wf_otf2_layout {
    unsigned version; /* of the format */
    bool is_plain;    /* a file for each location, not compressed */
    uint64_t event_chunk, definition_chunk;
};

/* Whether a file that begins so is one. */
bool wf_otf2_is_anchor(const unsigned char *bytes, size_t n);

/* WF_EINVAL if the file is truncated or makes no sense, WF_EIO if it cannot be read. */
WF_NODISCARD
enum wf_status wf_otf2_check_anchor(const char *path, struct wf_otf2_layout *layout,
                                    struct wf_err *err);

/* Gives a whole one this number of its archive, which the library makes of the time. WF_EIO,
 * WF_EINVAL. */
WF_NODISCARD
enum wf_status wf_otf2_set_id(const char *path, uint64_t id, struct wf_err *err);

#endif
