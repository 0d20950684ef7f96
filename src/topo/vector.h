/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WF_TOPO_VECTOR_H
#define WF_TOPO_VECTOR_H

#include "base/status.h"

#include <stdint.h>

/* Reads decimal numbers below 2^32 separated by one 'x', ',' or '/' each ("4x4x8", "1,0,1")
 * into values[max] and sets *n >= 1. `what` is put before messages ("torus: size"). */
WF_NODISCARD
enum wf_status wf_topo_vector_parse(const char *what, const char *text, uint32_t *values,
                                    uint32_t max, uint32_t *n, struct wf_err *err);

/* *product *= factor, unless that passes `limit`: then WF_EINVAL says that `what` is too large.
 * Factors of 0 are refused as well. */
WF_NODISCARD
enum wf_status wf_topo_vector_multiply(const char *what, uint64_t *product, uint64_t factor,
                                       uint64_t limit, struct wf_err *err);

#endif
