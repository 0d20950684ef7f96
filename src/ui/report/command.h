/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The command that repeats a run. share/report/6-page.js writes the same one into pages. */

#include "ui/report/phrase.h"

/* Adds the command with further options, such as "--efficiency" or ""; false if the document does not tell
 * the command. */
bool wf_writer_text_command(const struct wf_value *doc, const char *more,
                            struct wf_phrase *out);
