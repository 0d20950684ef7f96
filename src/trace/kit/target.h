/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TRACE_KIT_TARGET_H
#define WF_TRACE_KIT_TARGET_H

/*
 * A file or directory that appears in its place when it is whole. It is written under another
 * name beside it; what exists and is neither a file nor a directory (/dev/null) is written
 * directly.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>

struct wf_target;

/* Fails with WF_EIO if there is something already and `force` is not set, or if nothing can be
 * written there. A directory replaces nothing but a directory that is a trace: with an
 * `index.weft` or a `traces.otf2` in it. */
WF_NODISCARD
enum wf_status wf_target_open(const char *path, bool directory, bool force,
                              struct wf_target **out, struct wf_err *err);

/* Opens the file itself, or one of this name in the directory, to be written; null with errno
 * set if that fails. The caller closes it before the end. */
FILE *wf_target_create(struct wf_target *target, const char *name);

/* Both for what is one file: nothing is open if one of them fails. */
WF_NODISCARD
enum wf_status wf_target_open_file(const char *path, bool force, struct wf_target **out,
                                   FILE **file, struct wf_err *err);

/* The path where it is written until then. */
const char *wf_target_place(const struct wf_target *target);

/* For a failure to write: words it with errno. */
enum wf_status wf_target_cannot_write(const struct wf_target *target, struct wf_err *err);

/* Both release `target`. The first moves what was written to its place. */
WF_NODISCARD
enum wf_status wf_target_commit(struct wf_target *target, struct wf_err *err);
void wf_target_discard(struct wf_target *target); /* null is allowed */

#endif
