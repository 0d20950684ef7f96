/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Machines from CODES and TraceR: turns their network configuration (sim/codes_text.h; torus,
 * dragonfly, fat tree, express mesh and slim fly) into a machine file (sim/machine.h). What the
 * configuration leaves out has the value that CODES takes then.
 *
 * Nothing is dropped silently: every key that has no counterpart is named, with its place.
 */

#include "base/buf.h"
#include "base/status.h"

struct wf_codes_source {
    const char *label; /* what messages call it */
    const char *name;  /* for the machine */
    const char *text;
    size_t size;
};

/* Texts without a NUL at the end; the caller releases both. */
struct wf_codes_result {
    struct wf_buf machine; /* the machine file */
    struct wf_buf notes;   /* a line for each thing that was left out or changed */
};

/* Appends to the two buffers. Failures are WF_EINVAL and begin with `label:`, and line and
 * column where they have a place; the buffers then hold anything. */
WF_NODISCARD
enum wf_status wf_codes_import(const struct wf_codes_source *source,
                               struct wf_codes_result *out, struct wf_err *err);
