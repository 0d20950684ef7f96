/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Prints the text in 80 columns, broken between words. The first line goes on at column
 * `indent`, where the cursor is; the others begin there. */
void wf_columns_text(FILE *out, size_t indent, const char *text);

/* Prints "  term    text" in 80 columns, the text broken between words and aligned. */
void wf_columns_row(FILE *out, const char *term, const char *text);
