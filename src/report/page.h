/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "result/doc.h"

#include <stdio.h>

/* The page of share/report in four parts. Between the first two goes the report for browsers
 * that run no scripts, then the result document, then what else is known (study/page.h), both
 * as JSON. Each part ends with a NUL. */
extern const unsigned char wf_page_head[];
extern const unsigned char wf_page_before[];
extern const unsigned char wf_page_between[];
extern const unsigned char wf_page_after[];

/* The main results and tables as HTML without scripts (report/html_plain.c). */
void wf_writer_html_plain(const struct wf_value *doc, FILE *out);
