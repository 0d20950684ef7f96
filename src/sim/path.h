/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_SIM_PATH_H
#define WF_SIM_PATH_H

struct wf_engine;
struct wf_job;
struct wf_value;

/* Adds the section `critical_path` of a replay that was recorded and came to its end
 * (docs/reference/result-document.md). */
void wf_document_path(struct wf_value *root, const struct wf_job *job,
                      const struct wf_engine *engine);

#endif
