/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Parameters that are multiplied by a factor: their values are uncertain by some percent
 * (run/scenario/uncertainty.h).
 */

#include "base/param.h"

#include <stdbool.h>
#include <stdint.h>

/* A factor is a fixed-point number: WF_PARAM_SCALE_ONE is 1. */
#define WF_PARAM_SCALE_ONE (UINT64_C(1) << 32)

/* Whether the parameter called `name` of this row is a quantity: a time, a rate, a size, a real
 * number, a list of these, or one value in a group ("links.global.latency"). A count is a
 * structure, not a quantity. */
bool wf_param_scale_fits(const struct wf_param *row, const char *name);

/* Whether scaling would change the value: it is a number other than 0, and given. */
bool wf_param_scale_matters(const struct wf_param *row, const char *name, const void *params);

/* Multiplies the value by the factor, rounds it to the nearest and keeps it within the bounds of
 * the row. A value above 0 stays above 0; a word such as "unlimited" stays. All items of a list
 * are multiplied. `params` is the struct of the row's table. */
void wf_param_scale(const struct wf_param *row, const char *name, void *params,
                    uint64_t factor);
