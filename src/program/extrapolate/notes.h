/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "program/extrapolate/model.h"

#include <stdio.h>

/* Prints what a user should know about a model: what it cannot know, and what of the traces it
 * changed. A line each. */
void wf_ext_notes(const struct wf_ext_model *model, FILE *out);
