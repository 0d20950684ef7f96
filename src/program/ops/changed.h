/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A source that plays another one with other compute times and sizes of messages, as rules say:
 *
 *   compute>=1ms:20us    compute ops of 1 ms or more take 20 us
 *   bytes>=64KiB:8KiB    messages and collectives of 64 KiB or more have 8 KiB
 *   bytes=1000:2000      those of 1000 bytes have 2000
 *
 * separated by commas. The rules apply in their order, each to what those before it left: of the
 * rules with one condition the last one that applies counts. Receives get room for every message
 * that fitted before. One-sided operations, collectives of neighbours, and those with a size for
 * each rank are not changed.
 */

#include "program/ops/source.h"

struct wf_change {
    bool of_compute;       /* otherwise of bytes */
    bool at_least;         /* the limit or more; otherwise exactly the limit */
    uint64_t limit, value; /* picoseconds or bytes */
};

enum { WF_CHANGES_MAX = 256 };

struct wf_changes {
    struct wf_change items[WF_CHANGES_MAX];
    uint32_t n;
};

/* Reads rules; anything else is WF_EUSAGE. An empty text has none. */
enum wf_status wf_changes_parse(const char *text, struct wf_changes *out, struct wf_err *err);

/* Makes a source that plays `inner` and owns it. It must not be live. */
struct wf_source *wf_changed_new(struct wf_source *inner, const struct wf_changes *changes);
