/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/result/doc.h"

#include <stdint.h>
#include <stdio.h>

/* The page of share/report in five parts. Between them go the report for browsers that run no
 * scripts, the result document and what else is known (ui/study/page.h), both as JSON, and the
 * simulator. Each part ends with a NUL. */
extern const unsigned char wf_page_part_head[];
extern const unsigned char wf_page_part_before[];
extern const unsigned char wf_page_part_between[];
extern const unsigned char wf_page_part_simulator[];
extern const unsigned char wf_page_part_after[];

/* The simulator as a WebAssembly module (src/ui/wasm), packed with gzip, and its size in bytes, which
 * is 0 in a build without it. */
extern const unsigned char wf_page_simulator[];
extern const uint64_t wf_page_simulator_size;

/* The main results and tables as HTML without scripts (ui/report/html_plain.c). */
void wf_writer_html_plain(const struct wf_value *doc, FILE *out);
