/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/status.h"

/*
 * Every file that weft takes from a user is opened here or, if it is a trace, in
 * program/trace/kit/infile.h. A path may name anything: a device without an end, a pipe that nobody
 * writes to, a directory.
 */

/* Reads a whole file and appends it to `out`, with a NUL after it that `size` does not count.
 * WF_EIO if the file cannot be read or is a device, WF_EINVAL if it has more than `max_bytes`:
 * a huge file never exhausts the memory. A pipe or terminal is read until its writers close it;
 * a pipe without a writer is an error after a second and not an endless wait. The caller
 * releases `out`, also after an error. */
enum wf_status wf_file_read(const char *path, size_t max_bytes, struct wf_buf *out,
                            struct wf_err *err);

/* Reads up to `n` bytes from the beginning of a regular file. Returns how many there are; 0 for
 * everything that is no regular file or cannot be read. */
size_t wf_file_head(const char *path, void *bytes, size_t n);
