/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a report needs of a run, and what a user should know about settings that did nothing. */

#include "ui/report/writer.h"

#include <stdio.h>

struct wf_scenario;

/* Enables the efficiency and the load of links if the report shows them and the user did not
 * choose. */
enum wf_status wf_study_report_settings(struct wf_scenario *scenario,
                                        const struct wf_writer_ops *writer, bool is_replay,
                                        struct wf_err *err);

/* Prints notes about a topology that the model does not use, settings that have no effect on
 * tasks, and an empty table of links. `writer` may be null. Settings of machine files are not
 * mentioned: they may be meant for several models. */
void wf_study_notes(const struct wf_scenario *scenario, const struct wf_writer_ops *writer,
                    const struct wf_value *doc, FILE *out);
