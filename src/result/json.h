/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_RESULT_JSON_H
#define WF_RESULT_JSON_H

#include "result/doc.h"

/* The document as JSON text, indented, without a newline at the end; to be freed. The same
 * document gives the same bytes. Integers above 2^53 become strings, since many readers would
 * lose digits of them; bytes that are not UTF-8 become '?'. */
char *wf_doc_to_json(const struct wf_value *doc);

#endif
