/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/status.h"

/* If the text at the beginning of a file is that of a kind that weft knows, as a result, a page, a
 * study, a machine file or a program, and not the `wanted` one ("a trace", "a result of weft"):
 * WF_EINVAL with what it is and which command takes it. WF_OK for everything else. */
enum wf_status wf_file_refuse(const char *path, const char *text, const char *wanted,
                              struct wf_err *err);
