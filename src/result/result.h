/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RESULT_RESULT_H
#define WF_RESULT_RESULT_H

/*
 * The result document, as share/schema/weft-result-1.json describes it:
 *
 *   schema    the name of that description
 *   version   of weft
 *   scenario  what was asked: every setting that can change the answer
 *   result    the answer, a function of version and scenario and of nothing else
 *   run       facts about the host and the schedule
 *   error     instead of the last three, if there is no answer
 */

#include "base/status.h"
#include "result/doc.h"

#define WF_RESULT_SCHEMA "weft-result-1"

/* The values of result.status. */
#define WF_RESULT_COMPLETED   "completed"
#define WF_RESULT_INTERRUPTED "interrupted"
#define WF_RESULT_DEADLOCK    "deadlock"
#define WF_RESULT_FAILED      "failed"

/* A document with `schema` and `version` only. */
struct wf_value *wf_result_new(const char *version);

/* A document that reports a failure. */
struct wf_value *wf_result_new_error(const char *version, const struct wf_err *err);

#endif
