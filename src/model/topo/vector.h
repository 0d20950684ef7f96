/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/status.h"

#include <stdint.h>

/* Reads decimal numbers below 2^32 separated by one 'x', ',' or '/' each ("4x4x8", "1,0,1")
 * into values[max] and sets *n >= 1. Messages begin with `what` ("torus: size"). */
enum wf_status wf_topo_vector_parse(const char *what, const char *text, uint32_t *values,
                                    uint32_t max, uint32_t *n, struct wf_err *err);

/* Multiplies *product by the factor. Fails with WF_EINVAL if the factor is 0 or if the product
 * is above `limit`; the message says that `what` is too large. */
enum wf_status wf_topo_vector_multiply(const char *what, uint64_t *product, uint64_t factor,
                                       uint64_t limit, struct wf_err *err);
