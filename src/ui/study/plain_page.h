/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>

/* A page without scripts: what a verb prints, with a heading, tables and pictures. The body comes
 * between the two calls. */
void wf_study_plain_begin(const char *verb, const char *title, FILE *out);
void wf_study_plain_end(FILE *out);
