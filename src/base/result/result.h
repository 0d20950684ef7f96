/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The result document, as described by share/schema/weft-result-1.json:
 *
 *   schema    the name of that description
 *   version   the version of weft
 *   scenario  every setting that can change the result
 *   result    the prediction; depends on version and scenario only
 *   run       facts about the host and the schedule
 *   error     replaces the last three if there is no result
 */

#include "base/result/doc.h"
#include "base/status.h"

#define WF_RESULT_SCHEMA "weft-result-1"

/* The values of result.status. */
#define WF_RESULT_COMPLETED   "completed"
#define WF_RESULT_STOPPED     "stopped" /* at the time that the user chose (--until) */
#define WF_RESULT_INTERRUPTED "interrupted"
#define WF_RESULT_DEADLOCK    "deadlock"
#define WF_RESULT_FAILED      "failed"

/* A document with `schema` and `version` only: of a run, or of another kind. Each kind has a file
 * in share/schema. */
struct wf_value *wf_result_new(const char *version);
struct wf_value *wf_result_new_as(const char *schema, const char *version);

/* A document that reports a failure. */
struct wf_value *wf_result_new_error(const char *version, const struct wf_err *err,
                                     int exit_code);

/* Whether a document that was read is a result document whose values have the types of the
 * schema. Changes texts that were read as counts back; see wf_doc_check_schema(). If it is not,
 * WF_EINVAL; `name` is the name of the file, for messages. */
enum wf_status wf_result_check(struct wf_value *doc, const char *name, struct wf_err *err);

/* Reads and checks a result document; the caller frees *out. A file that cannot be read is WF_EIO; a file
 * that is not a result document is WF_EINVAL. */
enum wf_status wf_result_read(const char *path, struct wf_value **out, struct wf_err *err);
