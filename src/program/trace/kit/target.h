/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * An output file or directory that appears at its path when it is complete. Until then it has a
 * temporary name beside the path. What exists and is neither a file nor a directory, such as
 * /dev/null, is written directly.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

struct wf_target;

/* Fails with WF_EIO if the path exists and `force` is not set, or if nothing can be written
 * there. A directory replaces only a directory that is a trace: one that has an `index.weft`, a
 * `traces.otf2` or an `index.ti` in it. */
enum wf_status wf_target_open(const char *path, bool directory, bool force,
                              struct wf_target **out, struct wf_err *err);

/* Opens the file, or a file of this name in the directory, for writing; null with errno set if
 * that fails. The caller closes it before wf_target_commit(). */
FILE *wf_target_create(struct wf_target *target, const char *name);

/* Opens a target that is one file, and that file. On failure nothing is open. */
enum wf_status wf_target_open_file(const char *path, bool force, struct wf_target **out,
                                   FILE **file, struct wf_err *err);

/* The temporary path. */
const char *wf_target_place(const struct wf_target *target);

/* Sets WF_EIO for a failed write, with the text of errno. */
enum wf_status wf_target_cannot_write(const struct wf_target *target, struct wf_err *err);

/* Both release `target`. wf_target_commit() moves what was written to the path. */
enum wf_status wf_target_commit(struct wf_target *target, struct wf_err *err);
void wf_target_discard(struct wf_target *target); /* null is allowed */
