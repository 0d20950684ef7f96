/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Checks the types of a document against a JSON schema. Everything that reads a document from a
 * file relies on this check: where the schema has a list of objects, there is one.
 *
 * The check covers types, constants, references, members, items, and alternatives. It does not
 * require members, because readers have a default for each, and it accepts unknown members,
 * because later versions add some. Patterns and limits of numbers are not checked.
 */

#include "base/result/doc.h"

/* The text of share/schema/weft-result-1.json, which is part of the program. */
extern const char *const wf_result_schema_text;

/* `schema` is the schema as a document, `name` the file, for messages. A text of 16 to 20 digits
 * that was read as a count becomes a text again where the schema has one. A value of another
 * type than the schema has is WF_EINVAL, and the message has its path. Takes time proportional
 * to the document. */
enum wf_status wf_doc_check_schema(const struct wf_value *schema, struct wf_value *doc,
                                   const char *name, struct wf_err *err);
