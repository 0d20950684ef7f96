/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a report shows beside the result document. */

#include "base/result/doc.h"

/* A document for struct wf_write_options.extra, which the caller frees: the `picture` of the
 * topology (ui/study/picture.h) and the `defaults` of the parameters. */
struct wf_value *wf_study_page(const struct wf_value *doc);

/* Whether a page can run the simulator in the browser of its reader. */
enum wf_study_live { WF_STUDY_LIVE_AUTO, WF_STUDY_LIVE_ALWAYS, WF_STUDY_LIVE_NEVER };

/* The largest trace that pages get unless they are asked to be live, in bytes. */
enum { WF_STUDY_LIVE_TRACE_MAX = 2000000 };

/* Adds the section `live` to the extra document of a page, with the files that the scenario
 * reads: if the mode is always, or if it is auto, the program is a generator or a small trace,
 * and this build has the simulator. Fails, with the reason, only if the mode is always. */
enum wf_status wf_study_page_live(const struct wf_value *doc, enum wf_study_live mode,
                                  struct wf_value *extra, struct wf_err *err);

/* The documents of a page without a run, in which the reader chooses program and machine: the document
 * itself, and the extra one with the machines of the library. The caller frees both. WF_EUSAGE if this
 * build has no simulator for pages. */
enum wf_status wf_study_page_try(struct wf_value **doc, struct wf_value **extra,
                                 struct wf_err *err);
