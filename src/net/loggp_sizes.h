/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_NET_LOGGP_SIZES_H
#define WF_NET_LOGGP_SIZES_H

/*
 * How long the bytes of a message follow the first one, where that is no straight line: points
 * "bytes:time" in the order of their bytes, with straight lines in between and from a byte,
 * that takes nothing unless there is a point for it, to the first. Behind the last the
 * bandwidth counts. Machines copy differently from one size to the next (buffers, caches,
 * another protocol), and are measured that way.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { WF_LOGGP_SIZES_MAX = 64 };

struct wf_loggp_sizes {
    struct {
        uint64_t bytes;
        int64_t ps;
    } points[WF_LOGGP_SIZES_MAX];
    size_t n; /* 0: a straight line after all */
};

/* Reads "4096:1.2us,65536:9us"; null and "" are no points. */
WF_NODISCARD
enum wf_status wf_loggp_sizes_parse(const char *text, struct wf_loggp_sizes *out,
                                    struct wf_err *err);

/* The time from the first byte of a message to its last; `bandwidth` in bytes per second. */
int64_t wf_loggp_sizes_ps(const struct wf_loggp_sizes *sizes, uint64_t bytes,
                          uint64_t bandwidth);

#endif
