/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/param.h"

#include <stdio.h>

/* The reference page docs/reference/weft.md: every command, every parameter. */
void wf_reference_print(FILE *out);

/* Writes "0 to 1s; default: 1us" to `buf`; either part may be missing. */
void wf_reference_limits(const struct wf_param *row, char *buf, size_t size);
