/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A file that is either there and whole, or not there: written beside its final place and
 * moved there at the end. An existing path that is not a regular file (a pipe, /dev/null) is
 * written directly.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

struct wf_output;

/* Fails with WF_EIO if `path` cannot be written, or exists and `force` is not set: for the time
 * before a long run. Leaves nothing behind. */
WF_NODISCARD
enum wf_status wf_output_check(const char *path, bool force, struct wf_err *err);

/* Fails as above. */
WF_NODISCARD
enum wf_status wf_output_open(const char *path, bool force, struct wf_output **out,
                              struct wf_err *err);

FILE *wf_output_stream(struct wf_output *output);

/* Moves the file to its place and releases `output`, in any case. */
WF_NODISCARD
enum wf_status wf_output_commit(struct wf_output *output, struct wf_err *err);

/* Removes the temporary file and releases `output`; null is allowed. */
void wf_output_discard(struct wf_output *output);
