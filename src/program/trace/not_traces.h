/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/status.h"

/* If the file is of a kind that weft knows for something else than a trace, as a result, a page, a
 * study, a machine file or a program: WF_EINVAL with what it is and which command takes it. WF_OK
 * for every other file. Looks at the first bytes. */
enum wf_status wf_trace_refuse(const char *path, struct wf_err *err);
