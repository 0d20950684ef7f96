/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/result/doc.h"

#include <stddef.h>

/* For a program of its own, before the first document: the JSON library, which ends in a segmentation fault when a
 * table of it finds no memory to grow, allocates as weft does. A host of the library may have other plans. */
void wf_doc_json_allocate(void);

/* The document as indented JSON text without a newline at the end; the caller frees it. Equal
 * documents give equal bytes. Integers above 2^53 become strings, because many readers would
 * lose their last digits. Bytes that are not UTF-8 become '?'. */
char *wf_doc_to_json(const struct wf_value *doc);

/* The same without white space, and without the values for which `skips` returns true. */
char *wf_doc_to_compact_json(const struct wf_value *doc,
                             bool (*skips)(const void *arg, const struct wf_value *value),
                             const void *arg);

/* Reads JSON text that the functions above wrote; the caller frees *out. Text that is not JSON,
 * or not an object, is WF_EINVAL. `name` is the name of the file, for messages. */
enum wf_status wf_doc_from_json(const char *text, size_t size, const char *name,
                                struct wf_value **out, struct wf_err *err);
