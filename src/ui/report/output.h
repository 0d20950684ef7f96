/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * An output file that is either complete or absent: it is written under a temporary name in the
 * same directory and renamed at the end. An existing path that is not a regular file (a pipe,
 * /dev/null) is written directly.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

struct wf_output;

/* Checks before a long run whether `path` can be written. WF_EIO if not, or if it exists and
 * `force` is not set. Creates no file. */
enum wf_status wf_output_check(const char *path, bool force, struct wf_err *err);

/* Opens the file. Fails like wf_output_check(). */
enum wf_status wf_output_open(const char *path, bool force, struct wf_output **out,
                              struct wf_err *err);

FILE *wf_output_stream(struct wf_output *output);

/* Renames the file to its final name. Releases `output` in any case. */
enum wf_status wf_output_commit(struct wf_output *output, struct wf_err *err);

/* Removes the temporary file and releases `output`; null is allowed. */
void wf_output_discard(struct wf_output *output);
