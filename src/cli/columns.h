/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_CLI_COLUMNS_H
#define WF_CLI_COLUMNS_H

#include <stdio.h>

/* Prints the text in 80 columns, broken between words. */
void wf_columns_text(FILE *out, const char *text);

/* Prints "  term    text" in 80 columns, the text broken between words and aligned. */
void wf_columns_row(FILE *out, const char *term, const char *text);

#endif
