/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RESULT_TEXT_FILE_H
#define WF_RESULT_TEXT_FILE_H

#include "base/buf.h"
#include "base/status.h"

/* Appends all of a file; WF_EIO if it cannot be read. The caller releases the buffer in any
 * case. */
WF_NODISCARD
enum wf_status wf_text_file_read(const char *path, struct wf_buf *out, struct wf_err *err);

#endif
