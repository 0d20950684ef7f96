/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "program/extrapolate/model.h"

#include <stdio.h>

/* Prints the grid, the communicators, and the program with its rules and how good they are. */
void wf_ext_explain(const struct wf_ext_model *model, const struct wf_ext_grid *target,
                    FILE *out);
