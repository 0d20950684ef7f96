/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Prints the text in 80 columns, wrapped between words. The cursor is at column `indent`;
 * further lines begin at the same column. */
void wf_columns_text(FILE *out, size_t indent, const char *text);

/* Prints "  term    text" in 80 columns, with the text wrapped between words and aligned. */
void wf_columns_row(FILE *out, const char *term, const char *text);
