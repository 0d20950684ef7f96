/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RESULT_RESULT_FILE_H
#define WF_RESULT_RESULT_FILE_H

/* Result documents in files. */

#include "result/doc.h"

/* Reads one; the caller frees *out. A file that cannot be read is WF_EIO, one that is not a
 * result document WF_EINVAL. */
WF_NODISCARD
enum wf_status wf_result_read(const char *path, struct wf_value **out, struct wf_err *err);

#endif
