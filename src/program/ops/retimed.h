/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A source that plays another one with other compute times. It is the outermost source of a
 * program: the spans that it counts are those of wf_places_init() on the same inner source.
 */

#include "program/ops/source.h"

struct wf_retimed_config {
    /* The time in picoseconds, not negative, of compute op number `span` of a rank, counted
     * from 0. `ps` is the time in the inner source. Depends on nothing but its arguments; any
     * thread may call it. */
    int64_t (*duration)(const void *arg, uint32_t rank, uint32_t span, int64_t ps);
    const void *arg; /* borrowed; used until the source is freed */
};

/* Makes a source that plays `inner`. The inner source is borrowed and must outlive the result,
 * so that several such sources can play it at once if it allows several readers of a rank; or
 * it is owned and freed with the result. It must not be live. */
struct wf_source *wf_retimed_new(struct wf_source *inner, bool owned,
                                 const struct wf_retimed_config *config);
