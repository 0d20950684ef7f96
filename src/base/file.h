/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/status.h"

/* Reads a whole file and appends it to `out`, with a NUL after it that `size` does not count.
 * WF_EIO if the file cannot be read, WF_EINVAL if it has more than `max_bytes`: a huge file
 * never exhausts the memory. A pipe is read until its writers close it; a pipe without a
 * writer is an error after a second and not an endless wait. The caller releases `out`, also
 * after an error. */
WF_NODISCARD
enum wf_status wf_file_read(const char *path, size_t max_bytes, struct wf_buf *out,
                            struct wf_err *err);
