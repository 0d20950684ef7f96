/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topo/vector.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Reads the decimal number at *p and moves *p past it. */
static bool read_number(const char **p, uint32_t *out)
{
    const char *start = *p;
    uint64_t value = 0;

    for (; **p >= '0' && **p <= '9' && value <= UINT32_MAX; (*p)++) {
        value = value * 10 + (uint64_t)(**p - '0');
    }
    *out = (uint32_t)value;
    return *p != start && value <= UINT32_MAX;
}

enum wf_status wf_topo_vector_parse(const char *what, const char *text, uint32_t *values,
                                    uint32_t max, uint32_t *n, struct wf_err *err)
{
    uint32_t count = 0;

    /* Each iteration reads one number; the increment skips the separator after it. */
    for (const char *p = text;; p++) {
        if (count == max) {
            return wf_err_set(err, WF_EINVAL, "%s: more than %" PRIu32 " numbers in '%.64s'",
                              what, max, text);
        }
        if (!read_number(&p, &values[count++])) {
            return wf_err_set(err, WF_EINVAL,
                              "%s: expected a number below 2^32 at character %td of '%.64s'",
                              what, p - text + 1, text);
        }
        if (*p == '\0') {
            *n = count;
            return WF_OK;
        }
        if (strchr("x,/", *p) == NULL) {
            return wf_err_set(err, WF_EINVAL,
                              "%s: expected 'x' between numbers at character %td of '%.64s'",
                              what, p - text + 1, text);
        }
    }
}

enum wf_status wf_topo_vector_multiply(const char *what, uint64_t *product, uint64_t factor,
                                       uint64_t limit, struct wf_err *err)
{
    if (factor == 0) {
        return wf_err_set(err, WF_EINVAL, "%s: a size of 0", what);
    }
    if (*product > limit / factor) {
        return wf_err_set(err, WF_EINVAL, "%s: too large, more than %" PRIu64, what, limit);
    }
    *product *= factor;
    return WF_OK;
}
